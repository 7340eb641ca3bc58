// Tables that sort by their heads, with what lets them be filtered and taken along.

function scrolling(label, ...children) {
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": label, tabindex: "0" },
    children,
  );
}

function absent(value) {
  return value === null || value === undefined || value === "" || value === "?";
}

// Made once: a hundred thousand rows are compared by it.
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Rows in order of a key, those without a value last, whichever way the rest goes. */
function ordered(rows, key, downwards) {
  const way = downwards ? -1 : 1;
  const compared = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : COLLATOR.compare(a, b);
  return rows
    .map((row) => [key(row), row])
    .sort(([a], [b]) => absent(a) - absent(b) || (absent(a) ? 0 : way * compared(a, b)))
    .map(([, row]) => row);
}

const AT_ONCE = 200;

/**
 * A table that sorts by its heads. Columns: {name, key(row), cell(row), number, lower, header},
 * and what a head has `beside` its name.
 * Numbers are sorted downwards first, those of which less is better upwards. Of many rows the first
 * are shown, more on demand. With a `memory` the address keeps under this name how it is sorted.
 * On a phone a row is a card, of which a column that is `wide` takes a line. Whoever saves the rows
 * in other ways wants the table without its buttons for that, as not `taken`.
 */
function table(label, columns, rows, memory = "", { atOnce = AT_ONCE, taken = true } = {}) {
  const body = h("tbody");
  const more = h("p", { class: "more" });
  const sorted = memory && remembered(memory);
  const found = columns.findIndex((column) => column.name === sorted.replace(/^-/, ""));
  const state = {
    column: found < 0 ? null : found,
    downwards: sorted.startsWith("-"),
    shown: atOnce,
  };
  const inOrder = () => {
    const column = columns[state.column];
    return column ? ordered(rows, column.key, state.downwards) : rows;
  };
  const lines = () => {
    const kept = columns.filter((each) => each.key);
    return [
      kept.map((each) => each.name),
      ...inOrder().map((row) => kept.map((each) => (each.taken || each.key)(row))),
    ];
  };
  const cells = (row) =>
    columns.map((column) =>
      h(
        column.header ? "th" : "td",
        {
          class: column.number ? "number" : column.class,
          scope: column.header ? "row" : null,
          "data-label": column.name,
        },
        column.cell(row),
      ),
    );
  const draw = () => {
    const all = inOrder();
    fresh(
      body,
      all.slice(0, state.shown).map((row) => h("tr", null, cells(row))),
    );
    rove(body, "tr");
    heads.forEach((cell, i) =>
      cell.setAttribute(
        "aria-sort",
        i !== state.column ? "none" : state.downwards ? "descending" : "ascending",
      ),
    );
    const left = all.length - state.shown;
    fresh(
      more,
      left > 0 &&
        h(
          "button",
          {
            type: "button",
            click: () => {
              const next = state.shown;
              state.shown += AT_ONCE * 5;
              draw();
              // The button may be gone: go on where the new rows begin.
              body.rows[next]?.querySelector("a, button")?.focus();
            },
          },
          `Show ${Math.min(left, AT_ONCE * 5)} more of ${left}`,
        ),
    );
  };
  const heads = columns.map((column, i) =>
    h(
      "th",
      { scope: "col", class: column.number ? "number" : null },
      headOf(
        () => {
          state.downwards =
            state.column === i ? !state.downwards : Boolean(column.number && !column.lower);
          state.column = i;
          if (memory) remember(memory, `${state.downwards ? "-" : ""}${column.name}`);
          draw();
        },
        stacked(column.name),
        column.beside,
      ),
    ),
  );
  draw();
  const made = h("table", { class: "cards" }, h("thead", null, h("tr", null, heads)), body);
  return [taken && takeAlong(label, lines), freely(scrolling(label, made)), more];
}

/** What stands in a head: a button that sorts, and what is beside it, on its last line. */
function headOf(click, name, beside) {
  return h(
    "span",
    { class: "head" },
    h("button", { type: "button", class: "sort", click }, name),
    beside,
  );
}

/** Draw what the tools above it choose; what takes it along stands at their end. */
function drawUnder(tools, place, made) {
  fresh(place, made);
  const [old, takes] = [tools, place].map((part) => part.querySelector(":scope > .takes"));
  old?.remove();
  if (takes) tools.append(takes);
}

/** A box that filters rows by their text, and what is made of the rows. */
function filtered(label, rows, text, made, memory) {
  const place = h("div");
  const count = h("span", { class: "muted", role: "status" });
  const tools = h("div", { class: "tools" });
  const show = (wanted) => {
    const kept = rows.filter((row) => text(row).toLowerCase().includes(wanted));
    count.textContent = wanted ? `${kept.length} of ${rows.length}` : "";
    drawUnder(tools, place, made(kept));
  };
  add(tools, [filterBox(label, show, memory), count]);
  show(filterIn(memory));
  return [tools, place];
}

/** A column that leads to a judgment, whose run, topic, position and so on `of` gives. */
function placeColumn(of) {
  const nameOfPlace = ({ nugget, sentence }) => placeOf({ nugget, sentence_index: sentence });
  const opens = (row) => ({
    class: "opens",
    href: address("response", row.run, row.topic, row.at),
    "aria-label": `${nameOfPlace(row)} of ${cut(row.run)} on ${cut(row.topic)}`,
  });
  const on = (row) => row.on && h("small", { class: "on muted" }, oneLine(row.on));
  return {
    name: "Place",
    class: "place-cell",
    key: (row) => of(row).sentence ?? -1,
    taken: (row) => [nameOfPlace(of(row)), of(row).on].filter(Boolean).join(", "),
    cell: (row) => [h("a", opens(of(row)), nameOfPlace(of(row))), on(of(row))],
  };
}
