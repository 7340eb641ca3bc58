// Nuggets by runs: which run states which, in a grid.

const NUGGET_ORDERS = [
  "importance, then runs that state it",
  "runs that state it",
  "as in the bank",
];

async function nuggetsView(given) {
  const topicId = given ?? head.topics[0]?.id;
  const topic = head.topics[topicNumbers.get(topicId)];
  if (!topic) return unknown("topic", topicId);
  const entries = await responsesOn(topicId);
  const nuggets = await nuggetsOn(topicId);
  const judges = head.nuggets.filter((judge) =>
    entries.some((entry) => entry.statings?.some(({ at }) => entry.judgments[at].judge === judge)),
  );
  const state = {
    judge: chosenIn("judge", judges, 0),
    order: chosenIn("order", NUGGET_ORDERS, 0),
    nuggets: filterIn("nuggets"),
    runs: filterIn("runs"),
  };
  const place = h("div");
  const key = h("div", { class: "tools" });
  const draw = () => {
    const rows = rowsOf(entries, nuggets, judges[state.judge]);
    const tones = Object.keys(head.of_nuggets).filter((tone) =>
      rows.some((row) => row.counts[tone]),
    );
    fresh(key, nuggetLegend(tones));
    drawUnder(
      tools,
      place,
      judges.length ? grid(topic, entries, rows, tones, state) : noNuggets(entries),
    );
  };
  const choose = (what, names) => (i) => {
    state[what] = i;
    remember(what, i ? names[i] : "");
    draw();
  };
  const ids = head.topics.map((each) => each.id);
  const tools = h("div", { class: "tools" });
  add(tools, [
    judges.length > 1 && chooser("Judge", judges, state.judge, choose("judge", judges)),
    chooser("Nuggets by", NUGGET_ORDERS, state.order, choose("order", NUGGET_ORDERS)),
    ...["nuggets", "runs"].map((what) =>
      filterBox(
        `Filter ${what}`,
        (wanted) => {
          state[what] = wanted;
          draw();
        },
        what,
      ),
    ),
  ]);
  draw();
  return [
    h("h1", null, "Nuggets of ", named(topicId)),
    h(
      "div",
      { class: "tools" },
      stepper("Topic", ids, ids, topicId, (id) => address("nuggets", id)),
      h("a", { href: address("topic", topicId) }, "All runs on this topic"),
    ),
    topic.title && h("p", { class: "asked" }, prose(topic.title)),
    h(
      "p",
      { class: "lead" },
      "Each row is a nugget, each column a run, the best run first. Open a cell to read where the response states it; arrow keys move, Enter opens.",
    ),
    tools,
    key,
    place,
  ];
}

/** Why there is no row: nobody judged nuggets here, or why that failed. */
function noNuggets(entries) {
  const whys = new Set(
    entries.flatMap((entry) =>
      entry.judgments
        .filter((judgment) => head.nuggets.includes(judgment.judge) && judgment.failure)
        .map((judgment) => judgment.failure.message),
    ),
  );
  return h(
    "p",
    { class: "note" },
    "No nugget was judged on this topic. ",
    [...whys].slice(0, 3).map((why) => prose(`${why}. `)),
  );
}

/** The nuggets of a judge, each with what every run says of it, and counts by tone. */
function rowsOf(entries, nuggets, judge) {
  const rows = new Map();
  for (const entry of entries)
    for (const stating of entry.statings || []) {
      if (entry.judgments[stating.at].judge !== judge) continue;
      const own = nuggets[stating.nugget];
      if (!rows.has(stating.nugget))
        rows.set(stating.nugget, { nugget: own, bank: rows.size, cells: new Map(), counts: {} });
      rows.get(stating.nugget).cells.set(entry.run, stating);
    }
  for (const row of rows.values())
    for (const entry of entries) {
      // Whoever has a response and no decision on it is unjudged, whatever went wrong.
      if (!row.cells.has(entry.run)) row.cells.set(entry.run, { tone: "unjudged" });
      const { tone } = row.cells.get(entry.run);
      row.counts[tone] = (row.counts[tone] || 0) + 1;
    }
  return [...rows.values()];
}

function nuggetLegend(tones) {
  return h(
    "ul",
    { class: "legend", "aria-label": "Signs" },
    tones.map((tone) => h("li", null, badge(tone, head.of_nuggets[tone]))),
    h("li", { class: "muted" }, "– no response"),
  );
}

function grid(topic, entries, rows, tones, state) {
  const runs = head.runs.filter((run) => run.id.toLowerCase().includes(state.runs));
  const kept = inOrder(rows, state.order).filter(({ nugget }) =>
    `${nugget.text} ${nugget.answer || ""} ${nugget.importance || ""}`
      .toLowerCase()
      .includes(state.nuggets),
  );
  if (!runs.length || !kept.length) return h("p", { class: "note" }, "Nothing fits these filters.");
  const made = h(
    "table",
    {
      class: "heat nuggets",
      role: "grid",
      "aria-label": `What each run says of each nugget of ${cut(topic.id)}`,
      click: (event) => openCell(event.target.closest("td")),
      keydown: moveInGrid,
    },
    h("thead", null, gridHead(topic, runs, tones)),
    h(
      "tbody",
      null,
      kept.map((row) => nuggetRow(row, topic, runs, tones)),
    ),
    h(
      "tfoot",
      null,
      tones.map((tone) => countRow(tone, kept, runs, tones)),
    ),
  );
  made.tBodies[0].rows[0].cells[1 + tones.length].tabIndex = 0;
  const words = (row, run) => {
    const stating = row.cells.get(run.id);
    return stating ? head.of_nuggets[stating.tone] : "no response";
  };
  const cells = () => [
    ["nugget", "answer", "importance", ...runs.map((run) => run.id)],
    ...kept.map((row) => [
      row.nugget.text,
      row.nugget.answer,
      row.nugget.importance,
      ...runs.map((run) => words(row, run)),
    ]),
  ];
  return [
    takeAlong(`nuggets of ${topic.id}`, cells),
    freely(h("div", { class: "scroll heat-scroll" }, made)),
  ];
}

function gridHead(topic, runs, tones) {
  return h(
    "tr",
    { role: "row" },
    h("th", { scope: "col", role: "columnheader" }, "Nugget"),
    tones.map((tone) =>
      h(
        "th",
        { scope: "col", role: "columnheader", title: `runs: ${head.of_nuggets[tone]}` },
        sign(tone),
        h("span", { class: "hidden" }, `runs: ${head.of_nuggets[tone]}`),
      ),
    ),
    runs.map((run) =>
      h(
        "th",
        { scope: "col", role: "columnheader", title: run.id },
        h("a", { href: address("response", run.id, topic.id), tabindex: "-1" }, named(run.id)),
      ),
    ),
  );
}

function nuggetRow(row, topic, runs, tones) {
  const { nugget } = row;
  return h(
    "tr",
    { role: "row" },
    h(
      "th",
      { scope: "row", role: "rowheader", title: cut(`${nugget.text} ${nugget.answer || ""}`) },
      h("span", { class: "clip" }, h("span", { class: "prose" }, nuggetShown(nugget))),
      nugget.importance && h("small", { class: "muted" }, cut(nugget.importance)),
    ),
    tones.map((tone) =>
      h("td", { role: "gridcell", class: "sum", tabindex: "-1" }, row.counts[tone] || 0),
    ),
    runs.map((run) => nuggetCell(row.cells.get(run.id), run, topic)),
  );
}

function nuggetCell(stating, run, topic) {
  const tone = stating?.tone;
  const word = stating ? head.of_nuggets[tone] : "no response";
  // Thousands of cells: a text and a label each, no elements inside.
  return h(
    "td",
    {
      role: "gridcell",
      tabindex: "-1",
      class: stating ? `cell ${tone}` : "none",
      "aria-label": word,
      title: `${cut(run.id)}: ${word}`,
      "data-run": run.id,
      "data-topic": topic.id,
      "data-judgment": stating?.at,
    },
    stating ? head.signs[tone] : "–",
  );
}

/** How many of the nuggets that are shown each run states, or whatever the tone says. */
function countRow(tone, rows, runs, tones) {
  return h(
    "tr",
    { role: "row" },
    h("th", { scope: "row", role: "rowheader" }, badge(tone, head.of_nuggets[tone])),
    tones.map((other) =>
      h(
        "td",
        { role: "gridcell", class: "sum" },
        other === tone ? rows.reduce((sum, row) => sum + (row.counts[tone] || 0), 0) : "",
      ),
    ),
    runs.map((run) => {
      const answered = rows[0].cells.has(run.id);
      const count = rows.filter((row) => row.cells.get(run.id)?.tone === tone).length;
      return h("td", { role: "gridcell", class: "sum" }, answered ? count : "–");
    }),
  );
}
