// Battles: who won how often against whom, and the two answers of a battle side by side.

async function battlesView(one, other, topicId) {
  if (!head.battles) return [h("h1", null, "Battles"), h("p", null, "There are none.")];
  if (topicId !== undefined) return battleView(one, other, topicId);
  return other === undefined ? matrixView() : pairView(one, other);
}

function matrixView() {
  const { shares, counts } = head.battles;
  const ids = head.runs.map(({ id }) => id);
  const cell = (i, j) => {
    const share = shares[i][j];
    const met = i !== j && share !== null;
    const title = met && `${ids[i]} against ${ids[j]}: ${share} of ${counts[i][j]} battles`;
    const shade = met ? `q${Math.min(SHADES - 1, Math.floor(share * SHADES))}` : "none";
    const link = () => h("a", { href: address("battles", ids[i], ids[j]), title }, brief(share));
    return h("td", { class: shade }, met ? link() : "–");
  };
  const column = (id) =>
    h("th", { scope: "col" }, h("a", { href: address("run", id) }, named(id)));
  const row = (id, i) =>
    h("tr", null, h("th", { scope: "row" }, runLink(id)), ids.map((_, j) => cell(i, j)));
  const grid = h(
    "table",
    { class: "heat", "aria-label": "Share of battles won by the run of the row" },
    h("thead", null, h("tr", null, h("td"), ids.map(column))),
    h("tbody", null, ids.map(row)),
  );
  grid.style.setProperty("--columns", ids.length);
  const rows = () => [["run", ...ids], ...ids.map((id, i) => [id, ...shares[i]])];
  return [
    h("h1", null, "Battles"),
    h(
      "p",
      { class: "lead" },
      "The share of its battles that the run of the row won against the run of the column, ties as one half, the best run first. Open a cell to read the battles.",
    ),
    takeAlong("battles won", rows),
    freely(h("div", { class: "scroll heat-scroll" }, grid)),
  ];
}

/** The battles of two runs that an entry of the first one has. */
function battlesIn(entry, other) {
  return (entry?.judgments || []).filter(({ opponent }) => opponent?.run === other);
}

function shownFirst({ first }, one, other) {
  if (first === null || first === undefined) return "";
  return `${first ? one : other} was shown first`;
}

function battleLine(judgment, one, other) {
  const why = judgment.failure?.message || judgment.reason || "";
  const order = shownFirst(judgment.opponent, one, other);
  return h(
    "li",
    null,
    badge(judgment.tone, judgment.word),
    " ",
    why && prose(why),
    order && h("small", { class: "muted" }, ` · ${order}`),
  );
}

async function pairView(one, other) {
  const found = await Promise.all(
    head.topics.map(async (topic) => {
      const entry = (await responsesOn(topic.id)).find(({ run }) => run === one);
      return [topic, battlesIn(entry, other)];
    }),
  );
  const met = found.filter(([, battles]) => battles.length);
  return [
    battleTitle(one, other),
    h("p", { class: "lead" }, "Each outcome is that of the first run."),
    met.length === 0 && h("p", { class: "note" }, "These two never met."),
    met.map(([topic, battles]) => [
      h(
        "h2",
        null,
        h("a", { href: address("battles", one, other, topic.id) }, named(topic.id)),
        " ",
        prose(topic.title),
      ),
      h("ul", { class: "battles" }, battles.map((each) => battleLine(each, one, other))),
    ]),
  ];
}

function battleTitle(one, other) {
  return h("h1", null, runLink(one), " against ", runLink(other));
}

async function battleView(one, other, topicId) {
  const topic = head.topics[topicNumbers.get(topicId)];
  if (!topic) return unknown("topic", topicId);
  const entries = await responsesOn(topicId);
  const [ours, theirs] = [one, other].map((id) => entries.find(({ run }) => run === id));
  const battles = battlesIn(ours, other);
  const texts = (entry) => new Set((entry?.sentences || []).map(({ text }) => text.trim()));
  const answer = (id, entry, others) =>
    h(
      "section",
      { class: "column" },
      h("h2", null, responseLink(id, topicId, named(id))),
      !entry && h("p", { class: "note" }, "No response."),
      h(
        "ol",
        { class: "sentences" },
        (entry?.sentences || []).map(({ text }) =>
          h("li", { class: `sentence plain${others.has(text.trim()) ? " same" : ""}` }, prose(text)),
        ),
      ),
    );
  return [
    battleTitle(one, other),
    h("p", { class: "lead" }, h("a", { href: address("topic", topicId) }, named(topicId)), " ", prose(topic.title)),
    battles.length === 0 && h("p", { class: "note" }, "These two did not meet on this topic."),
    h("ul", { class: "battles" }, battles.map((each) => battleLine(each, one, other))),
    h("p", { class: "muted" }, "Sentences that both answers have are pale."),
    h("div", { class: "columns" }, answer(one, ours, texts(theirs)), answer(other, theirs, texts(ours))),
  ];
}

/** The way from a judgment to the two answers that it compares; nothing where there is none. */
function battleLink(entry, topic, { opponent }) {
  if (!opponent?.run || !head.battles) return null;
  const href = address("battles", entry.run, opponent.run, topic.id);
  return h("p", null, h("a", { href }, "Both answers: against ", named(opponent.run)));
}
