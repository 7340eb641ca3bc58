// What a response says of nuggets: which it states, in part, or lacks, and where.

const IMPORTANCE = ["vital", "A", "okay", "B", "C"];
const SAYS = ["good", "part", "against"];

function nuggetsLink(topicId) {
  if (!head.nuggets.length) return null;
  return h("a", { href: address("nuggets", topicId) }, "Nuggets by runs");
}

/** A nugget's text, with its answers as far as its judgment has them. */
function nuggetShown(nugget) {
  const between = nugget.together ? "; " : " / ";
  const answer = nugget.answer || (nugget.answers || []).map(({ text }) => text).join(between);
  return [
    prose(nugget.text),
    answer &&
      answer !== nugget.text && [" ", h("small", { class: "muted" }, "answer: "), prose(answer)],
  ];
}

function importanceOf(nugget) {
  const at = IMPORTANCE.indexOf(nugget.importance);
  // A rubric's letters stand beside the words of the others.
  return at < 0 ? IMPORTANCE.length : at - (at % 2) * (at < 4);
}

function inOrder(rows, order) {
  const stated = (row, tone) => row.counts[tone] || 0;
  const byRuns = (a, b) =>
    stated(b, "good") - stated(a, "good") || stated(b, "part") - stated(a, "part");
  const byImportance = (a, b) => importanceOf(a.nugget) - importanceOf(b.nugget);
  const by = [(a, b) => byImportance(a, b) || byRuns(a, b), byRuns, (a, b) => a.bank - b.bank];
  return [...rows].sort((a, b) => by[order](a, b) || a.bank - b.bank);
}

/** The judge whose nuggets a response shows: the chosen one, else the first that has some. */
function nuggetJudge({ entry, judge }) {
  const judges = new Set((entry.statings || []).map(({ at }) => entry.judgments[at].judge));
  return judges.has(judge) ? judge : [...judges][0];
}

function statingsOf(view) {
  const judge = nuggetJudge(view);
  return (view.entry.statings || []).filter(({ at }) => view.entry.judgments[at].judge === judge);
}

/** Where a response states the nugget of a judgment: [sentence, start, end] of each place. */
function toldAt(entry, i) {
  const judgment = entry.judgments[i];
  if (judgment.sentence_index !== undefined)
    return SAYS.includes(judgment.tone) ? [[judgment.sentence_index, 0, 0]] : [];
  return (entry.statings || []).find(({ at }) => at === i)?.where || [];
}

/** The judgments on nuggets to show below a sentence: its own, else those that lead to it. */
function statedIn(view, index) {
  const { judgments } = view.entry;
  const judge = nuggetJudge(view);
  const own = judgments.flatMap((judgment, i) =>
    judgment.nugget &&
    judgment.judge === judge &&
    judgment.sentence_index === index &&
    (SAYS.includes(judgment.tone) || judgment.tone === "unjudged")
      ? [i]
      : [],
  );
  const known = new Set(own.map((i) => judgments[i].nugget.nugget_id));
  const led = statingsOf(view).filter(
    ({ at, where }) =>
      judgments[at].sentence_index === undefined &&
      !known.has(judgments[at].nugget.nugget_id) &&
      where.some(([sentence]) => sentence === index),
  );
  return [...own, ...led.map(({ at }) => at)];
}

/** The nuggets that a response states, in part, and lacks, each with its reason. */
function nuggetsBox(view) {
  const statings = statingsOf(view);
  if (!statings.length) return null;
  const { judgments } = view.entry;
  const groups = Object.keys(head.of_nuggets)
    .map((tone) => [tone, statings.filter((stating) => stating.tone === tone)])
    .filter(([, found]) => found.length);
  const line = ({ at, tone }) => {
    const judgment = judgments[at];
    const why = judgment.failure ? judgment.failure.message : judgment.reason;
    return h(
      "li",
      null,
      view.nugget(at, tone),
      h(
        "small",
        { class: "muted why" },
        prose(why || "no reason given"),
        judgment.attester && ` (${judgment.attester})`,
      ),
    );
  };
  return h(
    "div",
    { class: "whole stated" },
    h("h2", null, "Nuggets"),
    h(
      "ul",
      { class: "legend", "aria-label": "Nuggets by what the response says" },
      groups.map(([tone, found]) =>
        h("li", null, badge(tone, head.of_nuggets[tone]), ` ${found.length}`),
      ),
    ),
    groups.map(([tone, found]) => [
      h(
        "h3",
        null,
        head.of_nuggets[tone].replace(/^./, (first) => first.toUpperCase()),
      ),
      h(
        "ul",
        { class: "claims" },
        inOrder(
          found.map((stating, bank) => ({
            ...stating,
            nugget: judgments[stating.at].nugget,
            bank,
            counts: {},
          })),
          0,
        ).map(line),
      ),
    ]),
  );
}

/** The sentences that state a nugget, and what is known of the documents that they cite. */
function statedPart(view, judgment, i) {
  const { entry } = view;
  const places = toldAt(entry, i);
  if (!places.length)
    return SAYS.includes(judgment.tone)
      ? h("p", { class: "note" }, "Which sentence says it is not known.")
      : null;
  return [
    h("h3", null, places.length > 1 ? "Sentences" : "Sentence"),
    places.map(([index, start, end]) => {
      const text = entry.sentences.find((sentence) => sentence.index === index)?.text || "";
      const [from, to] = units(text, [start, end]);
      const passages = to > from ? [{ start: from, end: to }] : [];
      return [
        h(
          "blockquote",
          null,
          `${index + 1} `,
          h("span", { class: "prose", dir: "auto" }, marked(text, passages, 0, text.length)),
        ),
        citedThere(view, index),
      ];
    }),
  ];
}

function citedThere(view, index) {
  const { judgments, sentences } = view.entry;
  const judged = judgments.flatMap((judgment, i) =>
    judgment.sentence_index === index && !judgment.nugget && keyOf(judgment) !== undefined
      ? [i]
      : [],
  );
  const rest = (sentences.find((sentence) => sentence.index === index)?.citations || []).filter(
    (key) => !judged.some((i) => keyOf(judgments[i]) === key),
  );
  if (!judged.length && !rest.length) return h("p", { class: "muted" }, "It cites nothing.");
  return h(
    "p",
    { class: "chips" },
    judged.map((i) => view.chip(i, view.numberOf(keyOf(judgments[i])))),
    rest.map((key) =>
      h(
        "button",
        { type: "button", class: "chip plain", title: key, click: () => showCited(view, key) },
        `${view.numberOf(key)} `,
        h("span", { class: "word" }, "cited"),
      ),
    ),
  );
}

/** The document that a sentence cites, where no judgment is on the two. */
function showCited(view, key) {
  return showDocument(view.panel.querySelector(".document-place"), view, key, []);
}
