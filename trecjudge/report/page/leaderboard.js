// The leaderboard is in the page already: here its heads learn to sort and its rows to filter.

function enhanceLeaderboard() {
  const board = byId("board");
  const body = board.tBodies[0];
  const rows = [...body.rows];
  const keys = {
    place: (i) => i,
    id: (i) => head.runs[i].id,
    responses: (i) => head.runs[i].responses,
    judged: (i) => head.runs[i].judged,
  };
  const heads = [...board.tHead.rows[0].cells];
  const sort = (cell) => {
    const name = cell.dataset.key;
    const key = keys[name] || ((i) => head.runs[i].means[Number(name)].value);
    const first = name === "place" || name === "id" ? "ascending" : "descending";
    const other = first === "ascending" ? "descending" : "ascending";
    const direction = cell.getAttribute("aria-sort") === first ? other : first;
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    cell.setAttribute("aria-sort", direction);
    const order = ordered(rows, (row) => key(Number(row.dataset.run)), direction === "descending");
    body.append(...order);
  };
  for (const cell of heads) {
    const button = h("button", { type: "button", class: "sort", click: () => sort(cell) });
    button.append(...cell.childNodes);
    cell.append(button);
  }
  const count = h("span", { class: "muted", role: "status" });
  byId("leaderboard-tools").append(filterBox("Filter runs", (wanted) => {
    let shown = 0;
    for (const row of rows) {
      const run = head.runs[Number(row.dataset.run)];
      row.hidden = !`${run.id} ${run.team}`.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    count.textContent = wanted ? `${shown} of ${rows.length} runs` : "";
  }), count);
}
