// One run over all topics, and the list of topics.

async function runView(runId) {
  const run = head.runs[runNumbers.get(runId)];
  if (!run) return unknown("run", runId);
  const card = (await block("cards")).find((each) => each.run === runId);
  const spread = ({ low, high }) => low !== null && `${number(low)} to ${number(high)} over topics`;
  const bounds = (each) =>
    isOpen(each) && `${number(each.lowest)} to ${number(each.highest)} by what is unjudged`;
  const more = (each) => [spread(each), bounds(each)].filter(Boolean).join("; ");
  const shown = tiles((m) => [valueOf(run.means[m]), more(run.means[m])]);
  const columns = (measures) => [
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
    ...measures.flatMap(([measure, m]) => [
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
      h(
        "a",
        { href: `#/failures?run=${encodeURIComponent(runId)}&label=all` },
        "All judgments of this run",
      ),
    ),
    card && cardShown(card),
    h("h2", null, "Measures"),
    shown,
    h("h2", null, "Topics"),
    topicsOfRun(`Topics of ${cut(runId)}`, columns),
  ];
}

/** The table of a run's topics: by the measures that come first, or by all of them. */
function topicsOfRun(label, columns) {
  const place = h("div");
  const tools = h("div", { class: "tools" });
  const every = onTopics();
  const first = every.filter(([{ name }]) => leadingMeasures().includes(name));
  const draw = () => {
    const measures = remembered("all") ? every : first;
    drawUnder(tools, place, table(label, columns(measures), head.topics, "sort"));
  };
  const all = h("input", { type: "checkbox", checked: remembered("all") !== "" });
  all.addEventListener("change", () => {
    remember("all", all.checked ? "yes" : "");
    draw();
  });
  const text = ` All ${counted(every.length, "measure")}`;
  if (first.length < every.length) tools.append(h("label", { class: "tool" }, all, text));
  draw();
  return [tools, place];
}

/**
 * The columns for the values of all runs on a topic: of the measure that ranks the median; on a
 * team's sheet of each measure the best, the median and the worst.
 */
function ofAllRuns(measure, m) {
  const of = (topic) => topicNumbers.get(topic.id);
  const known = (topic) => head.scores[m].map((scores) => scores[of(topic)]).filter(Number.isFinite);
  const middle = (topic) => (known(topic).length ? quantile(known(topic), 0.5) : null);
  const value = (i) => (topic) => head.of_all[m][of(topic)]?.[i] ?? null;
  const wanted = head.of_all
    ? ["best", "median", "worst"].map((which, i) => [which, value(i)])
    : head.runs.length > 1 && m === rankedBy()
      ? [["median", middle]]
      : [];
  return wanted.map(([which, key]) => ({
    name: `${which} ${measure.name}`,
    number: true,
    lower: measure.lower_is_better,
    key,
    cell: (topic) => number(key(topic)),
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
      spread: values.length > 1 ? deviation(values) : none,
      middle: values.length ? [0.25, 0.75].map((part) => quantile(values, part)) : null,
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
    { name: "Spread", number: true, key: (row) => row.spread, cell: (row) => number(row.spread) },
    {
      name: "Middle half",
      number: true,
      key: (row) => row.middle?.[0] ?? null,
      taken: (row) => row.middle?.map(number).join(" to "),
      cell: (row) => row.middle?.map(number).join(" to ") ?? "n/a",
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
      " of all runs, the hardest topic first. Spread is the standard deviation between runs: a large one decides the order. Open a topic to see its runs side by side.",
    ),
    filtered(
      "Filter topics",
      ordered(rows, (row) => row.mean, lower),
      (row) => `${row.topic.id} ${row.topic.title}`,
      (kept) => table("Topics", columns, kept, "sort"),
      "filter",
    ),
  ];
}

/** The standard deviation of two values or more. */
function deviation(values) {
  const middle = mean(values);
  const squares = values.map((value) => (value - middle) ** 2);
  return Math.sqrt(AGGREGATES.sum(squares) / (values.length - 1));
}

/** The value below which a part of the values lies, as the charts have it. */
function quantile(values, part) {
  const inOrder = [...values].sort((a, b) => a - b);
  const at = part * (inOrder.length - 1);
  const [low, high] = [inOrder[Math.floor(at)], inOrder[Math.ceil(at)]];
  return low + (high - low) * (at % 1);
}

function unknown(what, id) {
  return [
    h("h1", null, `No such ${what}`),
    h("p", { class: "note" }, `There is no ${what} `, named(id), " in this report."),
  ];
}
