// The view of a response: its head, and what the gate says of it, above its sentences.

async function responseView(runId, topicId, picked) {
  const topic = head.topics[topicNumbers.get(topicId)];
  if (!runNumbers.has(runId)) return { shown: unknown("run", runId) };
  if (!topic) return { shown: unknown("topic", topicId) };
  const entry = (await responsesOn(topicId)).find((each) => each.run === runId);
  const shown = [responseHead(runId, topic)];
  if (!entry) {
    shown.push(h("p", { class: "note" }, "The system gave no response on this topic."));
    return { shown };
  }
  const marked = (await block("reviews")).find(
    (review) => review.run === runId && review.topic === topicId,
  );
  if (marked)
    shown.push(
      h(
        "p",
        { class: "note" },
        h("b", null, marked.status),
        ` by the gate: ${marked.rules.join("; ")}`,
      ),
    );
  const view = new ResponseView(entry, topic);
  shownView = view;
  shown.push(view.element);
  view.pick(picked === undefined ? view.first() : Number(picked), picked !== undefined);
  return { shown, update: (other) => view.pick(Number(other), true) };
}

function responseHead(runId, topic) {
  const runs = head.runs.map((run) => run.id);
  const topics = head.topics.map((each) => each.id);
  const more = [
    ["Problem statement", topic.problem],
    ["Background", topic.background],
    ["Article", topic.body],
  ].filter(([, text]) => text);
  return [
    h(
      "div",
      { class: "tools of-response" },
      h("h1", null, named(runId), h("span", { class: "muted" }, " on "), named(topic.id)),
      stepper("Run", runs, runs, runId, (id) => address("response", id, topic.id)),
      stepper("Topic", topics, topics, topic.id, (id) => address("response", runId, id)),
      h("a", { href: address("topic", topic.id) }, "All runs on this topic"),
      nuggetsLink(topic.id),
    ),
    (topic.title || more.length > 0) &&
      h(
        "details",
        { class: "more-topic" },
        h("summary", null, topic.title ? prose(topic.title) : "The topic"),
        more.map(([name, text]) => [h("h2", null, name), h("p", null, prose(text))]),
      ),
    h("div", { class: "measured" }, tiles((m) => [score(m, runId, topic.id)], onTopics())),
  ];
}

/** What a judgment is on: its document, or the citation as written. */
function keyOf(judgment) {
  return judgment.doc_id ?? judgment.citation;
}

function placeOf(judgment) {
  if (judgment.nugget && judgment.sentence_index === undefined) return "Nugget";
  return judgment.sentence_index === undefined
    ? "Whole response"
    : `Sentence ${judgment.sentence_index + 1}`;
}

/** Whether a judgment wants a look: for what the system did, or since we could not judge it. */
function wantsALook(judgment) {
  return !["good", "plain"].includes(judgment.tone);
}

function wordOf(judgment) {
  return judgment.value !== undefined && judgment.tone === "plain"
    ? `${judgment.word} ${number(judgment.value)}`
    : judgment.word;
}
