// The leaderboard is in the page already: here its heads learn to sort, and its rows to filter by
// runs and to be made of only some topics.

const AGGREGATES = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  first_value: (values) => values[0],
  function: () => null, // the judge's own code: only of all topics is its value known
};
const mean = (values) => AGGREGATES.sum(values) / values.length;

/** The bounds that unjudged items leave to scores of a measure, by run and topic. */
function boundsOf(m) {
  return new Map(head.bounds[m].map(([r, t, ...bounds]) => [`${r} ${t}`, bounds]));
}

/** A run's mean over some topics with its bounds, by the rules of the whole leaderboard. */
function meanOver(m, runNumber, topicPositions, bounds) {
  const measure = head.measures[m];
  const isNumber = (value) => typeof value === "number";
  const isMissing = (value) => value === "" || (value === null && measure.default_if_undefined);
  const whole = (values) => {
    const known = values
      .map((value) => (isMissing(value) ? measure.default : value))
      .filter(isNumber);
    return known.length ? (AGGREGATES[measure.aggregate] || mean)(known) : null;
  };
  const found = topicPositions.map((t) => head.scores[m][runNumber][t]);
  const filled = (end) =>
    whole(topicPositions.map((t, i) => bounds.get(`${runNumber} ${t}`)?.[end] ?? found[i]));
  const made = { lowest: filled(0), highest: filled(1) };
  const unjudged = found.includes("?") && !found.some(isNumber);
  return { value: unjudged ? null : whole(found), ...made, unjudged };
}

/** Places by means: equal values share one, what is unjudged leaves it open. */
function placesBy(means, lower) {
  const digits = 1e6;
  const keys = means.map((each) => (each.value === null ? null : Math.round(each.value * digits)));
  const better = (a, b) => (lower ? a < b : a > b);
  return means.map((each, i) => {
    if (isOpen(each) || each.unjudged) return "?";
    if (keys[i] === null) return "–";
    return 1 + keys.filter((key) => key !== null && better(key, keys[i])).length;
  });
}

function drawMark(bar, name, attribute, value, fixed) {
  let mark = bar.querySelector(`.${name}`);
  if (!mark) {
    mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [key, given] of Object.entries({ class: name, y: 0, height: 10, ...fixed }))
      mark.setAttribute(key, given);
    bar.append(mark);
  }
  mark.setAttribute("display", value === null ? "none" : "inline");
  if (value !== null) mark.setAttribute(attribute, value);
}

/** A column's name in the address. */
function nameOf(cell) {
  const { key } = cell.dataset;
  return head.measures[key]?.name || key;
}

const COUNTS = ".place, .responses, .judged, .gaming";

class LeaderboardView {
  constructor(board) {
    this.board = board;
    this.rows = [...board.tBodies[0].rows];
    this.heads = [...board.tHead.rows[0].cells];
    this.means = head.runs.map((run) => run.means);
    this.columns = head.measures.map((_, m) =>
      this.heads.find((cell) => cell.dataset.key === String(m)),
    );
    for (const row of this.rows)
      row.whole = [...row.querySelectorAll(COUNTS)].map((cell) => cell.textContent);
    this.chosen = new Columns(board, this.heads);
    this.sorted = this.heads.find((cell) => cell.hasAttribute("aria-sort"));
    this.first = [this.sorted, this.sorted.getAttribute("aria-sort")];
    for (const cell of this.heads) {
      const measure = head.measures[cell.dataset.key];
      const name = [...cell.childNodes];
      cell.append(headOf(() => this.sortBy(cell), name, measure && aboutMeasure(measure)));
    }
  }

  keyOf(cell) {
    const keys = {
      place: (i) => i,
      id: (i) => head.runs[i].id,
      responses: (i) => head.runs[i].responses,
      judged: (i) => head.runs[i].judged,
      language: (i) => head.runs[i].language,
    };
    const name = cell.dataset.key;
    if (Object.hasOwn(head.gaming, name)) return (i) => head.runs[i].signs[name] ?? -1;
    return Object.hasOwn(keys, name) ? keys[name] : (i) => valueOf(this.means[i][Number(name)]);
  }

  sortBy(cell) {
    const { key, lower } = cell.dataset;
    const upwards = key === "place" || key === "id" || lower !== undefined;
    const [first, second] = upwards ? ["ascending", "descending"] : ["descending", "ascending"];
    const direction = cell.getAttribute("aria-sort") === first ? second : first;
    remember("sort", `${direction === "descending" ? "-" : ""}${nameOf(cell)}`);
    this.sortAs(cell, direction);
  }

  sortAs(cell, direction) {
    for (const each of this.heads) each.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", direction);
    this.sorted = cell;
    this.order();
  }

  /** Sort as set in the address, else in the original order. */
  restoreOrder() {
    const name = remembered("sort");
    const cell = this.heads.find((each) => nameOf(each) === name.replace(/^-/, ""));
    if (cell) this.sortAs(cell, name.startsWith("-") ? "descending" : "ascending");
    else this.sortAs(...this.first);
  }

  order() {
    const key = this.keyOf(this.sorted);
    const downwards = this.sorted.getAttribute("aria-sort") === "descending";
    const rows = ordered(this.rows, (row) => key(Number(row.dataset.run)), downwards);
    const [body] = this.board.tBodies;
    // To move a row lays out the table anew, also to where it is.
    if ([...body.rows].some((row, i) => row !== rows[i])) add(body, rows);
  }

  /** Show the runs that fit; return how many do. */
  filterRuns(wanted) {
    let shown = 0;
    for (const row of this.rows) {
      const run = head.runs[Number(row.dataset.run)];
      row.hidden = !`${run.id} ${run.team}`.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    rove(this.board, "tbody tr");
    return shown;
  }

  /** Make the means of the topics that fit; return how many do. */
  filterTopics(wanted) {
    const positions = head.topics.flatMap((topic, t) =>
      `${topic.id} ${topic.title}`.toLowerCase().includes(wanted) ? [t] : [],
    );
    const all = positions.length === head.topics.length;
    if (all && this.whole()) return positions.length; // the means are as they came
    this.board.classList.toggle("of-some", !all);
    const bounds = head.measures.map((_, m) => boundsOf(m));
    this.means = head.runs.map((run, r) =>
      run.means.map((each, m) => (all ? each : meanOver(m, r, positions, bounds[m]))),
    );
    const ranked = rankedBy();
    const places = placesBy(
      this.means.map((means) => means[ranked]),
      head.measures[ranked].lower_is_better,
    );
    for (const row of this.rows) {
      this.draw(row);
      this.count(row, all ? null : positions, places[Number(row.dataset.run)]);
    }
    this.order();
    return positions.length;
  }

  draw(row) {
    const cells = row.every.filter((cell) => cell.classList.contains("measure"));
    this.means[Number(row.dataset.run)].forEach((each, m) => {
      cells[m].querySelector(".value").textContent = number(valueOf(each));
      const { low, high } = this.columns[m].dataset;
      const at =
        each.value === null
          ? null
          : Math.min(98.4, Math.max(0, (98.4 * (each.value - low)) / (high - low)));
      const bar = cells[m].querySelector(".bar");
      drawMark(bar, "length", "width", at, { x: 0 });
      drawMark(bar, "at", "x", at, { width: 1.6 });
      cells[m].querySelector(".of-chosen")?.remove();
      if (isOpen(each))
        cells[m].append(
          h(
            "small",
            { class: "of-chosen muted" },
            `${number(each.lowest)} to ${number(each.highest)}`,
          ),
        );
    });
  }

  /** The runs that are shown, in their order, with the columns that are shown. */
  cells() {
    const has = (bound) => this.means.some((means) => means.some((each) => each[bound] !== null));
    const bounds = ["low", "high"].filter((bound) => this.whole() && has(bound));
    const keys = this.chosen.shown;
    const wide = (key) => this.measureOf(key) >= 0;
    const headsOf = (key) => [key, ...(wide(key) ? bounds.map((bound) => `${key} ${bound}`) : [])];
    const heads = keys.flatMap(headsOf);
    const values = (i, key) => {
      const each = this.means[i][this.measureOf(key)];
      const value = each.unjudged ? "unjudged" : each.value;
      return [value, ...bounds.map((bound) => each[bound])];
    };
    const rows = [...this.board.tBodies[0].rows].filter((row) => !row.hidden);
    return [
      ["place", "run", "team", ...heads],
      ...rows.map((row) => {
        const i = Number(row.dataset.run);
        const count = (key) => row.querySelector(`.${key}`).textContent;
        return [
          row.querySelector(".place").textContent,
          head.runs[i].id,
          head.runs[i].team,
          ...keys.flatMap((key) => (wide(key) ? values(i, key) : count(key))),
        ];
      }),
    ];
  }

  whole() {
    return !this.board.classList.contains("of-some");
  }

  measureOf(key) {
    return head.measures.findIndex((measure) => measure.name === key);
  }

  /** Place and counts of a run over the chosen topics; over all of them as they came. */
  count(row, positions, place) {
    const cells = [...row.querySelectorAll(COUNTS)];
    const scores = head.scores[0][Number(row.dataset.run)];
    const answered = positions?.filter((t) => scores[t] !== "").length;
    // How many items there are on each topic is not in the page.
    const shown = positions ? [place, `${answered}/${positions.length}`, "–", "–"] : row.whole;
    cells.forEach((cell, i) => {
      cell.textContent = shown[i];
    });
  }
}

/** Returns a function that filters and sorts it as set in the address. */
function enhanceLeaderboard() {
  const view = new LeaderboardView(byId("board"));
  const counts = { runs: "", topics: "" };
  const status = h("span", { class: "muted", role: "status" });
  const setStatus = (what, text) => {
    counts[what] = text;
    status.textContent = [counts.runs, counts.topics].filter(Boolean).join("; ");
  };
  const filters = {
    runs: (wanted) => {
      const shown = view.filterRuns(wanted);
      setStatus("runs", wanted && `${shown} of ${head.runs.length} runs`);
    },
    topics: (wanted) => {
      const shown = view.filterTopics(wanted);
      const some = `means over ${shown} of ${head.topics.length} topics, without intervals`;
      setStatus("topics", wanted && some);
    },
  };
  const boxes = Object.entries(filters).map(([what, filter]) => ({
    what,
    filter,
    box: filterBox(`Filter ${what}`, filter, what),
  }));
  byId("leaderboard-tools").append(
    ...boxes.map(({ box }) => box),
    view.chosen.menu,
    status,
    takeAlong("leaderboard", () => view.cells()),
  );
  freely(view.board.parentNode);
  window.addEventListener("resize", () => view.chosen.fit());
  return () => {
    for (const { what, filter, box } of boxes) {
      box.querySelector("input").value = remembered(what);
      filter(filterIn(what));
    }
    view.chosen.restore();
    view.restoreOrder();
  };
}
