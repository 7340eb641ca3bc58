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
    { name: "Effect on the scores", key: (row) => row.effect, cell: (row) => row.effect },
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
      kind ? named(kind, "code") : "All of them",
      " ",
      kind && h("a", { href: address("findings"), class: "small" }, "show all"),
    ),
    filtered(
      "Filter findings",
      wanted,
      (finding) =>
        `${finding.place} ${finding.run_id} ${finding.topic_id} ${finding.message} ${finding.kind}`,
      (kept) => table("Findings", placesOf(), kept, "sort"),
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

function placesOf() {
  const known = (finding) => runNumbers.has(finding.run_id) && topicNumbers.has(finding.topic_id);
  return [
    {
      name: "Place",
      key: (finding) => finding.place,
      cell: (finding) => named(finding.place, "code"),
    },
    { name: "Kind", key: (finding) => finding.kind, cell: (finding) => finding.kind },
    {
      name: "Sentence",
      number: true,
      key: (finding) => finding.sentence,
      cell: (finding) => finding.sentence ?? "",
    },
    {
      name: "What",
      class: "wide",
      key: (finding) => finding.message,
      cell: (finding) => prose(finding.message),
    },
    {
      name: "Run",
      key: (finding) => finding.run_id,
      cell: (finding) =>
        runNumbers.has(finding.run_id) ? runLink(finding.run_id) : named(finding.run_id || ""),
    },
    {
      name: "Topic",
      key: (finding) => finding.topic_id,
      cell: (finding) =>
        known(finding)
          ? responseLink(finding.run_id, finding.topic_id, named(finding.topic_id))
          : named(finding.topic_id || ""),
    },
  ];
}
