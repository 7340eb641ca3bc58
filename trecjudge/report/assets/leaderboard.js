// The leaderboard is in the page already: here its heads learn to sort, and its rows to filter by
// runs and to be made of some topics alone.

const AGGREGATES = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  first_value: (values) => values[0],
};
const mean = (values) => AGGREGATES.sum(values) / values.length;

/** A run's mean over some topics, by the rules of the whole leaderboard. */
function meanOver(m, runNumber, topicPositions) {
  const measure = head.measures[m];
  const isNumber = (value) => typeof value === "number";
  const found = topicPositions.map((t) => head.scores[m][runNumber][t]);
  if (found.includes("?") && !found.some(isNumber)) return null; // nothing was judged
  const isMissing = (value) => value === "" || (value === null && measure.default_if_undefined);
  const values = found
    .map((value) => (isMissing(value) ? measure.default : value))
    .filter(isNumber);
  return values.length ? (AGGREGATES[measure.aggregate] || mean)(values) : null;
}

class LeaderboardView {
  constructor(board) {
    this.board = board;
    this.rows = [...board.tBodies[0].rows];
    this.heads = [...board.tHead.rows[0].cells];
    this.means = head.runs.map((run) => run.means.map((each) => each.value));
    this.sorted = this.heads.find((cell) => cell.hasAttribute("aria-sort"));
    for (const cell of this.heads) {
      const button = h("button", { type: "button", class: "sort", click: () => this.sortBy(cell) });
      button.append(...cell.childNodes);
      cell.append(button);
    }
  }

  keyOf(cell) {
    const keys = {
      place: (i) => i,
      id: (i) => head.runs[i].id,
      responses: (i) => head.runs[i].responses,
      judged: (i) => head.runs[i].judged,
    };
    const name = cell.dataset.key;
    return keys[name] || ((i) => this.means[i][Number(name)]);
  }

  sortBy(cell) {
    const upwards = cell.dataset.key === "place" || cell.dataset.key === "id";
    const [first, second] = upwards ? ["ascending", "descending"] : ["descending", "ascending"];
    const direction = cell.getAttribute("aria-sort") === first ? second : first;
    for (const each of this.heads) each.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", direction);
    this.sorted = cell;
    this.order();
  }

  order() {
    const key = this.keyOf(this.sorted);
    const downwards = this.sorted.getAttribute("aria-sort") === "descending";
    const rows = ordered(this.rows, (row) => key(Number(row.dataset.run)), downwards);
    add(this.board.tBodies[0], rows);
  }

  /** Show the runs that fit; return how many do. */
  filterRuns(wanted) {
    let shown = 0;
    for (const row of this.rows) {
      const run = head.runs[Number(row.dataset.run)];
      row.hidden = !`${run.id} ${run.team}`.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    return shown;
  }

  /** Make the means of the topics that fit; return how many do. */
  filterTopics(wanted) {
    const positions = head.topics.flatMap((topic, t) =>
      `${topic.id} ${topic.title}`.toLowerCase().includes(wanted) ? [t] : [],
    );
    const all = positions.length === head.topics.length;
    this.board.classList.toggle("of-some", !all);
    this.means = head.runs.map((run, r) =>
      run.means.map((each, m) => (all ? each.value : meanOver(m, r, positions))),
    );
    for (const row of this.rows) this.draw(row);
    this.order();
    return positions.length;
  }

  draw(row) {
    const cells = row.querySelectorAll("td.measure");
    this.means[Number(row.dataset.run)].forEach((value, m) => {
      cells[m].querySelector(".value").textContent = number(value);
      const { low, high } = this.heads.find((cell) => cell.dataset.key === String(m)).dataset;
      const at = value === null ? 0 : (98.4 * (value - low)) / (high - low);
      cells[m].querySelector(".length")?.setAttribute("width", Math.min(100, Math.max(0, at)));
      cells[m].querySelector(".at")?.setAttribute("x", Math.min(98.4, Math.max(0, at)));
    });
  }
}

function enhanceLeaderboard() {
  const view = new LeaderboardView(byId("board"));
  const said = { runs: "", topics: "" };
  const status = h("span", { class: "muted", role: "status" });
  const tell = (what, text) => {
    said[what] = text;
    status.textContent = [said.runs, said.topics].filter(Boolean).join("; ");
  };
  byId("leaderboard-tools").append(
    filterBox("Filter runs", (wanted) => {
      const shown = view.filterRuns(wanted);
      tell("runs", wanted && `${shown} of ${head.runs.length} runs`);
    }),
    filterBox("Filter topics", (wanted) => {
      const shown = view.filterTopics(wanted);
      tell(
        "topics",
        wanted && `means over ${shown} of ${head.topics.length} topics, without intervals`,
      );
    }),
    status,
  );
}
