// Problems of the input by kind, each with its place.

const SEVERITIES = {
  error: ["bad", "not judged"],
  warning: ["part", "warning"],
  note: ["plain", "note"],
};

async function findingsView(kind) {
  const every = await block("findings");
  const columns = [
    {
      name: "Kind",
      header: true,
      key: (row) => row.kind,
      cell: (row) => h("a", { href: address("findings", row.kind) }, row.kind),
    },
    {
      name: "Severity",
      key: (row) => row.severity,
      cell: (row) => badge(...(SEVERITIES[row.severity] || SEVERITIES.note)),
    },
    { name: "Count", number: true, key: (row) => row.count, cell: (row) => row.count },
    {
      name: "Effect on the scores",
      class: "wide",
      key: (row) => row.effect,
      cell: (row) => row.effect,
    },
  ];
  const shown = [
    h("h1", null, "Findings"),
    await gatePart(),
    h(
      "p",
      { class: "lead" },
      "What is odd in the input, by kind; each was judged as far as it could be.",
    ),
  ];
  if (!head.findings.length) return [...shown, h("p", { class: "note" }, "Nothing was found.")];
  shown.push(table("Kinds of findings", columns, head.findings, "kinds"));
  if (!head.logged)
    return [
      ...shown,
      h("p", { class: "note" }, "Their places are in the log, which was not there."),
    ];
  const wanted = kind ? every.filter((finding) => finding.kind === kind) : every;
  shown.push(
    h(
      "h2",
      null,
      kind ? named(kind, "code") : "All findings",
      " ",
      kind && h("a", { href: address("findings"), class: "small" }, "show all"),
    ),
    filtered(
      "Filter findings",
      wanted,
      (finding) =>
        `${finding.place} ${finding.run_id} ${finding.topic_id} ${finding.message} ${finding.kind}`,
      (kept) => table("Findings", placesOf(), alike(kept), "sort", { atOnce: 50 }),
      "filter",
    ),
  );
  return shown;
}

/** The responses that the gate of the workflow marked, where it has one. */
async function gatePart() {
  const reviews = await block("reviews");
  if (!reviews.length) return null;
  const tones = { REJECTED: "bad", REVIEW: "part" };
  const columns = [
    { name: "Run", header: true, key: (row) => row.run, cell: (row) => runLink(row.run) },
    {
      name: "Topic",
      key: (row) => row.topic,
      cell: (row) => responseLink(row.run, row.topic, named(row.topic)),
    },
    {
      name: "Status",
      key: (row) => row.status,
      cell: (row) => badge(tones[row.status] || "plain", row.status),
    },
    {
      name: "Rules",
      class: "wide",
      key: (row) => row.rules.join(),
      cell: (row) => row.rules.join("; "),
    },
  ];
  return [
    h("h2", null, "Marked by the gate"),
    table("Responses marked by the gate", columns, reviews, "gate"),
    h("h2", null, "Problems of the input"),
  ];
}

/** Findings that say the same as one that keeps all their places: the worst, then the most. */
function alike(findings) {
  const groups = new Map();
  for (const finding of findings) {
    const key = JSON.stringify([finding.kind, finding.severity, finding.message]);
    if (!groups.has(key)) groups.set(key, { ...finding, every: [] });
    groups.get(key).every.push(finding);
  }
  const worst = Object.keys(SEVERITIES);
  return [...groups.values()].sort(
    (a, b) =>
      worst.indexOf(a.severity) - worst.indexOf(b.severity) || b.every.length - a.every.length,
  );
}

function placesOf() {
  return [
    {
      name: "What",
      class: "wide",
      key: (row) => row.message,
      cell: (row) => prose(row.message),
    },
    {
      name: "Kind",
      key: (row) => row.kind,
      class: "kind",
      cell: (row) => [badge(...(SEVERITIES[row.severity] || SEVERITIES.note)), " ", row.kind],
    },
    {
      name: "Count",
      number: true,
      key: (row) => row.every.length,
      cell: (row) => row.every.length,
    },
    {
      name: "Place",
      class: "wide",
      key: (row) => row.place,
      taken: (row) => row.every.map((finding) => finding.place).join("; "),
      cell: (row) => (row.every.length === 1 ? placeShown(row) : placesShown(row.every)),
    },
  ];
}

/** The places of findings that say the same, listed when they are asked for. */
function placesShown(every) {
  const runs = new Set(every.map((finding) => finding.run_id).filter(Boolean)).size;
  const of = runs > 1 ? ` in ${counted(runs, "run")}` : "";
  const list = h("ul", { class: "places" });
  const items = () => every.map((one) => h("li", null, placeShown(one)));
  const open = () => list.children.length || add(list, items());
  return h(
    "details",
    { toggle: open },
    h("summary", null, `${counted(every.length, "place")}${of}`),
    list,
  );
}

/** File and line, the sentence counted from one, and a link to the response. */
function placeShown(finding) {
  const { run_id: run, topic_id: topic, sentence } = finding;
  const known = runNumbers.has(run) && topicNumbers.has(topic);
  const shown = [run && named(run), run && topic && " on ", topic && named(topic)];
  return [
    named(finding.place, "code"),
    Number.isInteger(sentence) && `, sentence ${sentence + 1}`,
    (run || topic) && ": ",
    known ? responseLink(run, topic, shown) : runNumbers.has(run) ? runLink(run) : shown,
  ];
}
