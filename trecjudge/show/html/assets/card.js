// The card of a run: its place, the mix of its labels, its signs, and its worst sentences.

/** A bar of labels by tone, of [tone, count]. */
function mixBar(counts) {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const made = (tag, given) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
    return element;
  };
  const box = { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" };
  const bar = made("svg", { class: "mix", ...box });
  let x = 0;
  for (const [tone, count] of counts) {
    const width = (100 * count) / total;
    bar.append(made("rect", { class: tone, x, width, height: 10 }));
    x += width;
  }
  return bar;
}

/** The labels of each judge that gives some; judges with the same counts share one entry. */
function labelsByJudge(card) {
  const tones = Object.keys(head.signs);
  const found = new Map();
  for (const judge of new Set(card.labels.map((label) => label.judge))) {
    const labels = card.labels
      .filter((label) => label.judge === judge)
      .sort((a, b) => tones.indexOf(a.tone) - tones.indexOf(b.tone));
    if (labels.every(({ tone }) => tone === "plain")) continue;
    const key = JSON.stringify(labels.map(({ word, count }) => [word, count]));
    if (!found.has(key)) found.set(key, { judges: [], labels });
    found.get(key).judges.push(judge);
  }
  return [...found.values()];
}

/** Labels as a bar, with their counts. */
function labelMix(card, { judges, labels }) {
  const where = ({ word }) => {
    const wanted = new URLSearchParams({ run: card.run, judge: judges[0], label: word });
    return `#/failures?${wanted}`;
  };
  return h(
    "div",
    { class: "mixed" },
    head.judges.length > 1 && h("small", { class: "muted" }, judges.map(cut).join(", ")),
    mixBar(labels.map(({ tone, count }) => [tone, count])),
    h(
      "ul",
      { class: "legend", "aria-label": `Labels of ${judges.join(", ")}` },
      labels.map((label) =>
        h("li", null, h("a", { href: where(label) }, badge(label.tone, label.word)), ` ${label.count}`),
      ),
    ),
  );
}

function cardList(title, lines, more) {
  if (!lines.length) return null;
  return h(
    "div",
    null,
    h("h2", null, title),
    h(
      "ul",
      { class: "lines" },
      lines.map((line) => h("li", null, line)),
      more > 0 && h("li", { class: "muted" }, `and ${more} more`),
    ),
  );
}

function sentencePlace({ topic, sentence }) {
  return [cut(topic), sentence !== null && `, sentence ${sentence + 1}`];
}

/** The lists of a card: worst sentences, topics behind the median, documents not there. */
function cardLists(card) {
  const lost = card.citations_of_no_document;
  const worst = (one) => [
    h("a", { href: address("response", card.run, one.topic, one.at) }, sentencePlace(one)),
    h("span", { class: "clip" }, prose(one.text)),
  ];
  const behind = ({ topic, value, median }) => [
    responseLink(card.run, topic, named(topic)),
    `: ${number(value)}, median ${number(median)}`,
  ];
  const nowhere = (one) => [sentencePlace(one), ": ", named(one.citation)];
  return h(
    "div",
    { class: "thirds" },
    cardList("Worst sentences", card.worst_sentences.map(worst)),
    cardList("Topics furthest behind the median", card.lost_most.map(behind)),
    cardList("Documents that are not there", lost.map(nowhere), card.nowhere - lost.length),
  );
}

function cardTile(name, value, more) {
  return h(
    "li",
    { class: "tile" },
    h("span", { class: "muted" }, name),
    h("b", null, value),
    more && h("small", { class: "muted" }, more),
  );
}

/** The signs of the run's sentences, those that it is named for first. */
function cardSigns(card) {
  const { shows } = head.runs[runNumbers.get(card.run)];
  return Object.entries(card.signs)
    .sort(([a], [b]) => shows.includes(b) - shows.includes(a))
    .map(([name, share]) => {
      const called = name === "any" ? "any sign" : name.replaceAll("_", " ");
      const text = `${columnLabel(called)} ${Math.round(100 * share)} %`;
      return h("li", { title: head.gaming[name], class: shows.includes(name) && "short" }, text);
    });
}

function cardShown(card) {
  const [low, high] = card.interval || [];
  const { mean } = card;
  const place = card.interval ? `95 %: ${low} to ${high}` : !card.place && "unjudged items leave it open";
  const over = card.median !== null && `median of all runs ${number(card.median)}`;
  const signs = cardSigns(card);
  return [
    h(
      "ul",
      { class: "tiles" },
      cardTile(["Place by ", stacked(card.measure)], `${card.place ?? "?"} of ${card.of}`, place),
      cardTile("Mean", meanShown(mean), over),
      cardTile("Responses", `${card.responses} of ${card.expected_responses}`),
      cardTile("Items judged", `${card.judged} of ${card.expected}`),
      card.citations > 0 &&
        cardTile("Citations that lead nowhere", `${card.nowhere} of ${card.citations}`),
    ),
    labelsByJudge(card).map((labels) => labelMix(card, labels)),
    signs.length > 0 && h("ul", { class: "legend", "aria-label": "Signs of its sentences" }, signs),
    cardLists(card),
  ];
}

/** On the sheet of a team: the cards of its runs. */
async function showCards() {
  const place = byId("team-cards");
  if (!place || place.children.length) return;
  const cards = await block("cards");
  fresh(
    place,
    cards.map((card) =>
      h("article", { class: "card" }, h("h2", null, runLink(card.run)), cardShown(card)),
    ),
  );
}
