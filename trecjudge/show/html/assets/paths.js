// How ARGUE came to its verdict on a sentence: question by question, and what it led to.

/** The paths that a response shows: of the chosen judge, else of the first that has some. */
function pathsOf({ entry, judge }) {
  const paths = entry.paths || {};
  return paths[judge] || Object.values(paths)[0] || [];
}

function pathShown(view, index) {
  const path = pathsOf(view).find(({ sentence }) => sentence === index);
  if (!path) return null;
  const [tone, word] = head.outcomes[path.outcome];
  return h(
    "details",
    { class: "path" },
    h("summary", { "aria-label": `how it was judged, sentence ${index + 1}` }, "how it was judged"),
    h(
      "ol",
      null,
      path.steps.map((step) => h("li", null, pathStep(view, path, step))),
    ),
    h("p", null, "→ ", badge(tone, word)),
  );
}

function pathStep({ entry }, path, [question, answer, reason]) {
  const stated = ["states", "confirmed"].includes(question) && path.stated;
  return [
    head.asked[question],
    " ",
    answer === null ? badge("unjudged") : h("b", null, answer ? "yes" : "no"),
    reason && h("span", { class: "muted" }, " ", prose(reason)),
    stated &&
      h(
        "ul",
        null,
        stated.map((i) => {
          const judgment = entry.judgments[i];
          const why =
            judgment.reason && h("small", { class: "muted" }, " ", prose(judgment.reason));
          return h("li", null, nuggetShown(judgment.nugget), why);
        }),
      ),
  ];
}

/** Open the path of the sentence that was chosen, and close the one opened so before. */
function openPath(view, index) {
  if (view.openedPath) view.openedPath.open = false;
  const path = view.list.querySelector(`[data-sentence="${index}"] .path`);
  view.openedPath = path && !path.open ? path : null;
  if (path) path.open = true;
}
