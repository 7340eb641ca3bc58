// All runs on one topic side by side; a sentence and document judged differently is marked.

/** Judgments by (judge, sentence, document): the same pair may stand in several runs. */
function pairsOf(entries) {
  const pairs = new Map();
  for (const entry of entries) {
    entry.judgments.forEach((judgment, at) => {
      if (judgment.sentence_index === undefined || !judgment.doc_id || judgment.claim) return;
      if (judgment.nugget) return;
      const key = pairKey(entry, judgment);
      if (!pairs.has(key)) pairs.set(key, []);
      pairs.get(key).push({ run: entry.run, judgment, at });
    });
  }
  return pairs;
}

function pairKey(entry, judgment) {
  const text =
    entry.sentences.find((sentence) => sentence.index === judgment.sentence_index)?.text || "";
  return JSON.stringify([text.trim().replace(/\s+/g, " "), judgment.doc_id, judgment.judge]);
}

/** Pairs that got more than one verdict. */
function conflictsIn(pairs) {
  return [...pairs].filter(([, found]) => isConflict(found));
}

/** The judgments that are on such pairs. */
function conflictingIn(conflicts) {
  return new Set(conflicts.flatMap(([, found]) => found.map((pair) => pair.judgment)));
}

/** A pair in a list: its verdict, and the way to the response that has it. */
function pairLine(pair, topic) {
  return h(
    "li",
    null,
    badge(pair.judgment.tone, pair.judgment.word),
    " ",
    h("a", { href: address("response", pair.run, topic.id, pair.at) }, named(pair.run)),
  );
}

/** Whether verdicts on one pair differ; what is unjudged has none. */
function isConflict(found) {
  const judged = found.filter((pair) => pair.judgment.tone !== "unjudged");
  return new Set(judged.map((pair) => pair.judgment.word)).size > 1;
}

async function topicView(topicId) {
  const topic = head.topics[topicNumbers.get(topicId)];
  if (!topic) return unknown("topic", topicId);
  const entries = await responsesOn(topicId);
  const conflicts = conflictsIn(pairsOf(entries));
  const marks = conflictingIn(conflicts);
  const ids = head.topics.map((each) => each.id);
  const columns = new Map(
    entries.map((entry) => [entry.run, guarded(entry.run, () => column(entry, topic, marks))]),
  );
  const row = h(
    "div",
    { class: "columns", role: "region", "aria-label": "Responses side by side", tabindex: "0" },
    [...columns.values()],
  );
  rove(row, ".column h2, .column li");
  const choice = new ColumnChoice(columns, row, conflicts.length);
  const silent = head.runs.filter((run) => !columns.has(run.id));
  return [
    h("h1", null, "Topic ", named(topicId)),
    h(
      "div",
      { class: "tools" },
      stepper("Topic", ids, ids, topicId, (id) => address("topic", id)),
      filterBox("Filter runs", (wanted) => choice.filter(wanted), "runs"),
      choice.differing,
      nuggetsLink(topicId),
      h(
        "a",
        { href: `#/failures?topic=${encodeURIComponent(topicId)}&label=all` },
        "All judgments on this topic",
      ),
      choice.status,
    ),
    topic.title && h("p", { class: "asked" }, prose(topic.title)),
    h(
      "p",
      { class: "lead" },
      `${counted(entries.length, "response")}, the best run by ${head.ranked_by} first.`,
      silent.length > 0 && [
        " No response: ",
        silent.map((run, i) => [i ? ", " : "", runLink(run.id)]),
        ".",
      ],
    ),
    conflictList(conflicts, topic),
    choice.picker,
    row,
  ];
}

/** Which runs stand side by side, and whether only what was judged differently does. */
class ColumnChoice {
  constructor(columns, row, conflicts) {
    this.columns = columns;
    this.row = row;
    this.wanted = filterIn("runs");
    const given = remembered("side");
    this.chosen = given ? new Set(given.split("\n")) : null;
    this.status = h("span", { class: "muted", role: "status" });
    const change = () => this.choose(this.checked());
    const box = () => h("input", { type: "checkbox", change });
    this.boxes = new Map([...columns.keys()].map((run) => [run, box()]));
    this.only = h("input", {
      type: "checkbox",
      disabled: !conflicts,
      change: () => {
        remember("differ", this.only.checked ? "yes" : "");
        this.show();
      },
    });
    this.only.checked = Boolean(conflicts && remembered("differ"));
    this.show();
  }

  checked() {
    return [...this.boxes].filter(([, box]) => box.checked).map(([run]) => run);
  }

  /** Show these runs; all of them are no choice. */
  choose(runs) {
    this.chosen = runs.length === this.columns.size ? null : new Set(runs);
    remember("side", this.chosen ? [...this.chosen].join("\n") || "\n" : "");
    this.show();
  }

  filter(wanted) {
    this.wanted = wanted;
    this.show();
  }

  show() {
    const only = this.only.checked;
    this.row.classList.toggle("only-differing", only);
    let seen = 0;
    for (const [run, element] of this.columns) {
      const picked = !this.chosen || this.chosen.has(run);
      this.boxes.get(run).checked = picked;
      const kept = picked && run.toLowerCase().includes(this.wanted);
      element.hidden = !kept || (only && !element.querySelector(".flag"));
      seen += !element.hidden;
    }
    this.status.textContent = `${seen} of ${counted(this.columns.size, "run")} shown`;
  }

  get differing() {
    const none = this.only.disabled ? " (nothing here)" : "";
    return h("label", { class: "tool" }, this.only, ` Only where judged differently${none}`);
  }

  /** A list of all runs to choose from, for more than a screen holds. */
  get picker() {
    if (this.columns.size < 3) return null;
    const every = [...this.columns.keys()];
    const few = every.slice(0, 3);
    const button = (text, runs) =>
      h("button", { type: "button", click: () => this.choose(runs) }, text);
    return h(
      "details",
      { class: "picker", open: this.chosen !== null },
      h("summary", null, "Choose runs"),
      h("p", null, button("All", every), " ", button("None", []), " ", button("Best three", few)),
      h(
        "ul",
        null,
        every.map((run) => h("li", null, h("label", null, this.boxes.get(run), " ", named(run)))),
      ),
    );
  }
}

/** A column; where one cannot be made, it shows the error and the others stay. */
function guarded(runId, make) {
  try {
    return make();
  } catch (error) {
    return h(
      "article",
      { class: "column", "aria-label": cut(runId) },
      h("h2", null, named(runId)),
      h("p", { class: "note" }, `This response cannot be shown: ${error.message}`),
    );
  }
}

function conflictList(conflicts, topic) {
  if (!conflicts.length) return null;
  return h(
    "details",
    { class: "differs", open: conflicts.length <= 3 },
    h(
      "summary",
      null,
      `⚠ ${conflicts.length} ${conflicts.length === 1 ? "pair of a sentence and a document is" : "pairs of a sentence and a document are"} judged differently`,
    ),
    h(
      "ul",
      null,
      conflicts.map(([key, found]) =>
        h(
          "li",
          null,
          prose(JSON.parse(key)[0]),
          h(
            "ul",
            { class: "legend" },
            found.map((pair) => pairLine(pair, topic)),
          ),
        ),
      ),
    ),
  );
}

function column(entry, topic, marks) {
  const judge = Object.keys(entry.tones).find((name) => Object.keys(entry.tones[name]).length);
  const tones = entry.tones[judge] || {};
  const links = (sentence) =>
    entry.judgments.flatMap((judgment, i) =>
      judgment.judge === judge && judgment.sentence_index === sentence.index && !judgment.nugget
        ? [
            h(
              "a",
              {
                class: `mini ${judgment.tone}`,
                href: address("response", entry.run, topic.id, i),
                title: `${judgment.word}: ${judgment.claim?.text || keyOf(judgment)}`,
                "aria-label": `${judgment.word}: ${judgment.claim?.text || cut(keyOf(judgment))}${marks.has(judgment) ? ", judged differently elsewhere" : ""}`,
              },
              sign(judgment.tone),
              marks.has(judgment) && h("span", { class: "flag", "aria-hidden": "true" }, "⚠"),
            ),
          ]
        : [],
    );
  return h(
    "article",
    { class: "column", "aria-label": cut(entry.run) },
    h("h2", null, responseLink(entry.run, topic.id, named(entry.run))),
    h(
      "p",
      { class: "muted" },
      `${measureLabel(head.measures[rankedBy()])} ${number(score(rankedBy(), entry.run, topic.id))}`,
    ),
    entry.sentences.length === 0 && h("p", { class: "note" }, "The response has no sentence."),
    h(
      "ol",
      { class: "sentences" },
      entry.sentences.map((sentence) =>
        h(
          "li",
          { class: `sentence ${tones[sentence.index] || "plain"}` },
          h(
            "p",
            null,
            h("small", { class: "muted" }, `${sentence.index + 1} `),
            prose(sentence.text),
            " ",
            h("span", { class: "minis" }, links(sentence)),
          ),
        ),
      ),
    ),
  );
}
