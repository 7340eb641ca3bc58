// Runs by topics, a cell a response: its number, and a shade for the number.

const SHADES = 7;
const TOPIC_ORDERS = ["id", "mean, lowest first", "mean, highest first"];

function heatView(measureName) {
  const names = head.measures.map((measure) => measure.name);
  const given = names.includes(measureName) ? names.indexOf(measureName) : rankedBy();
  const state = {
    measure: chosenIn("measure", names, given),
    runs: filterIn("runs"),
    topics: filterIn("topics"),
    order: chosenIn("order", TOPIC_ORDERS, 0),
  };
  const place = h("div");
  const key = h("p", { class: "shades muted" });
  const draw = () => {
    fresh(key, heatLegend(state.measure));
    drawUnder(tools, place, heatTable(state));
  };
  const tools = h("div", { class: "tools" });
  add(tools, [
    measureChooser(state.measure, (i) => {
      state.measure = i;
      remember("measure", names[i]);
      draw();
    }),
    chooser("Topics by", TOPIC_ORDERS, state.order, (i) => {
      state.order = i;
      remember("order", i ? TOPIC_ORDERS[i] : "");
      draw();
    }),
    ...["runs", "topics"].map((what) =>
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
    h("h1", null, "Heat map"),
    h(
      "p",
      { class: "lead" },
      "Each row is a run, each column a topic. Open a cell to read the response; arrow keys move, Enter opens.",
    ),
    tools,
    key,
    place,
  ];
}

/** What the shades mean: the stronger the better, whichever way a measure goes. */
function heatLegend(m) {
  const shades = Array.from({ length: SHADES }, (_, i) => h("span", { class: `shade q${i}` }));
  const { low, high } = scaleOf(m);
  const lower = head.measures[m].lower_is_better;
  const [light, dark] = lower ? [high, low] : [low, high];
  const values = head.scores[m].flat().filter(Number.isFinite);
  const found = values.length
    ? `lowest ${number(least(values))}, highest ${number(most(values))}`
    : "no value";
  return [
    `${brief(light)} `,
    shades,
    ` ${brief(dark)} (better to the right) · ${found} · – no response · n/a not defined · ? unjudged`,
  ];
}

// Not by one call with all values: there may be more than a call takes.
const least = (values) => values.reduce((a, b) => Math.min(a, b));
const most = (values) => values.reduce((a, b) => Math.max(a, b));

function heatTable(state) {
  const m = state.measure;
  const runs = head.runs.filter((run) => run.id.toLowerCase().includes(state.runs));
  const fitting = head.topics.filter((topic) =>
    `${topic.id} ${topic.title}`.toLowerCase().includes(state.topics),
  );
  const topics = state.order
    ? ordered(fitting, (topic) => meanOfTopic(m, topic), state.order === 2)
    : fitting;
  if (!runs.length || !topics.length)
    return h("p", { class: "note" }, "Nothing fits these filters.");
  const shade = shadesOf(m);
  const grid = h(
    "table",
    {
      class: "heat",
      role: "grid",
      "aria-label": `${measureLabel(head.measures[m])} of each run on each topic`,
      click: (event) => openCell(event.target.closest("td")),
      keydown: moveInGrid,
    },
    h("thead", null, topicRow(topics)),
    h(
      "tbody",
      null,
      runs.map((run) => runRow(run, topics, m, shade)),
    ),
  );
  grid.tBodies[0].rows[0].cells[1].tabIndex = 0;
  grid.style.setProperty("--columns", topics.length);
  const { name } = head.measures[m];
  const rows = () => [
    ["run", ...topics.map((topic) => topic.id)],
    ...runs.map(({ id }) => [id, ...topics.map((topic) => inWords(score(m, id, topic.id)))]),
  ];
  return [
    takeAlong(`${name} by run and topic`, rows),
    freely(h("div", { class: "scroll heat-scroll" }, grid)),
  ];
}

/** A score in full, or why there is none. */
function inWords(value) {
  return Number.isFinite(value) ? value : number(value);
}

function meanOfTopic(m, topic) {
  const values = head.runs.map((run) => score(m, run.id, topic.id)).filter(Number.isFinite);
  return values.length ? mean(values) : null;
}

/**
 * The shade of a value, darker where better: by seven equal steps from 0 to 1, or over what the
 * measure's values span.
 */
function shadesOf(m) {
  const { low, high } = scaleOf(m);
  const step = (value) => Math.min(SHADES - 1, Math.floor(((value - low) / (high - low)) * SHADES));
  return head.measures[m].lower_is_better ? (value) => SHADES - 1 - step(value) : step;
}

/** The ends of the scale of a measure's shades. */
function scaleOf(m) {
  let [low, high] = [0, 0];
  for (const value of head.scores[m].flat().filter(Number.isFinite)) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return { low, high: low === 0 && high <= 1 ? 1 : high };
}

function topicRow(topics) {
  const cells = topics.map((topic) =>
    h(
      "th",
      { scope: "col", role: "columnheader", title: topic.title },
      h("a", { href: address("topic", topic.id), tabindex: "-1" }, named(topic.id)),
    ),
  );
  return h("tr", { role: "row" }, h("td", { role: "gridcell" }), cells);
}

function runRow(run, topics, m, shade) {
  const link = h("a", { href: address("run", run.id), tabindex: "-1" }, named(run.id));
  const cells = topics.map((topic) => {
    const value = score(m, run.id, topic.id);
    const known = Number.isFinite(value);
    return h(
      "td",
      {
        role: "gridcell",
        tabindex: "-1",
        class: known ? `q${shade(value)}` : "none",
        "data-run": run.id,
        "data-topic": topic.id,
      },
      known ? brief(value) : value === "" ? "–" : value === "?" ? "?" : "n/a",
    );
  });
  return h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, link), cells);
}

/** A number in as few characters as a cell holds: .82, 1, 12.5, 1235. */
function brief(value) {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return String(Math.round(value));
  return Math.abs(value) < 1 ? value.toFixed(2).replace("0.", ".") : value.toPrecision(3);
}

function openCell(cell) {
  const { run, topic, judgment } = cell?.dataset || {};
  const at = judgment === undefined ? [] : [judgment];
  if (run) location.hash = address("response", run, topic, ...at).slice(1);
}

function moveInGrid(event) {
  const cell = event.target.closest("td");
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  if (!cell) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    openCell(cell);
  }
  const step = steps[event.key];
  if (!step) return;
  const rows = cell.closest("tbody").rows;
  const next = rows[cell.parentNode.rowIndex - 1 + step[0]]?.cells[cell.cellIndex + step[1]];
  event.preventDefault();
  if (next?.tagName !== "TD") return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
