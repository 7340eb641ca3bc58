// Runs by topics, a cell a response: its number is in it, and its shade says the same.

const SHADES = 7;

function heatView(measureName) {
  const found = head.measures.findIndex((measure) => measure.name === measureName);
  const state = { measure: found < 0 ? rankedBy() : found, runs: "", topics: "" };
  const place = h("div");
  const draw = () => fresh(place, heatTable(state));
  draw();
  return [
    h("h1", null, "Heat map"),
    h(
      "p",
      { class: "lead" },
      "A row a run, a column a topic. Open a cell to read the response; arrow keys move, Enter opens.",
    ),
    h(
      "div",
      { class: "tools" },
      measureChooser(state.measure, (i) => {
        state.measure = i;
        draw();
      }),
      filterBox("Filter runs", (wanted) => {
        state.runs = wanted;
        draw();
      }),
      filterBox("Filter topics", (wanted) => {
        state.topics = wanted;
        draw();
      }),
    ),
    heatLegend(),
    place,
  ];
}

function heatLegend() {
  const shades = Array.from({ length: SHADES }, (_, i) => h("span", { class: `shade q${i}` }));
  return h(
    "p",
    { class: "shades muted" },
    "lowest ",
    shades,
    " highest · – no response · n/a not defined · ? unjudged",
  );
}

function heatTable(state) {
  const runs = head.runs.filter((run) => run.id.toLowerCase().includes(state.runs));
  const topics = head.topics.filter((topic) =>
    `${topic.id} ${topic.title}`.toLowerCase().includes(state.topics),
  );
  if (!runs.length || !topics.length)
    return h("p", { class: "note" }, "Nothing fits these filters.");
  const values = head.scores[state.measure].flat().filter((value) => typeof value === "number");
  const low = Math.min(0, ...values);
  const high = Math.max(...values, low === 0 && Math.max(0, ...values) <= 1 ? 1 : low);
  const shade = (value) =>
    Math.min(SHADES - 1, Math.floor(((value - low) / (high - low || 1)) * SHADES));
  const cell = (run, topic) => {
    const value = score(state.measure, run.id, topic.id);
    const known = typeof value === "number";
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
  };
  const grid = h(
    "table",
    {
      class: "heat",
      role: "grid",
      "aria-label": `${head.measures[state.measure].name} of each run on each topic`,
      click: (event) => openCell(event.target.closest("td")),
      keydown: moveInGrid,
    },
    h(
      "thead",
      null,
      h(
        "tr",
        { role: "row" },
        h("td", { role: "gridcell" }),
        topics.map((topic) =>
          h(
            "th",
            { scope: "col", role: "columnheader", title: topic.title },
            h("a", { href: address("topic", topic.id), tabindex: "-1" }, topic.id),
          ),
        ),
      ),
    ),
    h(
      "tbody",
      null,
      runs.map((run) =>
        h(
          "tr",
          { role: "row" },
          h(
            "th",
            { scope: "row", role: "rowheader" },
            h("a", { href: address("run", run.id), tabindex: "-1" }, h("bdi", null, run.id)),
          ),
          topics.map((topic) => cell(run, topic)),
        ),
      ),
    ),
  );
  grid.tBodies[0].rows[0].cells[1].tabIndex = 0;
  return h("div", { class: "scroll heat-scroll" }, grid);
}

/** A number in as few characters as a cell holds: .82, 1, 12.5. */
function brief(value) {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 1 ? value.toFixed(2).replace("0.", ".") : value.toPrecision(3);
}

function openCell(cell) {
  if (cell?.dataset.run)
    location.hash = address("response", cell.dataset.run, cell.dataset.topic).slice(1);
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
