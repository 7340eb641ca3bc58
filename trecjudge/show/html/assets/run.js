// One run over all topics, and the list of topics.

function runView(runId) {
  const run = head.runs[runNumbers.get(runId)];
  if (!run) return unknown("run", runId);
  const spread = ({ low, high }) => low !== null && `${number(low)} to ${number(high)} over topics`;
  const bounds = (each) =>
    isOpen(each) && `${number(each.lowest)} to ${number(each.highest)} by what is unjudged`;
  const more = (each) => [spread(each), bounds(each)].filter(Boolean).join("; ");
  const shown = tiles((m) => [valueOf(run.means[m]), more(run.means[m])]);
  const columns = [
    {
      name: "Topic id",
      header: true,
      key: (topic) => topic.id,
      cell: (topic) => responseLink(runId, topic.id, named(topic.id)),
    },
    {
      name: "Topic",
      class: "clip wide",
      key: (topic) => topic.title,
      cell: (topic) => prose(topic.title),
    },
    ...onTopics().flatMap(([measure, m]) => [
      {
        name: measureLabel(measure),
        beside: aboutMeasure(measure),
        number: true,
        lower: measure.lower_is_better,
        key: (topic) => score(m, runId, topic.id),
        cell: (topic) => number(score(m, runId, topic.id)),
      },
      ...ofAllRuns(measure, m),
    ]),
  ];
  const ids = head.runs.map((each) => each.id);
  return [
    h("h1", null, named(runId)),
    h(
      "div",
      { class: "tools" },
      stepper("Run", ids, ids, runId, (id) => address("run", id)),
      h("a", { href: `#/judgments?run=${encodeURIComponent(runId)}` }, "All judgments of this run"),
    ),
    h(
      "p",
      { class: "lead" },
      `${run.responses} of ${counted(run.expected_responses, "response")}, ${run.judged} of ${counted(run.expected, "item")} judged.`,
    ),
    shown,
    table(`Topics of ${cut(runId)}`, columns, head.topics, "sort"),
  ];
}

/** The columns of a team's sheet for the values of all runs on a topic. */
function ofAllRuns(measure, m) {
  if (!head.of_all) return [];
  const value = (topic, i) => head.of_all[m][topicNumbers.get(topic.id)]?.[i] ?? null;
  return ["best", "median", "worst"].map((which, i) => ({
    name: `${which} ${measure.name}`,
    number: true,
    lower: measure.lower_is_better,
    key: (topic) => value(topic, i),
    cell: (topic) => number(value(topic, i)),
  }));
}

/** A tile for each measure, those that come first in sight; `of` gives value and note of one. */
function tiles(of, measures = head.measures.map((measure, m) => [measure, m])) {
  const first = leadingMeasures();
  const list = (some) =>
    h(
      "ul",
      { class: "tiles" },
      some.map(([measure, m]) => tile(measure, ...of(m))),
    );
  const rest = measures.filter(([{ name }]) => !first.includes(name));
  return [
    list(measures.filter(([{ name }]) => first.includes(name))),
    rest.length > 0 &&
      h("details", null, h("summary", null, counted(rest.length, "other measure")), list(rest)),
  ];
}

function tile(measure, value, more) {
  return h(
    "li",
    { class: "tile" },
    h("span", { class: "muted" }, measureLabel(measure), " ", aboutMeasure(measure)),
    h("b", null, number(value)),
    more && h("small", { class: "muted" }, more),
  );
}

function topicsView() {
  const ranked = rankedBy();
  const lower = head.measures[ranked].lower_is_better;
  const rows = head.topics.map((topic) => {
    const found = head.runs.map((run) => score(ranked, run.id, topic.id));
    const values = found.filter((value) => typeof value === "number");
    const none = found.includes("?") ? "?" : null; // of what is unjudged nothing is known
    return {
      topic,
      responses: found.filter((value) => value !== "").length,
      mean: values.length ? mean(values) : none,
      lowest: values.length ? Math.min(...values) : none,
      highest: values.length ? Math.max(...values) : none,
    };
  });
  const columns = [
    {
      name: "Topic id",
      header: true,
      key: (row) => row.topic.id,
      cell: (row) => h("a", { href: address("topic", row.topic.id) }, named(row.topic.id)),
    },
    {
      name: "Topic",
      class: "clip wide",
      key: (row) => row.topic.title,
      cell: (row) => prose(row.topic.title),
    },
    {
      name: "Responses",
      number: true,
      key: (row) => row.responses,
      cell: (row) => `${row.responses}/${head.runs.length}`,
    },
    { name: "Mean", number: true, lower, key: (row) => row.mean, cell: (row) => number(row.mean) },
    {
      name: "Lowest",
      number: true,
      lower,
      key: (row) => row.lowest,
      cell: (row) => number(row.lowest),
    },
    {
      name: "Highest",
      number: true,
      lower,
      key: (row) => row.highest,
      cell: (row) => number(row.highest),
    },
  ];
  return [
    h("h1", null, "Topics"),
    h(
      "p",
      { class: "lead" },
      measureLabel(head.measures[ranked]),
      " ",
      aboutMeasure(head.measures[ranked]),
      " of all runs on each topic. Open a topic to see them side by side.",
    ),
    filtered(
      "Filter topics",
      rows,
      (row) => `${row.topic.id} ${row.topic.title}`,
      (kept) => table("Topics", columns, kept, "sort"),
      "filter",
    ),
  ];
}

function unknown(what, id) {
  return [
    h("h1", null, `No such ${what}`),
    h("p", { class: "note" }, `There is no ${what} `, named(id), " in this report."),
  ];
}
