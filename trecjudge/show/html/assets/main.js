// Which view an address shows: #/response/RUN/TOPIC/JUDGMENT and so on.

const VIEWS = {
  run: (parts) => runView(parts[0]),
  topics: () => topicsView(),
  topic: (parts) => topicView(parts[0]),
  heat: (parts) => heatView(parts[0]),
  response: (parts) => responseView(...parts),
  nuggets: (parts) => nuggetsView(parts[0]),
  findings: (parts) => findingsView(parts[0]),
  compare: () => compareView(),
  judgments: () => judgmentsView(),
};
const STATIC = ["leaderboard", "charts", "job"];
const TABS = { run: "leaderboard", topic: "topics" };
/** What a view that is in the page already takes from its address. */
const RESTORED = { leaderboard: () => {}, charts: showCharts };
let showing = { key: "", update: null };
/** The entry of the navigation that a response was reached from. */
let lit = "topics";

function parts() {
  try {
    return location.hash
      .split("?")[0]
      .replace(/^#\/?/, "")
      .split("/")
      .filter(Boolean)
      .map(decodeURIComponent);
  } catch {
    return [];
  }
}

async function route(arriving) {
  const [name = "leaderboard", ...rest] = parts();
  const key = JSON.stringify([name, rest.slice(0, name === "response" ? 2 : 9)]);
  if (key === showing.key && showing.update && rest[2] !== undefined) {
    showing.update(rest[2]);
    return;
  }
  const screen = byId("screen");
  showing = { key, update: null };
  let made = [];
  const make = Object.hasOwn(VIEWS, name) && VIEWS[name];
  if (make) {
    try {
      made = await make(rest);
    } catch (error) {
      made = [h("h1", null, "This cannot be shown"), h("p", { class: "note" }, error.message)];
    }
    if (showing.key !== key) return; // somebody went on meanwhile
    if (made.shown) {
      showing.update = made.update;
      made = made.shown;
    }
  }
  // Whoever goes from one to the next by a list stays in that list.
  const list = document.activeElement?.closest(".stepper select");
  const lists = () => [...screen.querySelectorAll(".stepper select")];
  const at = lists().indexOf(list);
  const view = make ? "screen" : STATIC.includes(name) ? name : "leaderboard";
  fresh(screen, made);
  RESTORED[view]?.();
  for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== view;
  mark(name === "response" ? lit : TABS[name] || (view === "screen" ? name : view));
  document.title = `${document.querySelector(`#${view} h1`).textContent} · ${head.name}`;
  if (!arriving) {
    window.scrollTo(0, 0);
    (lists()[at] || byId("main")).focus({ preventScroll: true });
  }
  if (name === "response" && rest[2])
    screen.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "center" });
}

function mark(tab) {
  lit = tab;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function enhanceTheme() {
  const themes = ["auto", "light", "dark"];
  const button = byId("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const next =
      themes[
        (themes.indexOf(document.documentElement.dataset.theme || "auto") + 1) % themes.length
      ];
    document.documentElement.dataset.theme = next;
    button.textContent = `Theme: ${next}`;
  });
}

/** The link that skips the head must not pass for an address of a view. */
function enhanceSkip() {
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
}

async function start() {
  await readHead();
  enhanceSkip();
  enhanceTheme();
  enhanceKeys();
  RESTORED.leaderboard = enhanceLeaderboard();
  enhanceMeasures();
  window.addEventListener("hashchange", () => route(false));
  await route(true);
  document.documentElement.dataset.ready = "yes";
}

// Whatever stops the scripts, the leaderboard and the charts are there without them.
start().catch((error) => {
  const old = typeof DecompressionStream === "undefined";
  const why = old ? "this browser cannot unpack it; take a newer one" : error.message;
  byId("leaderboard").prepend(h("p", { class: "note" }, `The detail cannot be read: ${why}`));
  for (const section of document.querySelectorAll("#charts, #screen")) section.hidden = false;
  document.documentElement.dataset.ready = "without detail";
});
