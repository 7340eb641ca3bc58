// Large tables scroll with the page: no box in it scrolls up and down. Their heads stay in sight.

/** Lift the heads of tables that are too wide for the page: they scroll sideways in a box. */
function liftHeads() {
  for (const box of document.querySelectorAll(".freely:not(.fits)")) {
    const table = box.querySelector("table");
    const { tHead } = table;
    const { top, height } = table.getBoundingClientRect();
    const by = Math.min(-top, height - tHead.offsetHeight * 2);
    tHead.style.transform = by > 0 ? `translateY(${by}px)` : "";
  }
}

function fitBox(box) {
  if (!box.isConnected) return; // its view is gone
  const table = box.querySelector("table");
  // A pixel more: widths are rounded.
  const fits = table.offsetWidth <= box.parentNode.clientWidth + 1;
  box.classList.toggle("fits", fits);
  if (fits) table.tHead.style.transform = "";
  else liftHeads();
}

const watched = new ResizeObserver((entries) => {
  for (const { target } of entries) fitBox(target.closest(".freely"));
});
window.addEventListener("scroll", liftHeads, { passive: true });

/** Let a box with a table scroll with the page, sideways in itself where it is too wide. */
function freely(box) {
  box.classList.add("freely");
  watched.observe(box);
  watched.observe(box.querySelector("table"));
  return box;
}
