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
  const marks = new Set(conflicts.flatMap(([, found]) => found.map((pair) => pair.judgment)));
  const ids = head.topics.map((each) => each.id);
  const columns = new Map(
    entries.map((entry) => [entry.run, guarded(entry.run, () => column(entry, topic, marks))]),
  );
  const row = h(
    "div",
    { class: "columns", role: "region", "aria-label": "Responses side by side", tabindex: "0" },
    [...columns.values()],
  );
  const filter = (wanted) =>
    columns.forEach((element, run) => {
      element.hidden = !run.toLowerCase().includes(wanted);
    });
  filter(filterIn("runs"));
  const silent = head.runs.filter((run) => !columns.has(run.id));
  return [
    h(
      "div",
      { class: "tools" },
      stepper("Topic", ids, ids, topicId, (id) => address("topic", id)),
      filterBox("Filter runs", filter, "runs"),
      nuggetsLink(topicId),
    ),
    h("h1", null, "Topic ", named(topicId)),
    topic.title && h("p", { class: "asked" }, prose(topic.title)),
    h(
      "p",
      { class: "lead" },
      `${entries.length} responses, the best run by ${head.ranked_by} first.`,
      silent.length > 0 && [
        " No response: ",
        silent.map((run, i) => [i ? ", " : "", runLink(run.id)]),
        ".",
      ],
    ),
    conflictList(conflicts, topic),
    row,
  ];
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
          h("p", null, prose(sentence.text), " ", h("span", { class: "minis" }, links(sentence))),
        ),
      ),
    ),
  );
}
