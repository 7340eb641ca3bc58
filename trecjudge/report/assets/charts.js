// The charts are in the page already: of those by measure one measure's are shown.

function enhanceCharts() {
  const figures = [...document.querySelectorAll("#charts figure")];
  const show = (i) => {
    for (const figure of figures)
      figure.hidden =
        figure.dataset.measure !== "" && figure.dataset.measure !== head.measures[i].name;
  };
  byId("charts-tools").append(measureChooser(rankedBy(), show));
  show(rankedBy());
}
