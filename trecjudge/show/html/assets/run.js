// One run over all topics, and the list of topics.

function runView(runId) {
  const run = head.runs[runNumbers.get(runId)];
  if (!run) return unknown("run", runId);
  const tiles = head.measures.map((measure, m) =>
    tile(
      measure,
      valueOf(run.means[m]),
      [
        run.means[m].low !== null &&
          `${number(run.means[m].low)} to ${number(run.means[m].high)} over topics`,
        isOpen(run.means[m]) &&
          `${number(run.means[m].lowest)} to ${number(run.means[m].highest)} by what is unjudged`,
      ]
        .filter(Boolean)
        .join("; "),
    ),
  );
  const columns = [
    {
      name: "Topic id",
      header: true,
      key: (topic) => topic.id,
      cell: (topic) => responseLink(runId, topic.id, named(topic.id)),
    },
    ...head.measures.map((measure, m) => ({
      name: measureLabel(measure),
      beside: aboutMeasure(measure),
      number: true,
      lower: measure.lower_is_better,
      key: (topic) => score(m, runId, topic.id),
      cell: (topic) => number(score(m, runId, topic.id)),
    })),
    {
      name: "Topic",
      class: "clip",
      key: (topic) => topic.title,
      cell: (topic) => prose(topic.title),
    },
  ];
  const ids = head.runs.map((each) => each.id);
  return [
    h("h1", null, named(runId)),
    h(
      "p",
      { class: "lead" },
      `${run.responses} of ${run.expected_responses} responses, ${run.judged} of ${run.expected} items judged. `,
      h("a", { href: `#/judgments?run=${encodeURIComponent(runId)}` }, "All judgments of this run"),
    ),
    h(
      "div",
      { class: "tools" },
      stepper("Run", ids, ids, runId, (id) => address("run", id)),
    ),
    h("ul", { class: "tiles" }, tiles),
    table(`Topics of ${cut(runId)}`, columns, head.topics, "sort"),
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
      class: "clip",
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

/** A box that filters rows by their text, and what is made of the rows. */
function filtered(label, rows, text, made, memory) {
  const place = h("div");
  const count = h("span", { class: "muted", role: "status" });
  const show = (wanted) => {
    const kept = rows.filter((row) => text(row).toLowerCase().includes(wanted));
    count.textContent = wanted ? `${kept.length} of ${rows.length}` : "";
    fresh(place, made(kept));
  };
  show(filterIn(memory));
  return [h("div", { class: "tools" }, filterBox(label, show, memory), count), place];
}

function unknown(what, id) {
  return [
    h("h1", null, `No such ${what}`),
    h("p", { class: "note" }, `There is no ${what} `, named(id), " in this report."),
  ];
}
