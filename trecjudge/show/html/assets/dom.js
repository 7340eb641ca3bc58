// Elements out of data. Text becomes text nodes and nothing else: no markup is ever parsed.

// What steers the direction of text, or a terminal, is shown instead of obeyed.
const STEERING =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const STEERING_PARTS = new RegExp(`(${STEERING.source}+)`);
const MOST_STEERING = 12;
const MOST_PARTS = 400;

/** Characters that steer, escaped; of many in a row the first few and their number. */
function escaped(run) {
  const codes = [...run.slice(0, MOST_STEERING)].map(
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return codes.join("") + (run.length > MOST_STEERING ? `… (${run.length} of them)` : "");
}

/** Text for an attribute, without characters that steer. */
function visible(text) {
  return String(text)
    .split(STEERING_PARTS)
    .map((part) => (STEERING.test(part) ? escaped(part) : part))
    .join("");
}

/** Nodes for a text, characters that steer as marked escapes; of a flood of them unmarked ones. */
function nodes(text) {
  const whole = String(text);
  if (!STEERING.test(whole)) return [document.createTextNode(whole)];
  const parts = whole.split(STEERING_PARTS);
  if (parts.length > MOST_PARTS) return [document.createTextNode(visible(whole))];
  return parts.map((part) => {
    if (!STEERING.test(part)) return document.createTextNode(part);
    const title = `${part.length} control ${part.length === 1 ? "character" : "characters"}`;
    return h("span", { class: "steer", title }, escaped(part));
  });
}

/** An element: attributes by name, functions as listeners, children as nodes, text or lists. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    // One by one: as arguments of a single call a text of many parts would overflow the stack.
    for (const node of child instanceof Node ? [child] : nodes(child)) element.append(node);
  }
  return element;
}

/** Text of a run or a document: its direction is its own, and stays inside. */
function prose(text, attributes) {
  return h("span", { dir: "auto", ...attributes, class: `prose ${attributes?.class || ""}` }, text);
}

const LONGEST = 60;

/** A name of whatever length as one that fits; the whole of it goes into a title. */
function cut(name) {
  if (head && Object.hasOwn(head.shown, name)) return head.shown[name];
  const characters = [...String(name).slice(0, LONGEST * 2)];
  return String(name).length <= LONGEST || characters.length <= LONGEST
    ? String(name)
    : `${characters.slice(0, LONGEST - 1).join("")}…`;
}

/** A name of a run, topic or document: its direction stays inside; it may break after each _. */
function named(name, tag = "bdi") {
  const shown = cut(name);
  return h(tag, { title: shown === String(name) ? null : name }, stacked(shown));
}

/** A name on one line, cut by the width that there is; the whole of it is in its title. */
function oneLine(name) {
  const element = named(name);
  element.classList.add("one-line");
  element.title = visible(name);
  return element;
}

/** A name of a measure or column that may break after each _. */
function stacked(name) {
  return String(name)
    .split(/(?<=_)/)
    .map((part, i) => [i > 0 && h("wbr"), part]);
}

/** A number with its noun, in the plural if it is not one. */
function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function fresh(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

function byId(id) {
  return document.getElementById(id);
}

/** An address inside the page. */
function address(...parts) {
  return `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}
