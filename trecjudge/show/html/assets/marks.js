// What whoever reads says of a verdict: right, wrong with the right label, a comment. It is held by
// this browser for the job, and taken along as labels.

let said = { labeller: "", marks: {} };
let saidIsHeld = true;
const WORDS_OF_MARKS = { right: "right", wrong: "wrong", label: "unjudged, labelled", comment: "only commented" };

const marksName = () => `trecjudge-marks-${head.digest}`;

/** The place of a judgment in its job: the digest of the job holds it there. */
const markId = (run, topic, at) => JSON.stringify([run, topic, at]);

/** What a mark says of the verdict; empty where nothing is said. */
function sayingOf(mark) {
  if (mark?.label) return mark.judged === undefined ? "label" : mark.label === mark.judged ? "right" : "wrong";
  return mark?.mark || (mark?.comment?.trim() ? "comment" : "");
}

/** The labels that people may give a judgment, with their words; none where no judge takes them. */
function labelsFor({ judge, claim, exists, nugget, ...judgment }) {
  if (claim || exists === false) return [];
  const ofNugget = !nugget ? 0 : nugget.weight === undefined ? 1 : 2;
  return head.labels[`${ofNugget}${keyOf(judgment) === undefined ? 0 : 1}${judge}`] || [];
}

/** What a label of a judgment is written with. */
function labelKeyOf(run, topic, { sentence_index, doc_id, citation, nugget, claim }) {
  const name = nugget && (nugget.answer_id || nugget.answer || nugget.text || nugget.nugget_id);
  const key = { topic_id: topic, run_id: run, sentence_index, doc_id, nugget: name };
  if (doc_id === undefined) key.citation = citation;
  return { ...key, claim: claim?.text };
}

/** Take what is said of a judgment, hold it, and show that. */
function say(id, mark) {
  if (sayingOf(mark)) said.marks[id] = mark;
  else delete said.marks[id];
  saidIsHeld = holdAs(marksName(), said);
  countMarks();
}

/** The part of the evidence in which whoever reads says something of the verdict. */
function marksPart({ entry, topic, list }, judgment, i) {
  const id = markId(entry.run, topic.id, i);
  const labels = labelsFor(judgment);
  const others = labels.filter(([label]) => label !== judgment.label);
  const known = others.length < labels.length;
  const now = () => said.marks[id] || {};
  const row = h("div", { class: "marks-row", role: "group", "aria-label": "Is the verdict right?" });
  const set = (changes) => {
    const base = { key: labelKeyOf(entry.run, topic.id, judgment), judge: judgment.judge, judged: judgment.label };
    say(id, { ...base, ...now(), ...changes });
    showMarks(list, entry.run, topic.id);
    draw();
  };
  const toggle = (is, changes) => set(is ? { label: "", mark: "" } : { label: "", mark: "", ...changes });
  const button = (name, text, pressed, click) =>
    h("button", { type: "button", "data-say": name, "aria-pressed": String(pressed), click }, text);
  const wrong = (is) => {
    toggle(is, others.length === 1 && known ? { label: others[0][0] } : { mark: "wrong" });
    if (!is) row.querySelector('[data-say^="label "]')?.focus();
  };
  const draw = () => {
    const saying = sayingOf(now());
    const is = { right: saying === "right", wrong: saying === "wrong" };
    const focused = row.contains(document.activeElement) && document.activeElement.dataset.say;
    const judged = judgment.tone !== UNJUDGED;
    fresh(
      row,
      judged && [
        button("right", "Right", is.right, () => toggle(is.right, known ? { label: judgment.label } : { mark: "right" })),
        button("wrong", "Wrong", is.wrong, () => wrong(is.wrong)),
      ],
      (is.wrong || !judged) &&
        others.map(([label, word]) => {
          const own = now().label === label;
          return button(`label ${label}`, word, own, () => toggle(own, { label }));
        }),
      button("comment", "Comment", !box.hidden, () => {
        box.hidden = !box.hidden;
        draw();
        if (!box.hidden) box.focus();
      }),
    );
    rove(part, ".marks-row");
    if (focused) [...row.children].find(({ dataset }) => dataset.say === focused)?.focus();
  };
  const box = h("textarea", { "aria-label": "Comment on the verdict", dir: "auto", hidden: !now().comment });
  box.value = now().comment || "";
  box.addEventListener("input", () => set({ comment: box.value }));
  const part = h("div", { class: "marks" }, row, box);
  draw();
  return part;
}

/** Let the links to judgments of a response show what was said of these. */
function showMarks(list, run, topic) {
  for (const link of list.querySelectorAll("[data-judgment]")) {
    const saying = sayingOf(said.marks[markId(run, topic, Number(link.dataset.judgment))]);
    if (saying) link.dataset.mark = saying;
    else delete link.dataset.mark;
  }
}

/** What was said of a judgment, in a row of a list. */
function markShown(row) {
  const mark = said.marks[markId(row.run, row.topic, row.at)];
  const saying = sayingOf(mark);
  const text = saying === "right" ? "you agree" : mark?.label ? `you: ${mark.label}` : saying && `you: ${saying}`;
  return text && h("small", { class: "marked muted" }, text);
}

function disagrees(row) {
  return sayingOf(said.marks[markId(row.run, row.topic, row.at)]) === "wrong";
}

/** Do what a key stands for to the verdict whose evidence is shown. */
function sayByKey(name) {
  responseInView()?.panel.querySelector(`[data-say="${name}"]`)?.click();
}

/** How many marks there are, at the head of the page, with the way to take them along. */
function countMarks() {
  const count = Object.keys(said.marks).length;
  let button = byId("marks");
  if (!button && count) {
    button = h("button", { type: "button", id: "marks", click: openMarks });
    document.querySelector(".switches").prepend(button);
  }
  if (button) button.hidden = !count;
  if (count) button.textContent = `${counted(count, "mark")}: export`;
}

function markRows() {
  return Object.values(said.marks).map(({ key, label, mark, ...more }) => {
    const skipped = label ? "" : mark ? `${mark}, without a label` : "only a comment";
    return labelRow(key, said.labeller.trim(), { label, mark, ...more, sampled: "report", skipped });
  });
}

function openMarks() {
  const told = h("p", { role: "status" });
  const name = h("input", { autocomplete: "off", value: said.labeller });
  name.addEventListener("input", () => {
    said.labeller = name.value;
    saidIsHeld = holdAs(marksName(), said);
  });
  const take = (ending) => () => {
    if (said.labeller.trim()) return saveLabels(markRows(), said.labeller.trim(), ending);
    told.textContent = "Give your name first: it stands beside each label.";
    return name.focus();
  };
  const button = (text, click) => h("button", { type: "button", click }, text);
  const counts = Object.entries(WORDS_OF_MARKS).map(([saying, words]) => {
    const count = Object.values(said.marks).filter((mark) => sayingOf(mark) === saying).length;
    return count && `${count} ${words}`;
  });
  const held = saidIsHeld ? "This browser holds them for this job." : "This browser holds nothing: export before you leave.";
  const dialog = h(
    "dialog",
    { id: "marks-box", "aria-labelledby": "marks-title", close: () => dialog.remove() },
    h("h2", { id: "marks-title" }, "Your marks"),
    h("p", null, `${counts.filter(Boolean).join(", ")}. ${held}`),
    h("p", null, h("a", { href: "#/failures?label=all&disagree=yes", click: () => dialog.close() }, "Where you disagree with the judge")),
    h("p", null, h("label", null, "Your name ", name)),
    told,
    h("p", { class: "marks-row" }, button("Labels (JSONL)", take("jsonl")), button("CSV", take("csv")), button("Close", () => dialog.close())),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function enhanceMarks() {
  const read = () => (said = { ...said, ...heldAs(marksName()) });
  read();
  countMarks();
  addEventListener("storage", (event) => {
    if (event.key !== marksName()) return;
    read(); // another window of the report
    countMarks();
  });
  addEventListener("beforeunload", (event) => saidIsHeld || event.preventDefault());
}
