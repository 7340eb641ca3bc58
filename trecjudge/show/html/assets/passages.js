// A document to look into: its text with the passage that was looked at, and what is searched for.

const MOST_HITS = 500;

/** The places of a text in another, whatever their case, as [start, end]. */
function hitsOf(wanted, text) {
  if (!wanted) return [];
  const plain = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
  const found = [];
  for (const hit of text.matchAll(plain)) {
    found.push([hit.index, hit.index + hit[0].length]);
    if (found.length === MOST_HITS) break;
  }
  return found;
}

/** A text as nodes, the passage looked at and the hits marked; these may overlap. */
function marked(text, looked, hits) {
  const cuts = new Set([0, text.length, ...(looked || []), ...hits.flat()]);
  const edges = [...cuts].sort((a, b) => a - b);
  let next = 0;
  return edges.slice(0, -1).map((start, i) => {
    const part = text.slice(start, edges[i + 1]);
    while (next < hits.length && hits[next][1] <= start) next += 1;
    const hit = next < hits.length && hits[next][0] <= start;
    const seen = looked && looked[0] <= start && start < looked[1];
    if (!hit && !seen) return part;
    return h("mark", { class: hit ? "hit" : null, "data-hit": hit ? next : null }, part);
  });
}

/** The panel of a document: `passage()` is what is chosen in it, `search` the field to look in. */
function documentPanel(held, looked) {
  const text = held.text; // its title is the first line
  const range = looked && units(text, looked);
  const body = h("div", { class: "whole prose", dir: "auto", tabindex: "0", role: "region" });
  body.setAttribute("aria-label", "Text of the document");
  const search = h("input", { type: "search", "aria-label": "Search in the document" });
  search.placeholder = "Search in the document (/)";
  const status = h("span", { role: "status", class: "muted" });
  let hits = [];
  let now = 0;

  function jump(way) {
    if (!hits.length) return;
    now = (now + way + hits.length) % hits.length;
    for (const mark of body.querySelectorAll("mark.hit"))
      mark.classList.toggle("now", Number(mark.dataset.hit) === now);
    body.querySelector("mark.now")?.scrollIntoView({ block: "nearest" });
    status.textContent = `${now + 1} of ${hits.length}${hits.length === MOST_HITS ? " or more" : ""}`;
  }
  function draw() {
    hits = hitsOf(search.value.trim(), text);
    now = 0;
    fresh(body, marked(text, range, hits));
    status.textContent = search.value.trim() ? "not there" : "";
    jump(0);
  }
  function passage() {
    const chosen = getSelection();
    if (String(chosen).trim() && body.contains(chosen.anchorNode) && body.contains(chosen.focusNode))
      return String(chosen).trim();
    const [start, end] = hits[now] || range || [0, 0];
    return text.slice(start, end).trim();
  }
  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") jump(event.shiftKey ? -1 : 1);
  });
  draw();
  const element = [
    h("h2", {}, "The document"),
    h("p", { class: "small muted" }, named(held.id), held.date && ` · ${held.date}`,
      range && " · marked: where the judge looked first"),
    h("p", { class: "moves" }, search, status),
    body,
  ];
  const shown = () => body.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  return { element, passage, search, shown };
}
