// Shortcuts: one letter each, never while somebody types, never with a modifier.

const SHORTCUTS = {
  j: "next sentence, or next row of a table",
  k: "previous sentence, or previous row",
  "↑ ↓ ← →": "next row of a list or sentence of a response, next link in it",
  n: "next problem of a response, then the next response; elsewhere the next topic or run",
  p: "the same backwards",
  "r w c": "say of the verdict in view: right, wrong, a comment",
  "/": "go to the filter",
  "?": "this list",
  Escape: "close, or go back from the evidence to its sentence",
};
const PLACES = "tbody tr, .column";
const STOPS = "h2 a, a, button";

function isSeen(element) {
  return element.getClientRects().length > 0;
}

function shownSection() {
  return [...document.querySelectorAll(".view")].find((section) => !section.hidden);
}

/** The response in view, if one is. */
function responseInView() {
  return shownView?.list.isConnected ? shownView : null;
}

/** Put the focus into the next row, or a previous one, that leads somewhere. */
function stepRow(way) {
  const rows = [...shownSection().querySelectorAll(PLACES)].filter(
    (row) => isSeen(row) && row.querySelector(STOPS),
  );
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? (way > 0 ? 0 : rows.length - 1) : at + way];
  next?.querySelector(STOPS).focus();
  next?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function stepSentence(way) {
  const view = responseInView();
  if (view) view.step(way);
  else stepRow(way);
}

function stepProblem(way) {
  const view = responseInView();
  if (view?.goOn(way, false)) return;
  const steppers = [...shownSection().querySelectorAll(".stepper")];
  const wanted = way > 0 ? "Next" : "Previous";
  steppers.at(-1)?.querySelector(`a[aria-label^="${wanted}"]`)?.click();
}

function goToFilter() {
  const box = [...shownSection().querySelectorAll('input[type="search"]')].find(isSeen);
  box?.focus();
  box?.select();
}

function showShortcuts() {
  byId("shortcuts").showModal();
}

const ACTIONS = {
  j: () => stepSentence(1),
  k: () => stepSentence(-1),
  n: () => stepProblem(1),
  p: () => stepProblem(-1),
  r: () => sayByKey("right"),
  w: () => sayByKey("wrong"),
  c: () => sayByKey("comment"),
  "/": goToFilter,
  "?": showShortcuts,
};

function pressed(event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (target.matches("input, select, textarea, [contenteditable]")) {
    if (key === "Escape" && target.type === "search" && !target.value) target.blur();
    return;
  }
  if (document.querySelector("dialog[open]") || !Object.hasOwn(ACTIONS, key)) return;
  event.preventDefault();
  ACTIONS[key]();
}

function enhanceKeys() {
  const lines = Object.entries(SHORTCUTS).map(([key, what]) =>
    h("div", null, h("dt", null, h("kbd", null, key)), h("dd", null, what)),
  );
  document.body.append(
    h(
      "dialog",
      { id: "shortcuts", "aria-labelledby": "shortcuts-title" },
      h("h2", { id: "shortcuts-title" }, "Shortcuts"),
      h("dl", null, lines),
      h("button", { type: "button", click: () => byId("shortcuts").close() }, "Close"),
    ),
  );
  document.addEventListener("keydown", pressed);
  const button = byId("keys");
  button.hidden = false;
  button.addEventListener("click", showShortcuts);
}
