// Parts that several views are made of: numbers, signs, tables, filters.

function number(value) {
  if (typeof value !== "number")
    return value === "?" ? "unjudged" : value === "" ? "no response" : "n/a";
  return Math.abs(value) < 10 ? value.toFixed(3) : value.toFixed(1);
}

/** Whether unjudged items could move a mean. */
function isOpen(mean) {
  return mean.lowest !== mean.highest;
}

/** A mean's value; unjudged is not the same as not defined. */
function valueOf(mean) {
  return mean.unjudged ? "?" : mean.value;
}

/** A measure's name, and whether less of it is better. */
function measureLabel(measure) {
  return measure.lower_is_better ? `${measure.name} (lower is better)` : measure.name;
}

/** A mean with the bounds that unjudged items leave it. */
function meanShown(mean, format = number) {
  const bounds = isOpen(mean) && `${format(mean.lowest)} to ${format(mean.highest)}`;
  return [format(valueOf(mean)), bounds && h("small", { class: "bounds muted" }, bounds)];
}

function sign(tone) {
  return h("span", { class: `sign ${tone}`, "aria-hidden": "true" }, head.signs[tone]);
}

/** A label as sign and word. */
function badge(tone, word) {
  return h(
    "span",
    { class: `badge ${tone}` },
    sign(tone),
    " ",
    (word && cut(word)) || head.meanings[tone],
  );
}

/** A mark beside the sign of what has several judgments: one of them is unjudged. */
function openMark() {
  const title = "something of it is unjudged";
  return h("span", { class: "sign unjudged", title, "aria-hidden": "true" }, head.signs.unjudged);
}

function legend(tones) {
  return h(
    "ul",
    { class: "legend", "aria-label": "Signs" },
    tones.map(([tone, count]) =>
      h("li", null, badge(tone), count === undefined ? null : ` ${count}`),
    ),
  );
}

/** A box to filter by, whose text is kept in the address under the name `memory`. */
function filterBox(label, changed, memory) {
  return h(
    "label",
    { class: "tool" },
    label,
    " ",
    h("input", {
      type: "search",
      value: remembered(memory),
      input: (event) => {
        remember(memory, event.target.value.trim());
        changed(event.target.value.trim().toLowerCase());
      },
    }),
  );
}

function chooser(label, names, chosen, changed) {
  const options = names.map((name, i) =>
    h("option", { value: i, selected: i === chosen }, cut(name)),
  );
  return h(
    "label",
    { class: "tool" },
    label,
    " ",
    h("select", { change: (event) => changed(Number(event.target.value)) }, options),
  );
}

function measureChooser(chosen, changed) {
  const list = chooser("Measure", head.measures.map(measureLabel), chosen, changed);
  return h("span", { class: "tool" }, list, " ", aboutChosen(list));
}

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
    typeof a === "number" && typeof b === "number"
      ? a - b
      : COLLATOR.compare(a, b);
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
 * With `cards` a row is a card on a phone: a column's `wide` takes a line of it.
 */
function table(label, columns, rows, memory = "", { cards = false, atOnce = AT_ONCE } = {}) {
  const body = h("tbody");
  const more = h("p", { class: "more" });
  const sorted = memory && remembered(memory);
  const found = columns.findIndex((column) => column.name === sorted.replace(/^-/, ""));
  const state = {
    column: found < 0 ? null : found,
    downwards: sorted.startsWith("-"),
    shown: atOnce,
  };
  const taken = () => {
    const column = columns[state.column];
    const all = column ? ordered(rows, column.key, state.downwards) : rows;
    const kept = columns.filter((each) => each.key);
    return [
      kept.map((each) => each.name),
      ...all.map((row) => kept.map((each) => (each.taken || each.key)(row))),
    ];
  };
  const cells = (row) =>
    columns.map((column) =>
      h(
        column.header ? "th" : "td",
        {
          class: column.number ? "number" : column.class,
          scope: column.header ? "row" : null,
          "data-label": cards && column.name,
        },
        column.cell(row),
      ),
    );
  const draw = () => {
    const column = columns[state.column];
    const all = column ? ordered(rows, column.key, state.downwards) : rows;
    fresh(
      body,
      all.slice(0, state.shown).map((row) => h("tr", null, cells(row))),
    );
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
      h(
        "button",
        {
          type: "button",
          class: "sort",
          click: () => {
            state.downwards =
              state.column === i ? !state.downwards : Boolean(column.number && !column.lower);
            state.column = i;
            if (memory) remember(memory, `${state.downwards ? "-" : ""}${column.name}`);
            draw();
          },
        },
        column.name,
      ),
      column.beside,
    ),
  );
  draw();
  const made = h("table", { class: cards && "cards" }, h("thead", null, h("tr", null, heads)), body);
  return [takeAlong(label, taken), scrolling(label, made), more];
}

function runLink(runId) {
  return h("a", { href: address("run", runId) }, named(runId));
}

function responseLink(runId, topicId, ...shown) {
  return h("a", { href: address("response", runId, topicId) }, shown);
}

/**
 * A list that leads elsewhere goes there when it is asked to: arrow keys only choose, Enter or
 * leaving the list goes on, and so does the pointer.
 */
function leadOn(select, go) {
  let byKey = false;
  const leave = () => go(Number(select.value));
  select.addEventListener("pointerdown", () => (byKey = false));
  select.addEventListener("keydown", (event) => {
    byKey = true;
    if (event.key !== "Enter") return;
    event.preventDefault();
    leave();
  });
  select.addEventListener("change", () => byKey || leave());
  select.addEventListener("blur", () => document.hasFocus() && leave());
}

/** Links to what comes before and after, with a list to choose from. */
function stepper(label, ids, names, current, where) {
  const at = ids.indexOf(current);
  const step = (to, text, label) =>
    ids[to] === undefined
      ? h("span", { class: "step muted", "aria-hidden": "true" }, text)
      : h("a", { class: "step", href: where(ids[to]), "aria-label": label }, text);
  const list = chooser(label, names, at, () => {});
  leadOn(list.querySelector("select"), (i) => {
    if (i !== at) location.hash = where(ids[i]).slice(1);
  });
  return h(
    "span",
    { class: "stepper" },
    step(at - 1, "‹", `Previous ${label.toLowerCase()}`),
    list,
    step(at + 1, "›", `Next ${label.toLowerCase()}`),
  );
}
