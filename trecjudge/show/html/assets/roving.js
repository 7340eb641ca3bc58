// Of a long list only one place is a stop of the Tab key: arrows go on from it.

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** What can be gone to in a row of a list; the evidence that lies in a row is no part of it. */
function stopsOf(row) {
  return [...row.querySelectorAll("a, button, summary")].filter((one) => {
    const apart = one.closest(".evidence, details:not([open]) > :not(summary)");
    return !apart || !row.contains(apart);
  });
}

/**
 * Let a list have one stop: up and down lead to its next row that is seen, to the sides along a
 * row. `rows` is a selector. Called again once other rows are shown.
 */
function rove(list, rows) {
  const shown = () =>
    [...list.querySelectorAll(rows)].filter((row) => !row.closest("[hidden]") && stopsOf(row)[0]);
  const every = shown().flatMap(stopsOf);
  for (const [i, stop] of every.entries()) stop.tabIndex = i ? -1 : 0;
  if (list.roves) return;
  list.roves = true;
  const hold = (stop) => {
    for (const row of list.querySelectorAll(rows))
      for (const held of stopsOf(row)) if (held !== stop) held.tabIndex = -1;
    stop.tabIndex = 0;
  };
  list.addEventListener("focusin", ({ target }) => {
    const row = target.closest(rows);
    if (row && stopsOf(row).includes(target)) hold(target);
  });
  list.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const row = event.target.closest(rows);
    if (!step || !row || event.ctrlKey || event.metaKey || event.altKey) return;
    const own = stopsOf(row);
    const at = own.indexOf(event.target);
    if (at < 0) return;
    const all = shown();
    const there = step[0] ? all[all.indexOf(row) + step[0]] : row;
    const next = there && stopsOf(there);
    const stop = step[0] ? next?.[Math.min(at, next.length - 1)] : own[at + step[1]];
    event.preventDefault();
    stop?.focus();
  });
}
