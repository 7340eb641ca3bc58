// Which view an address shows: #/response/RUN/TOPIC/JUDGMENT and so on.

const VIEWS = {
  run: (parts) => runView(parts[0]),
  topics: () => topicsView(),
  topic: (parts) => topicView(parts[0]),
  heat: (parts) => heatView(parts[0]),
  battles: (parts) => battlesView(...parts),
  response: (parts) => responseView(...parts),
  nuggets: (parts) => nuggetsView(parts[0]),
  findings: (parts) => findingsView(parts[0]),
  compare: () => compareView(),
  failures: () => failuresView(),
};
const STATIC = ["home", "runs", "charts", "agreement", "about"];
/** The entry of the navigation that a view belongs to, where that is another. */
const TABS = {
  ...{ run: "runs", heat: "runs", battles: "runs", charts: "runs", topic: "topics" },
  ...{ compare: "agreement", findings: "about" },
};
/** What a view that is in the page already takes from its address. */
const RESTORED = { home: showCards, runs: () => {} };
for (const view of ["charts", "agreement"]) RESTORED[view] = () => showCharts(byId(view));
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

/** Go on from the address of a view in an earlier report to where its content is now. */
function moveOn() {
  const [path, settings = ""] = location.hash.split("?");
  const [name = ""] = parts();
  const moved = { "": settings && "runs", leaderboard: "runs", job: "about", judgments: "failures" };
  if (!Object.hasOwn(moved, name) || !moved[name]) return;
  const wanted = new URLSearchParams(settings);
  if (name === "judgments" && !wanted.get("label")) wanted.set("label", "all");
  const rest = path.split("/").slice(2);
  const to = ["#", moved[name], ...rest].join("/") + (wanted.size ? `?${wanted}` : "");
  history.replaceState(null, "", to);
}

async function route(arriving) {
  moveOn();
  const [name = "home", ...rest] = parts();
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
  const view = make ? "screen" : STATIC.includes(name) ? name : "home";
  fresh(screen, made);
  for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== view;
  const own = view === "screen" ? name : view;
  mark(name === "response" ? lit : TABS[own] || own, own);
  await RESTORED[view]?.();
  document.title = `${document.querySelector(`#${view} h1`).textContent} · ${head.name}`;
  if (!arriving) {
    window.scrollTo(0, 0);
    (lists()[at] || byId("main")).focus({ preventScroll: true });
  }
  if (name === "response" && rest[2])
    screen.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "center" });
}

/** Light the entry of the navigation, and show the parts that it has, with the view among them. */
function mark(tab, view) {
  lit = tab;
  for (const part of document.querySelectorAll(".within"))
    part.hidden = part.dataset.of !== tab || view === "run" || view === "response";
  for (const link of document.querySelectorAll("nav a")) {
    const current = link.closest(".within") ? view : tab;
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
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
  enhanceMarks();
  RESTORED.runs = enhanceLeaderboard();
  enhanceMeasures();
  window.addEventListener("hashchange", () => route(false));
  await route(true);
  document.documentElement.dataset.ready = "yes";
}

// Whatever stops the scripts, the leaderboard and the charts are there without them.
start().catch((error) => {
  const old = typeof DecompressionStream === "undefined";
  const why = old ? "this browser cannot unpack it; take a newer one" : error.message;
  byId("home").prepend(h("p", { class: "note" }, `The detail cannot be read: ${why}`));
  for (const section of document.querySelectorAll(".view")) section.hidden = false;
  document.documentElement.dataset.ready = "without detail";
});
