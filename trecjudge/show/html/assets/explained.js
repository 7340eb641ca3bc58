// What a measure counts, where its name stands: a mark that opens a few words, by pointer or key.

const ABOUT = "about-measure";

/** A mark beside a measure's name; none where nothing is known of it. */
function aboutMeasure(measure) {
  if (!measure?.description) return null;
  const shown = { title: measure.description, "aria-label": `What ${measure.name} counts` };
  return markThat(shown, () => measure);
}

/** A mark beside a list of measures, for the one that is chosen. */
function aboutChosen(list) {
  if (!head.measures.some(({ description }) => description)) return null;
  const shown = { "aria-label": "What the chosen measure counts" };
  return markThat(shown, () => head.measures[list.querySelector("select").value]);
}

function markThat(shown, measure) {
  const opens = (event) => explain(measure(), event.currentTarget);
  const fixed = { type: "button", class: "about", popovertarget: ABOUT, click: opens };
  return h("button", { ...fixed, ...shown }, "?");
}

function explain(measure, mark) {
  const box = byId(ABOUT);
  fresh(
    box,
    h("p", null, h("b", null, named(measure.name))),
    h("p", null, measure.description || "Whoever made this measure says nothing of it."),
    measure.judge && h("p", { class: "muted" }, "Judge: ", named(measure.judge)),
    h("p", null, h("a", { href: "#/about" }, "All measures")),
  );
  const { left, bottom } = mark.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const width = Math.min(352, room - 16); // 22rem, less on a phone
  box.style.width = `${width}px`;
  box.style.left = `${Math.max(8, Math.min(left, room - width - 8))}px`;
  box.style.top = `${Math.min(bottom + 4, innerHeight - 160)}px`;
}

/** The box of all marks. */
function enhanceMeasures() {
  const closes = (event) => event.target.closest("a") && event.currentTarget.hidePopover();
  const box = h("div", { id: ABOUT, class: "about-box", popover: "auto", click: closes });
  byId("main").append(box);
  // It stands at its mark: when that moves or goes, so does it.
  window.addEventListener("hashchange", () => box.hidePopover());
  document.addEventListener("scroll", () => box.hidePopover(), { capture: true, passive: true });
}
