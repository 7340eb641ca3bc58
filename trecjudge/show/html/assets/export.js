// What a view shows, to take along: tables as CSV or in the clipboard, charts as SVG.

// As the job's own CSV: what a spreadsheet would calculate has a mark before it.
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function safeCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}

function csvLine(cells) {
  const quoted = (text) => (/[,;"\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${cells.map((cell) => quoted(safeCell(cell))).join(",")}\n`;
}

/** Lines that a spreadsheet takes when they are pasted. */
function pasteLine(cells) {
  return `${cells.map((cell) => safeCell(cell).replace(/[\t\r\n]+/g, " ")).join("\t")}\n`;
}

/** Hands a file to whoever reads the page. */
function save(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Where the page may not write to the clipboard itself, a selection still can be copied.
    const box = h("textarea", { class: "hidden", "aria-hidden": "true", tabindex: "-1" });
    box.value = text;
    document.body.append(box);
    const before = document.activeElement;
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    before?.focus({ preventScroll: true });
    if (!done) throw new Error("not copied");
  }
}

/** A file's name: of the job and of what is shown. */
function fileName(label, ending) {
  const safe = label.replace(/[^\p{L}\p{N}_.+-]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${head.name}.${safe.slice(0, 80).toLowerCase()}.${ending}`;
}

function takeButton(form, label, click) {
  return h(
    "button",
    { type: "button", class: "take", "aria-label": `${form}: ${label}`, click },
    form,
  );
}

/**
 * Buttons that save or copy rows of cells, heads first; `rows` makes them when asked. `others` are
 * further forms to save, by name.
 */
function takeAlong(label, rows, others = {}) {
  const status = h("span", { role: "status", class: "muted" });
  const copy = async () => {
    try {
      await copyText((await rows()).map(pasteLine).join(""));
      status.textContent = "copied";
    } catch {
      status.textContent = "cannot be copied here: take the CSV";
    }
    setTimeout(() => (status.textContent = ""), 4000);
  };
  const csv = async () => save(fileName(label, "csv"), "text/csv", (await rows()).map(csvLine));
  return h(
    "span",
    { class: "takes" },
    takeButton("CSV", label, csv),
    Object.entries(others).map(([form, click]) => takeButton(form, label, click)),
    takeButton("Copy", label, copy),
    status,
  );
}

/** The cells of a table that is in the page already. */
function cellsOf(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
}

const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-size",
  "font-family",
  "font-weight",
];

/** A chart as a file of its own: its colours are written into it. */
function svgText(chart) {
  const copy = chart.cloneNode(true);
  const [from, to] = [chart, copy].map((svg) => [svg, ...svg.querySelectorAll("*")]);
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of DRAWN) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  const { width, height } = chart.viewBox.baseVal;
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const colour = getComputedStyle(chart.closest(".scroll")).backgroundColor;
  for (const [name, value] of Object.entries({ width, height, fill: colour }))
    ground.setAttribute(name, value);
  copy.prepend(ground);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.removeAttribute("class");
  return new XMLSerializer().serializeToString(copy);
}

function takeChart(label, figure) {
  // Of its two sizes the one that is shown.
  const chart = () => [...figure.querySelectorAll("svg")].find((svg) => svg.clientWidth > 0);
  const click = () => save(fileName(label, "svg"), "image/svg+xml", [svgText(chart())]);
  return takeButton("SVG", label, click);
}
