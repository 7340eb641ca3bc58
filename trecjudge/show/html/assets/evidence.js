// Why a judgment is what it is: the decision, the passage in its document, the prompt as sent.

const LEFT_OUT = "[left out]";
const NOWHERE = "There is no such document: the citation leads nowhere.";

async function evidencePanel(panel, view, judgment, i) {
  const { entry, topic } = view;
  const key = keyOf(judgment);
  const place = h("div", { class: "document-place" });
  const others = h("div");
  const title = [
    placeOf(judgment),
    key === undefined ? "" : `, document ${view.numberOf(key)}`,
  ].join("");
  fresh(
    panel,
    h("h2", null, title),
    h(
      "p",
      { class: "verdict" },
      badge(judgment.tone, wordOf(judgment)),
      judgment.match && h("small", { class: "muted" }, ` ${judgment.match}`),
    ),
    marksPart(view, judgment, i),
    judgment.claim && h("p", { class: "quoted" }, prose(judgment.claim.text)),
    judgment.nugget && h("p", { class: "quoted" }, nuggetShown(judgment.nugget)),
    battleLink(entry, topic, judgment),
    decision(judgment),
    originOf(entry, judgment),
    judgment.nugget && statedPart(view, judgment, i),
    judgment.sources &&
      sourceList(judgment.sources, (source) => showDocument(place, view, source.doc_id, [source])),
    place,
    others,
    judgment.facts && factList(judgment.facts),
    head.calls > 0 && promptDetails(entry, topic, judgment),
  );
  const first = judgment.sources?.[0];
  const spans = [
    judgment.evidence,
    ...(judgment.sources || []).filter((s) => s.doc_id === (judgment.doc_id ?? first?.doc_id)),
    ...(judgment.facts || []),
  ];
  const docId = judgment.doc_id ?? first?.doc_id;
  if (docId) await showDocument(place, view, docId, spans.filter(Boolean));
  else if (judgment.exists === false) fresh(place, h("p", { class: "note" }, NOWHERE));
  if (view.picked === i)
    fresh(others, await elsewhere(entry, topic, judgment), await flipOf(entry, topic, i));
}

/** The fields of a judgment, named as in the judgments file. */
function decision(judgment) {
  const decided =
    judgment.attester === "llm" && head.model ? `llm, ${head.model}` : judgment.attester;
  const rows = [
    ["label", judgment.label],
    ["grade", judgment.grade],
    ["value", judgment.value],
    ["importance", judgment.claim?.importance ?? judgment.nugget?.importance],
    ["judge", judgment.judge],
    ["decided by", decided],
    [
      "cited as",
      judgment.citation !== undefined &&
        judgment.citation !== judgment.doc_id &&
        asCited(judgment.citation),
    ],
    ...(judgment.votes || []).map((vote) => [
      `vote of ${vote.voter}`,
      vote.label ?? `none: ${vote.failure}`,
    ]),
  ];
  const failure = judgment.failure;
  const tries = failure?.tries ? ` (${failure.tries} tries)` : "";
  return [
    failure && h("p", null, h("b", null, failure.kind), ": ", prose(`${failure.message}${tries}`)),
    judgment.reason && h("p", null, prose(judgment.reason)),
    h(
      "dl",
      { class: "decision" },
      rows
        .filter(([, value]) => ![undefined, null, "", false].includes(value))
        .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
    ),
  ];
}

/** Where the run says that its sentence is from; null where it says nothing. */
function originOf(entry, judgment) {
  const lines = (entry.provenance || []).filter(
    (line) =>
      line.sentence_index === judgment.sentence_index &&
      (judgment.doc_id === undefined || line.doc_id === judgment.doc_id),
  );
  if (!lines.length) return null;
  const found = (line) =>
    [line.retriever, line.rank && `rank ${line.rank}`, line.score && `score ${number(line.score)}`]
      .filter(Boolean)
      .join(", ");
  const rows = (line) => [
    ["document", judgment.doc_id === undefined && line.doc_id],
    ["found by", found(line)],
    ["version", line.version],
    ["quoted at", `${line.start || 0}–${line.end || 0}`],
    ["time", line.time],
  ];
  return h(
    "section",
    null,
    h("h3", null, "Where the run has it from"),
    lines.map((line) =>
      h(
        "dl",
        { class: "decision" },
        rows(line)
          .filter(([, value]) => value)
          .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, cut(value)))),
      ),
    ),
  );
}

/** A citation as the run has it; a position, which runs count from 0, in brackets. */
function asCited(citation) {
  return /^\d+$/.test(citation) ? `[${citation}]` : cut(citation);
}

/** The document with passages marked, or why it cannot be shown. */
async function showDocument(place, view, docId, spans) {
  const places = view.entry.documents;
  const found = Object.hasOwn(places, docId)
    ? (await documentsOn(view.topic.id))[places[docId]]
    : null;
  const name = h("p", { class: "docid muted" }, named(docId, "code"));
  const about = found && [found.date, found.version].filter(Boolean).join(" · ");
  if (!found) {
    const quotes = spans.map((span) => span.quote || span.excerpt).filter(Boolean);
    fresh(
      place,
      h("h3", null, "Document"),
      name,
      h("p", { class: "note" }, missingText(view, docId)),
      quotes.map((quote) => h("blockquote", null, prose(quote))),
    );
    return;
  }
  const { passages, lost } = located(found.text, spans);
  const box = h("div", {
    class: "document",
    role: "region",
    "aria-label": "Text of the document",
    tabindex: "0",
    dir: "auto",
  });
  const body =
    found.title && found.text.startsWith(`${found.title}\n`) ? found.title.length + 1 : 0;
  if (body) box.append(h("h4", null, marked(found.text, passages, 0, body - 1)));
  box.append(h("p", null, marked(found.text, passages, body, found.text.length)));
  fresh(
    place,
    h("h3", null, "Document"),
    name,
    about && h("p", { class: "muted" }, about),
    link(found.url),
    lost > 0 &&
      h(
        "p",
        { class: "note" },
        "The passage is not in this text: it differs from what was judged.",
      ),
    box,
  );
  requestAnimationFrame(() => {
    // it may not stand in the page yet
    const mark = box.querySelector("mark");
    if (mark) box.scrollTop = Math.max(0, mark.offsetTop - box.clientHeight / 3);
  });
}

function missingText(view, docId) {
  const judged = view.entry.judgments.find((judgment) => judgment.doc_id === docId);
  if (judged?.exists === false) return NOWHERE;
  return "The text of this document is not in this report.";
}

/** An address of a document, if it is one of the web; as text in any case. */
function link(url) {
  if (!url) return null;
  if (!/^https?:\/\//i.test(url)) return h("p", { class: "muted" }, url);
  return h("p", null, h("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, url));
}

/** Spans as positions in the text; where the text differs, the quote is looked for. */
function located(text, spans) {
  const passages = [];
  let lost = 0;
  for (const span of spans) {
    const quote = span.quote || span.excerpt;
    let [start, end] = units(text, [span.start, span.end]);
    if (quote && text.slice(start, end) !== quote) {
      start = text.indexOf(quote);
      end = start + quote.length;
    }
    if (start < 0 || end > text.length) lost += 1;
    else if (end > start) passages.push({ start, end });
  }
  passages.sort((a, b) => a.start - b.start || b.end - a.end);
  return { passages, lost };
}

/** Nodes for a stretch of text with its passages marked; of passages that overlap, their union. */
function marked(text, passages, from, to) {
  const made = [];
  let at = from;
  for (const { start, end } of passages) {
    const [begin, stop] = [Math.max(at, start), Math.min(to, end)];
    if (stop <= begin) continue;
    made.push(text.slice(at, begin), h("mark", null, text.slice(begin, stop)));
    at = stop;
  }
  return [...made, text.slice(at, to)];
}

function sourceList(sources, open) {
  return [
    h("h3", null, "Sources"),
    h(
      "ul",
      { class: "sources" },
      sources.map((source) =>
        h(
          "li",
          null,
          h(
            "button",
            { type: "button", click: () => open(source) },
            named(source.title || source.doc_id),
          ),
          " ",
          h(
            "small",
            { class: "muted" },
            [
              source.similarity !== undefined && `similarity ${number(source.similarity)}`,
              source.date,
              source.version,
            ]
              .filter(Boolean)
              .join(" · "),
          ),
          link(source.url),
          source.excerpt && h("blockquote", null, prose(source.excerpt)),
        ),
      ),
    ),
  ];
}

function factList(facts) {
  const tone = (fact) => (fact.found === true ? "good" : fact.found === false ? "bad" : "plain");
  const word = (fact) =>
    fact.found === true
      ? "in the response"
      : fact.found === false
        ? "not in the response"
        : "not asked";
  return [
    h("h3", null, "Facts of the document"),
    h(
      "ul",
      { class: "facts" },
      facts.map((fact) =>
        h("li", null, badge(tone(fact), word(fact)), " ", prose(fact.text || LEFT_OUT)),
      ),
    ),
  ];
}

/** Other responses with the same sentence on the same document, and their judgments. */
async function elsewhere(entry, topic, judgment) {
  if (judgment.sentence_index === undefined || !judgment.doc_id) return null;
  if (judgment.claim || judgment.nugget) return null;
  const same = pairsOf(await responsesOn(topic.id)).get(pairKey(entry, judgment)) || [];
  const rest = same.filter((pair) => pair.run !== entry.run || pair.judgment !== judgment);
  if (!rest.length) return null;
  const differs = isConflict(same);
  return h(
    "div",
    { class: differs ? "differs" : "same" },
    h("h3", null, differs ? "⚠ Judged differently elsewhere" : "The same pair elsewhere"),
    h(
      "ul",
      null,
      rest.map((pair) => pairLine(pair, topic)),
    ),
  );
}

async function flipOf(entry, topic, at) {
  if (!head.compared) return null;
  const flip = (await block("flips")).find(
    (each) => each.run === entry.run && each.topic === topic.id && each.at === at,
  );
  if (!flip) return null;
  return h(
    "div",
    { class: "differs" },
    h("h3", null, "⚠ Flipped"),
    h(
      "p",
      null,
      "In ",
      named(head.compared.name),
      ": ",
      badge(flip.there.tone, flip.there.word),
      " ",
      prose(flip.there.reason),
    ),
  );
}

/** The model calls behind a judgment, fetched when they are asked for. */
function promptDetails(entry, topic, judgment) {
  const place = h("div");
  const load = async () => {
    if (place.childNodes.length) return;
    const calls = (await callsOn(topic.id)).filter((call) => call.run === entry.run);
    fresh(place, callsFor(calls, judgment).map(callShown));
    if (!place.childNodes.length) fresh(place, h("p", { class: "muted" }, "No model was asked."));
  };
  return h(
    "details",
    { class: "prompt", toggle: load },
    h("summary", null, "Prompt as sent, and the reply"),
    place,
  );
}

/**
 * Calls on just this; else the one on its document that went before, by which several sentences
 * were asked at once; else those on the whole response, of a claim or nugget those that name it.
 */
function callsFor(calls, judgment) {
  const at = (call) => call.sentence_index ?? undefined;
  const on = (call) => call.citation_id ?? undefined;
  const same = calls.filter(
    (call) => at(call) === judgment.sentence_index && on(call) === keyOf(judgment),
  );
  if (same.length) return same;
  const grouped = calls.filter(
    (call) =>
      on(call) !== undefined && on(call) === keyOf(judgment) && at(call) < judgment.sentence_index,
  );
  if (grouped.length) return grouped.slice(-1);
  const whole = calls.filter((call) => on(call) === undefined);
  const about = judgment.claim?.text || judgment.nugget?.answer || judgment.nugget?.text;
  const naming = whole.filter((call) => about && names(call, about));
  return naming.length ? naming : whole;
}

function names(call, text) {
  return (call.messages || []).some((message) => String(message.content).includes(text));
}

function callShown(call) {
  const facts = [
    call.program,
    call.shared ? "shared" : call.cached ? "from the cache" : `try ${call.try}`,
    `${call.tokens} tokens`,
    call.error,
  ].filter(Boolean);
  return h(
    "div",
    { class: "call" },
    h("p", { class: "muted" }, facts.join(" · ")),
    [...(call.messages || []), { role: "reply", content: call.reply }].map((message) => [
      h("h4", null, message.role),
      h(
        "pre",
        { dir: "auto", tabindex: "0" },
        typeof message.content === "string"
          ? message.content
          : JSON.stringify(message.content, null, 1),
      ),
    ]),
  );
}
