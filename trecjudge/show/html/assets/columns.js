// Which columns of the leaderboard are shown, in what order: chosen in a menu, kept in the address.

const ON_PHONE = "(max-width: 40rem)";

class Columns {
  /** `heads` are the cells of the head row; the first two, place and run, stay where they are. */
  constructor(board, heads) {
    this.board = board;
    this.rows = [board.tHead.rows[0], ...board.tBodies[0].rows];
    for (const row of this.rows) row.every = [...row.cells];
    this.keys = heads.slice(2).map((cell) => nameOf(cell));
    this.order = this.keys;
    this.list = h("ul");
    this.count = h("span");
    this.menu = h(
      "details",
      { class: "menu", keydown: (event) => this.close(event) },
      h("summary", null, "Columns ", this.count),
      h(
        "div",
        { class: "menu-panel" },
        h("button", { type: "button", click: () => this.choose(this.keys) }, "All"),
        " ",
        h("button", { type: "button", click: () => this.choose(null) }, "Default"),
        this.list,
      ),
    );
  }

  /** The columns at first: on a phone the one that ranks, and counts where something is missing. */
  first() {
    const counts = { responses: "expected_responses", judged: "expected" };
    const missing = ([count, all]) => head.runs.some((run) => run[count] < run[all]);
    const said = this.keys.filter((key) => key === "language" || Object.hasOwn(head.gaming, key));
    if (!matchMedia(ON_PHONE).matches)
      return [...leadingMeasures(), ...Object.keys(counts), ...said];
    const short = Object.entries(counts).filter(missing);
    return [head.ranked_by, ...short.map(([count]) => count)];
  }

  /** Show these columns in this order, those of the start where it is null; keep that. */
  choose(shown) {
    remember("columns", shown ? shown.map(encodeURIComponent).join(",") : "");
    this.restore();
  }

  restore() {
    const given = remembered("columns").split(",").filter(Boolean);
    const known = given.map(columnNamed).filter((name) => this.keys.includes(name));
    this.asked = known.length > 0;
    this.show(this.asked ? [...new Set(known)] : this.first());
    this.fold();
  }

  /** Choose again how many measures have room, where nobody chose columns. */
  fit() {
    if (this.asked || !this.board.offsetWidth) return;
    this.show(this.first());
    this.fold();
  }

  /** Where nobody chose columns: leave out the last measures that the width has no room for. */
  fold() {
    const box = this.board.parentNode;
    const leaves = () =>
      this.shown.findLast(
        (key) => key !== head.ranked_by && head.measures.some(({ name }) => name === key),
      );
    while (!this.asked && this.board.offsetWidth > box.clientWidth + 1 && leaves()) {
      const last = leaves();
      this.show(this.shown.filter((key) => key !== last));
    }
  }

  show(shown) {
    this.shown = shown;
    const rest = this.keys.filter((key) => !this.shown.includes(key));
    const order = [...this.shown, ...rest];
    const places = order.map((key) => 2 + this.keys.indexOf(key));
    const moved = order.some((key, i) => key !== this.order[i]);
    for (const row of this.rows) {
      const cells = places.map((at) => row.every[at]);
      cells.forEach((cell, i) => (cell.hidden = i >= this.shown.length));
      if (moved) row.append(...cells);
    }
    this.order = order;
    this.draw(order);
  }

  draw(order) {
    this.count.textContent = `${this.shown.length} of ${this.keys.length}`;
    fresh(
      this.list,
      order.map((key) => this.line(key)),
    );
  }

  line(key) {
    const at = this.shown.indexOf(key);
    const toggle = () => {
      const shown = at < 0 ? [...this.shown, key] : this.shown.filter((each) => each !== key);
      this.again(key, "input", shown);
    };
    const move = (by) => () => {
      const shown = this.shown.filter((each) => each !== key);
      shown.splice(at + by, 0, key);
      this.again(key, by < 0 ? ".before" : ".after", shown);
    };
    const arrow = (by, name, text, can) =>
      h(
        "button",
        {
          type: "button",
          class: `step ${by < 0 ? "before" : "after"}`,
          disabled: !can,
          "aria-label": `Move ${key} ${name}`,
          click: move(by),
        },
        text,
      );
    const last = at >= 0 && this.shown.length === 1;
    return h(
      "li",
      { "data-column": key },
      h(
        "label",
        null,
        h("input", { type: "checkbox", checked: at >= 0, disabled: last, change: toggle }),
        " ",
        columnLabel(key),
      ),
      at >= 0 && [
        arrow(-1, "to the left", "↑", at > 0),
        arrow(1, "to the right", "↓", at < this.shown.length - 1),
      ],
    );
  }

  /** Choose, and keep the focus where it was: the list is drawn anew. */
  again(key, part, shown) {
    this.choose(shown);
    const line = this.list.querySelector(`[data-column="${CSS.escape(key)}"]`);
    const wanted = line.querySelector(part);
    (wanted && !wanted.disabled ? wanted : line.querySelector("button:enabled, input")).focus();
  }

  close(event) {
    if (event.key !== "Escape") return;
    this.menu.open = false;
    this.menu.querySelector("summary").focus();
  }
}

/** A column's name for people: of a measure also whether less of it is better. */
function columnLabel(key) {
  const measure = head.measures.find(({ name }) => name === key);
  return measure ? measureLabel(measure) : key.replace(/^./, (letter) => letter.toUpperCase());
}

/** A name as it was before it went into the address; empty where that was broken. */
function columnNamed(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return "";
  }
}
