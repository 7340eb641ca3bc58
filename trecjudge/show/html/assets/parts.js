// Parts that several views are made of: numbers, signs, tables, filters.

function number(value) {
  if (typeof value !== "number")
    return value === "?" ? "unjudged" : value === "" ? "no response" : "n/a";
  return Math.abs(value) < 10 ? value.toFixed(3) : value.toFixed(1);
}

/** Whether unjudged items could move a mean. */
function isOpen(mean) {
  return mean.lowest !== mean.highest;
}

/** A mean's value; unjudged is not the same as not defined. */
function valueOf(mean) {
  return mean.unjudged ? "?" : mean.value;
}

/** A measure's name, and whether less of it is better. */
function measureLabel(measure) {
  return measure.lower_is_better ? `${measure.name} (lower is better)` : measure.name;
}

/** A mean with the bounds that unjudged items leave it. */
function meanShown(mean, format = number) {
  const bounds = isOpen(mean) && `${format(mean.lowest)} to ${format(mean.highest)}`;
  return [format(valueOf(mean)), bounds && h("small", { class: "bounds muted" }, bounds)];
}

function sign(tone) {
  return h("span", { class: `sign ${tone}`, "aria-hidden": "true" }, head.signs[tone]);
}

/** A label as sign and word. */
function badge(tone, word) {
  return h(
    "span",
    { class: `badge ${tone}` },
    sign(tone),
    " ",
    (word && cut(word)) || head.meanings[tone],
  );
}

/** A mark beside the sign of what has several judgments: one of them is unjudged. */
function openMark() {
  const title = "something of it is unjudged";
  return h("span", { class: "sign unjudged", title, "aria-hidden": "true" }, head.signs.unjudged);
}

function legend(tones) {
  return h(
    "ul",
    { class: "legend", "aria-label": "Signs" },
    tones.map(([tone, count, word]) =>
      h("li", null, badge(tone, word), count === undefined ? null : ` ${count}`),
    ),
  );
}

/** A box to filter by, whose text is kept in the address under the name `memory`. */
function filterBox(label, changed, memory) {
  return h(
    "label",
    { class: "tool" },
    label,
    " ",
    h("input", {
      type: "search",
      value: remembered(memory),
      input: (event) => {
        remember(memory, event.target.value.trim());
        changed(event.target.value.trim().toLowerCase());
      },
    }),
  );
}

function chooser(label, names, chosen, changed) {
  const options = names.map((name, i) =>
    h("option", { value: i, selected: i === chosen }, cut(name)),
  );
  return h(
    "label",
    { class: "tool" },
    label,
    " ",
    h("select", { change: (event) => changed(Number(event.target.value)) }, options),
  );
}

function measureChooser(chosen, changed) {
  const list = chooser("Measure", head.measures.map(measureLabel), chosen, changed);
  return h("span", { class: "tool" }, list, " ", aboutChosen(list));
}

function runLink(runId, shown = named) {
  return h("a", { href: address("run", runId) }, shown(runId));
}

function responseLink(runId, topicId, ...shown) {
  return h("a", { href: address("response", runId, topicId) }, shown);
}

/**
 * A list that leads elsewhere goes there when it is asked to: arrow keys only choose, Enter or
 * leaving the list goes on, and so does the pointer.
 */
function leadOn(select, go) {
  let byKey = false;
  const leave = () => go(Number(select.value));
  select.addEventListener("pointerdown", () => (byKey = false));
  select.addEventListener("keydown", (event) => {
    byKey = true;
    if (event.key !== "Enter") return;
    event.preventDefault();
    leave();
  });
  select.addEventListener("change", () => byKey || leave());
  select.addEventListener("blur", () => document.hasFocus() && leave());
}

/** Links to what comes before and after, with a list to choose from. */
function stepper(label, ids, names, current, where) {
  const at = ids.indexOf(current);
  const step = (to, text, label) =>
    ids[to] === undefined
      ? h("span", { class: "step muted", "aria-hidden": "true" }, text)
      : h("a", { class: "step", href: where(ids[to]), "aria-label": label }, text);
  const list = chooser(label, names, at, () => {});
  leadOn(list.querySelector("select"), (i) => {
    if (i !== at) location.hash = where(ids[i]).slice(1);
  });
  return h(
    "span",
    { class: "stepper" },
    step(at - 1, "‹", `Previous ${label.toLowerCase()}`),
    list,
    step(at + 1, "›", `Next ${label.toLowerCase()}`),
  );
}
