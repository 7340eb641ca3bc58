// Elements out of data. Text becomes text nodes and nothing else: no markup is ever parsed.

// What steers the direction of text, or a terminal, is shown instead of obeyed.
const STEERING = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const STEERING_PARTS = new RegExp(`(${STEERING.source})`);

function escaped(character) {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

/** Text for an attribute, without characters that steer. */
function visible(text) {
  return String(text)
    .split(STEERING_PARTS)
    .map((part) => (STEERING.test(part) ? escaped(part) : part))
    .join("");
}

/** Nodes for a text, characters that steer as marked escapes. */
function nodes(text) {
  const whole = String(text);
  if (!STEERING.test(whole)) return [document.createTextNode(whole)];
  return whole.split(STEERING_PARTS).map((part) => {
    if (!STEERING.test(part)) return document.createTextNode(part);
    const code = part.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return h("span", { class: "steer", title: `control character U+${code}` }, escaped(part));
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
    if (child instanceof Node) element.append(child);
    else element.append(...nodes(child));
  }
  return element;
}

/** Text of a run or a document: its direction is its own, and stays inside. */
function said(text, attributes) {
  return h("span", { dir: "auto", ...attributes, class: `said ${attributes?.class || ""}` }, text);
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
