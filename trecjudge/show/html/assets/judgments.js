// Every judgment in a list, what failed first: filtered by what it is on and how it came out, and
// taken away as a file.

const EVERY = "";
const UNJUDGED = "unjudged";
/** What the list shows of labels where none is chosen, and all of them. */
const FAILED = "failed";
const ALL = "all";
/** Tones in the order of the list. */
const WORST_FIRST = ["bad", "against", "missing", "part", "unjudged", "plain", "good"];
const FILTERS = ["run", "topic", "judge", "label"];
const slimRows = new Map();

/** What became of a judgment in words: unjudged with its kind, no document, or its label. */
function outcomeOf(judgment) {
  if (judgment.tone === UNJUDGED) return `${UNJUDGED}: ${judgment.failure.kind}`;
  return judgment.word || "no label";
}

function isOutcome(row, wanted) {
  if (wanted === ALL) return true;
  if (wanted === FAILED) return wantsALook(row);
  return row.outcome === wanted || (wanted === UNJUDGED && row.tone === UNJUDGED);
}

/** What is shown of a judgment and looked through; its evidence stays packed. */
function slimRow(entry, topic, sentences, differing, judgment, at) {
  const { claim, nugget, sentence_index: sentence } = judgment;
  return {
    run: head.runs[runNumbers.get(entry.run)].id,
    topic: topic.id,
    at,
    judge: judgment.judge,
    sentence,
    nugget: Boolean(nugget),
    on: keyOf(judgment),
    tone: judgment.tone,
    label: judgment.label,
    word: wordOf(judgment),
    outcome: outcomeOf(judgment),
    differs: differing.has(judgment),
    text: claim?.text || nugget?.text || sentences.get(sentence) || "",
    why: judgment.failure?.message || judgment.reason || "",
  };
}

/** The entries on a topic with whole nuggets, unpacked and not kept: only their rows stay. */
async function passingOn(topic) {
  const number = topicNumbers.get(topic.id);
  const entries = await read(`topic-${number}`);
  const nuggets = await read(`nuggets-${number}`);
  for (const { judgments } of entries)
    for (const judgment of judgments)
      if (typeof judgment.nugget === "number") judgment.nugget = nuggets[judgment.nugget];
  return entries;
}

async function rowsOn(topic) {
  if (!slimRows.has(topic.id)) {
    const entries = await passingOn(topic);
    const differing = conflictingIn(conflictsIn(pairsOf(entries)));
    const rows = entries.flatMap((entry) => {
      const sentences = new Map(entry.sentences.map(({ index, text }) => [index, text]));
      return entry.judgments.map((judgment, at) =>
        slimRow(entry, topic, sentences, differing, judgment, at),
      );
    });
    slimRows.set(topic.id, rows);
  }
  return slimRows.get(topic.id);
}

/** Whether a row passes all filters but the one by label. */
function isKept(row, wanted) {
  const { run, judge, differ, disagree, text } = wanted;
  if (run && row.run !== run) return false;
  if (judge && row.judge !== judge) return false;
  if (differ && !row.differs) return false;
  if (disagree && !disagrees(row)) return false;
  if (!text) return true;
  const found = (part) => part && String(part).toLowerCase().includes(text);
  return [row.text, row.why, row.on, row.label, row.run, row.topic].some(found);
}

class JudgmentList {
  constructor() {
    this.status = h("span", { class: "muted", role: "status" });
    this.place = h("div", { click: (event) => this.follow(event) });
    this.labels = h("ul", { class: "legend labels", "aria-label": "Labels" });
    this.kept = [];
    this.wanted = Object.fromEntries(FILTERS.map((name) => [name, remembered(name)]));
    this.wanted.text = filterIn("text");
    // To read all judgments of a large job takes a minute: only who asks for them waits for that.
    if (head.large && !this.wanted.topic && !remembered("every"))
      this.wanted.topic = head.topics[0].id;
    this.wanted.label ||= FAILED;
    for (const name of ["differ", "disagree"]) this.wanted[name] = remembered(name);
    this.takes = takeAlong("judgments", async () => judgmentCells(await this.whole()), {
      JSONL: () => this.saveLines(),
    });
  }

  /** A list of names; the first choice is all of them. */
  picker(label, name, names) {
    const known = [["all", EVERY], ...names.map((each) => [cut(each), each])];
    if (this.wanted[name] && !names.includes(this.wanted[name])) this.wanted[name] = EVERY;
    const options = known.map(([shown, value]) =>
      h("option", { value, selected: value === this.wanted[name] }, shown),
    );
    const choose = (event) => this.set(name, known[event.target.selectedIndex][1]);
    return h("label", { class: "tool" }, label, " ", h("select", { change: choose }, options));
  }

  get tools() {
    let waiting = null;
    const later = (text) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.set("text", text), 150);
    };
    return h(
      "div",
      { class: "tools" },
      filterBox("Filter text", later, "text"),
      this.picker(
        "Run",
        "run",
        head.runs.map(({ id }) => id),
      ),
      this.picker(
        "Topic",
        "topic",
        head.topics.map(({ id }) => id),
      ),
      head.judges.length > 1 && this.picker("Judge", "judge", head.judges),
      this.only("differ", "Different between runs"),
      (this.wanted.disagree || Object.keys(said.marks).length > 0) &&
        this.only("disagree", "Where you disagree"),
      this.status,
      this.takes,
    );
  }

  /** A box by which only what was judged differently is shown: in several runs, or by you. */
  only(name, label) {
    const box = h("input", { type: "checkbox", checked: this.wanted[name] !== "" });
    box.addEventListener("change", () => {
      if (name === "disagree") this.wanted.label = ALL; // what is good may be wrong
      this.set(name, box.checked ? "yes" : "");
    });
    return h("label", { class: "tool" }, box, ` ${label}`);
  }

  set(name, value) {
    this.wanted[name] = value;
    if (name !== "text") remember(name, value);
    if (name === "topic" && head.large) remember("every", value === EVERY ? "yes" : "");
    return this.show();
  }

  /** A button for each label that occurs, with its count; what is unjudged also as a whole. */
  drawLabels(rows) {
    const counts = new Map([
      [FAILED, ["", 0]],
      [ALL, ["", 0]],
    ]);
    const tones = new Map([[this.wanted.label, ""], ...rows.map((row) => [row.outcome, row.tone])]);
    const kinds = [...tones].filter(([, tone]) => tone === UNJUDGED).length;
    if (kinds > 1) tones.set(UNJUDGED, UNJUDGED);
    const found = [...tones].filter(([value]) => !counts.has(value));
    for (const [value, tone] of found.sort(([, a], [, b]) => placeOfTone(a) - placeOfTone(b)))
      counts.set(value, [tone, 0]);
    for (const row of rows)
      for (const [value, each] of counts) each[1] += isOutcome(row, value) ? 1 : 0;
    const focused = this.labels.contains(document.activeElement);
    fresh(
      this.labels,
      [...counts].map(([value, [tone, count]]) => h("li", null, this.label(value, tone, count))),
    );
    if (focused) this.labels.querySelector('[aria-pressed="true"]')?.focus();
  }

  label(value, tone, count) {
    const pressed = String(value === this.wanted.label);
    const click = () => this.set("label", value);
    const given = { type: "button", "aria-pressed": pressed, "data-label": value, click };
    const shown = tone ? badge(tone, value) : value;
    return h("button", given, shown, ` ${count}`);
  }

  /** Read what the filters ask for, topic by topic, and show it; a later wish overtakes this one. */
  async show() {
    const turn = (this.turn = {});
    const topics = head.topics.filter(({ id }) => !this.wanted.topic || id === this.wanted.topic);
    const rows = [];
    for (const [i, topic] of topics.entries()) {
      if (!slimRows.has(topic.id))
        this.status.textContent = `Reading ${i + 1} of ${topics.length} topics…`;
      for (const row of await rowsOn(topic)) rows.push(row);
      if (this.turn !== turn) return;
    }
    const kept = rows.filter((row) => isKept(row, this.wanted));
    this.drawLabels(kept);
    this.kept = kept
      .filter((row) => isOutcome(row, this.wanted.label))
      .sort(
        (a, b) =>
          placeOfTone(a.tone) - placeOfTone(b.tone) ||
          runNumbers.get(a.run) - runNumbers.get(b.run), // stable: topics keep theirs
      );
    this.status.textContent = `${this.kept.length} of ${rows.length} judgments`;
    for (const button of this.takes.querySelectorAll("button")) button.disabled = !this.kept.length;
    fresh(this.place, table("Judgments", judgmentColumns(), this.kept, "sort", { taken: false }));
  }

  /** Wherever a row is clicked, its judgment opens; who marks text stays. */
  follow(event) {
    if (event.target.closest("a, button, thead") || String(getSelection())) return;
    const link = event.target.closest("tr")?.querySelector("a.opens");
    if (link) location.hash = link.getAttribute("href").slice(1);
  }

  /** The judgments that are kept, unpacked topic by topic. */
  async whole() {
    const byTopic = Map.groupBy
      ? Map.groupBy(this.kept, (row) => row.topic)
      : new Map(head.topics.map(({ id }) => [id, this.kept.filter((row) => row.topic === id)]));
    const whole = [];
    for (const [id, rows] of byTopic) {
      if (!rows.length) continue;
      const topic = head.topics[topicNumbers.get(id)];
      const entries = new Map((await passingOn(topic)).map((entry) => [entry.run, entry]));
      for (const row of rows) whole.push(wholeOf(row, entries.get(row.run)));
    }
    return whole;
  }

  async saveLines() {
    const lines = (await this.whole()).map((one) => `${JSON.stringify(one)}\n`);
    save(fileName("judgments", "jsonl"), "application/jsonl", lines);
  }
}

function placeOfTone(tone) {
  return WORST_FIRST.indexOf(tone);
}

async function failuresView() {
  const list = new JudgmentList();
  const shown = [
    h("h1", null, "Failures"),
    h(
      "p",
      { class: "lead" },
      "What is not supported comes first. Open one for its evidence. What is unjudged is a failure of the judge, not of the system. “all” has every judgment of every judge.",
      head.large && " There are many: at first those on one topic are shown. To read all takes a while.",
    ),
    list.tools,
    list.labels,
    h("div", { class: "judgments" }, list.place),
  ];
  list.show().catch((error) => {
    list.status.textContent = "";
    fresh(list.place, h("p", { class: "note" }, error.message));
  });
  return shown;
}

function judgmentColumns() {
  return [
    {
      name: "Label",
      key: (row) => row.outcome,
      cell: (row) => [
        badge(row.tone, row.tone === UNJUDGED ? row.outcome : row.word),
        markShown(row),
      ],
    },
    { name: "Run", header: true, key: (row) => row.run, cell: (row) => oneLine(row.run) },
    { name: "Topic", key: (row) => row.topic, cell: (row) => oneLine(row.topic) },
    placeColumn((row) => row),
    head.judges.length > 1 && {
      name: "Judge",
      key: (row) => row.judge,
      cell: (row) => named(row.judge),
    },
    {
      name: "Text",
      class: "clip said",
      key: (row) => row.text,
      cell: (row) => [prose(row.text), row.why && h("small", { class: "muted" }, prose(row.why))],
    },
  ].filter(Boolean);
}
