// The charts are in the page already: of those by measure one measure's are shown.

/** Show a section's charts of the measure in the address; the first time they get their tools. */
function showCharts(section) {
  section.showMeasure ||= enhanceCharts(section);
  section.showMeasure();
}

function enhanceCharts(section) {
  const figures = [...section.querySelectorAll("figure")];
  for (const figure of figures) {
    const measure = head.measures.find(({ name }) => name === figure.dataset.measure);
    const mark = aboutMeasure(measure);
    if (mark) figure.querySelector("figcaption b").after(" ", mark);
    const title = figure.querySelector("figcaption b").textContent;
    const table = figure.querySelector("table");
    figure
      .querySelector("figcaption")
      .append(h("span", { class: "takes" }, takeChart(title, figure)));
    table?.parentNode.before(takeAlong(title, () => cellsOf(table)));
  }
  const show = (i) => {
    for (const figure of figures)
      figure.hidden =
        figure.dataset.measure !== "" && figure.dataset.measure !== head.measures[i].name;
    // Two stand side by side; the last of an odd number has the width for itself.
    const beside = figures.filter((each) => !each.hidden && !each.classList.contains("across"));
    for (const figure of figures)
      figure.classList.toggle("last", beside.length % 2 === 1 && figure === beside.at(-1));
  };
  const names = head.measures.map((measure) => measure.name);
  const drawn = new Set(figures.map(({ dataset }) => dataset.measure));
  const first = drawn.has(head.ranked_by)
    ? rankedBy()
    : Math.max(0, names.findIndex((name) => drawn.has(name)));
  const chooser = measureChooser(first, (i) => {
    remember("measure", names[i]);
    show(i);
  });
  section.querySelector(".tools").append(chooser);
  return () => {
    const chosen = chosenIn("measure", names, first);
    chooser.querySelector("select").value = chosen;
    show(chosen);
  };
}
