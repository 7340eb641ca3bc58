// Items one at a time: a label, a skip with a reason, a comment and evidence for each. All of it is
// kept in this browser as it is made, and taken along as a file of labels.

const NEAR = 2; // sentences around the one to label that are shown at first
const LONGEST_QUOTE = 2000;
const KEYS = {
  "1, 2, 3 …": "give that label; of grades 0, 1, 2, 3",
  "←": "back",
  "→": "on, without a label",
  s: "skip, with a reason",
  c: "comment",
  "/": "search in the document; Enter goes on to the next place",
  e: "take the selected text as evidence, else the place that was found or is marked",
  Escape: "leave a field",
};

let items = [];
let responses = [];
let state = { labeller: "", at: 0, done: {} };
let panel = null;
let whole = false;
let since = performance.now();
let seen = true;
let kept = true;
let turn = 0;

const place = () => `trecjudge-labels-${head.digest}`;

/** Whether the item in view is the one that is due: a key that comes too early labels none. */
const isShown = () => document.documentElement.dataset.item === String(state.at);

const button = (text, click, more = {}) => h("button", { type: "button", click, ...more }, text);

function tell(text) {
  byId("told").hidden = !text;
  byId("told").textContent = text;
}

function keep() {
  kept = holdAs(place(), state);
  if (!kept) tell("This browser keeps nothing for this file: download your labels before you close it.");
}

/** What is known of an item so far; made when it is first written to. */
function entry() {
  return (state.done[state.at] ||= {});
}

function isDone(at) {
  return Boolean(state.done[at]?.label || state.done[at]?.skipped);
}

/** Add the time since the last look to the item in view, while the page can be seen. */
function clock() {
  const seconds = (performance.now() - since) / 1000;
  since = performance.now();
  if (items[state.at] && seen) entry().seconds = (entry().seconds || 0) + seconds;
  seen = document.visibilityState === "visible";
}

function progress() {
  const done = items.map((_, at) => at).filter(isDone);
  const skipped = done.filter((at) => state.done[at].skipped).length;
  const parts = [`${done.length} of ${counted(items.length, "item")} done`];
  if (skipped) parts.push(`${skipped} skipped`);
  byId("progress").textContent = parts.join(" · ");
}

function go(at) {
  clock();
  state.at = Math.max(0, Math.min(at, items.length));
  whole = false;
  keep();
  return show();
}

/** The next item that is open, from a place on; the end where none is. */
function nextOpen(from) {
  for (let i = 0; i < items.length; i += 1) {
    const at = (from + i) % items.length;
    if (!isDone(at)) return at;
  }
  return items.length;
}

function decide(label) {
  if (!isShown()) return;
  clock();
  const item = items[state.at];
  const one = entry();
  if (item.verdict && one.label && one.label !== label) one.blind ||= one.label;
  one.label = label;
  delete one.skipped;
  if (!item.verdict) return go(nextOpen(state.at + 1));
  keep();
  return show();
}

function skip() {
  const reason = byId("reason").value.trim();
  if (!reason) {
    byId("reason").focus();
    return tell("Say why you skip it, then press Enter.");
  }
  entry().skipped = reason;
  delete entry().label;
  return go(nextOpen(state.at + 1));
}

function takeEvidence() {
  entry().evidence = panel ? panel.passage().slice(0, LONGEST_QUOTE) : "";
  keep();
  fresh(byId("evidence"), evidenceOf(entry()));
}

function evidenceOf(one) {
  return one.evidence ? [h("b", {}, "Your evidence"), h("blockquote", { dir: "auto" }, one.evidence)] : [];
}

/** The sentences of a response around the one to label, or all of them. */
function contextOf(item) {
  if (item.other !== undefined) return battleOf(item);
  const sentences = responses[item.response];
  const near = (i) => whole || item.at === null || Math.abs(i - item.at) <= NEAR;
  const shown = sentences.map((text, i) =>
    !near(i) ? null : i === item.at ? h("strong", {}, prose(text)) : h("span", { class: "around" }, prose(text), " "),
  );
  const more = () => show((whole = true));
  return [
    h("div", { class: "context", tabindex: "0", role: "region", "aria-label": "Answer", dir: "auto" }, shown),
    shown.includes(null) && h("p", {}, button("Show the whole answer", more)),
  ];
}

/** Both answers of a battle; nobody is told whose they are. */
function battleOf(item) {
  const answer = (at, name) =>
    h("div", { class: "context", tabindex: "0", role: "region", "aria-label": name, dir: "auto" },
      h("h2", {}, name),
      at === null ? h("p", { class: "note" }, "No response.") : responses[at].map((text) => h("p", {}, prose(text))));
  return h("div", { class: "sides" }, answer(item.response, "Answer A"), answer(item.other, "Answer B"));
}

function choices(set, one) {
  const buttons = set.labels.map(({ label, word, means, key }) =>
    button(
      [h("kbd", {}, key), " ", stacked(word), means && h("small", {}, means)],
      (event) => event.detail < 2 && decide(label), // the second of two clicks is on the next item
      { "aria-pressed": String(one.label === label) },
    ),
  );
  const meanings = set.labels.map(({ word, means }) => means && [h("dt", {}, word), h("dd", {}, means)]);
  return [
    h("div", { class: "choices", role: "group", "aria-label": set.question }, buttons),
    h("dl", { class: "meanings small" }, meanings), // a phone has them here, not on the buttons
  ];
}

/** What people said of an item on which they differ: how many each label, and nobody's name. */
function votesOf(item) {
  if (!item.votes) return null;
  const words = new Map(head.sets[item.set].labels.map(({ label, word }) => [label, word]));
  const counts = new Map();
  for (const { label } of item.votes) counts.set(label, (counts.get(label) || 0) + 1);
  const said = [...counts].sort().map(([label, n]) => `${n} × ${words.get(label) || label}`);
  return h("p", { class: "note" }, `People differ: ${said.join(", ")}.`);
}

function verdictOf(item, one) {
  if (!item.verdict || !one.label) return null;
  const [word, reason] = item.verdict;
  return h("p", { class: "note", id: "verdict" }, h("b", {}, `The judge: ${word}. `), prose(reason));
}

function itemView(item) {
  const set = head.sets[item.set];
  const one = state.done[state.at] || {};
  const topic = head.topics.find(({ id }) => id === item.topic);
  const ofDocument = item.key.doc_id && item.at === null && !item.about;
  const asked = [topic.title, topic.problem, topic.background].filter(Boolean);
  const comment = h("textarea", { id: "comment", "aria-label": "Comment", dir: "auto" });
  comment.placeholder = "Comment (c)";
  comment.value = one.comment || "";
  comment.addEventListener("input", () => {
    entry().comment = comment.value;
    keep();
  });
  const reason = h("input", { id: "reason", "aria-label": "Why it is skipped", dir: "auto" });
  reason.placeholder = "Why it is skipped (s)";
  reason.value = one.skipped || "";
  reason.addEventListener("keydown", (event) => event.key === "Enter" && isShown() && skip());
  return [
    h("p", { class: "muted small" }, `Item ${state.at + 1} of ${items.length}`),
    asked.length > 0 && [
      h("p", { class: "asked" }, prose(asked[0])),
      asked.length > 1 && h("details", {}, h("summary", {}, "More of the topic"), asked.slice(1).map((text) => h("p", {}, prose(text)))),
    ],
    ofDocument ? h("details", {}, h("summary", {}, "An answer that cites it"), contextOf(item)) : contextOf(item),
    item.about && [h("h2", {}, "To look for in the answer"), h("p", { class: "asked" }, h("b", {}, prose(item.about)))],
    item.key.doc_id && item.document === null && h("p", { class: "note" }, "The text of its document is not in this file."),
    h("h2", { id: "question", tabindex: "-1" }, set.question),
    votesOf(item),
    choices(set, one),
    set.example && h("details", {}, h("summary", {}, "Example"), h("p", {}, set.example)),
    verdictOf(item, one),
    h("div", { id: "evidence" }, evidenceOf(one)),
    comment,
    h("p", { class: "moves" },
      button("← Back", () => go(state.at - 1)),
      button("On →", () => go(state.at + 1)),
      panel && button("Take as evidence (e)", takeEvidence)),
    h("p", { class: "moves" }, reason, button("Skip", skip)),
  ];
}

function endView() {
  const open = items.filter((_, at) => !isDone(at)).length;
  const said = open ? `${counted(open, "item")} still open.` : "All items are done.";
  return [
    h("h2", { id: "question", tabindex: "-1" }, said),
    h("p", {}, "Download your labels and hand in the file."),
    h("p", { class: "moves" },
      button("← Back", () => go(items.length - 1)),
      open > 0 && button("To the open ones", () => go(nextOpen(0)))),
  ];
}

async function show() {
  const mine = (turn += 1);
  const item = items[state.at];
  progress();
  tell(kept ? "" : byId("told").textContent);
  const documents = item && item.document !== null ? await documentsOn(item.topic) : [];
  if (mine !== turn) return; // somebody went on meanwhile
  panel = item && item.document !== null ? documentPanel(documents[item.document], item.looked) : null;
  fresh(byId("item"), item ? itemView(item) : endView());
  fresh(byId("document"), panel ? panel.element : []);
  panel?.shown();
  byId("item").querySelector(".context strong")?.scrollIntoView({ block: "nearest" });
  scrollTo(0, 0);
  byId("question").focus({ preventScroll: true });
  document.documentElement.dataset.item = state.at;
  since = performance.now();
}

/** The line of an item in the file of labels; none where it is open. */
function rowOf(item, at) {
  const one = state.done[at];
  if (!isDone(at)) return null;
  const { label, comment, evidence, skipped, blind: before_verdict } = one;
  const decided = item.votes && label;
  const more = decided && { labels: item.votes, adjudicated_label: label, adjudicated: true };
  return labelRow(item.key, state.labeller, {
    ...(more || { label }),
    ...{ seconds: Math.round(10 * (one.seconds || 0)) / 10, comment, evidence },
    ...{ sampled: item.sampled, skipped, before_verdict },
  });
}

function take(ending) {
  if (!state.labeller.trim()) {
    byId("labeller").focus();
    return tell("Give your name first: it stands beside each label.");
  }
  clock();
  return saveLabels(items.map(rowOf).filter(Boolean), state.labeller.trim(), ending);
}

function tools() {
  const name = h("input", { id: "labeller", autocomplete: "off" });
  name.value = state.labeller;
  name.addEventListener("input", () => {
    state.labeller = name.value;
    keep();
  });
  return [
    h("label", { class: "switch" }, "Your name", name),
    button("Download labels", () => take("jsonl"), { id: "jsonl" }),
    button("CSV", () => take("csv"), { id: "csv" }),
  ];
}

const MOVES = {
  ArrowLeft: () => go(state.at - 1),
  ArrowRight: () => go(state.at + 1),
  s: () => byId("reason")?.focus(),
  c: () => byId("comment")?.focus(),
  e: takeEvidence,
  "/": () => panel?.search.focus(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea")) {
    if (event.key === "Escape") byId("question").focus();
    return;
  }
  const label = items[state.at] && head.sets[items[state.at].set].labels.find(({ key }) => key === event.key);
  const move = label ? () => decide(label.label) : items[state.at] || /^Arrow/.test(event.key) ? MOVES[event.key] : null;
  if (!move) return;
  event.preventDefault();
  move();
}

async function start() {
  try {
    await readHead();
    [items, responses] = [await block("items"), await block("responses")];
  } catch (error) {
    return tell(`This file cannot be read: ${error.message}`);
  }
  state.labeller = head.labeller;
  state = { ...state, ...heldAs(place()) };
  fresh(byId("tools"), tools());
  fresh(byId("key-list"), Object.entries(KEYS).map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]));
  addEventListener("keydown", pressed);
  document.addEventListener("visibilitychange", clock);
  addEventListener("pagehide", () => {
    clock();
    keep();
  });
  // Another window of this file: what is labelled there counts here too.
  addEventListener("storage", (event) => {
    if (event.key === place() && event.newValue) state.done = JSON.parse(event.newValue).done;
    progress();
  });
  addEventListener("beforeunload", (event) => kept || event.preventDefault());
  keep();
  await show();
  document.documentElement.dataset.ready = "yes";
}

start();
