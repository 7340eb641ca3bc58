// What a reader takes away: files made in the page, for spreadsheets and for programs.

/** A judgment with where it stands, its fields named as in the judgments file. */
function wholeOf(row, entry) {
  const { tone, word, ...judgment } = entry.judgments[row.at];
  const sentence = entry.sentences.find(({ index }) => index === judgment.sentence_index)?.text;
  return { run_id: row.run, topic_id: row.topic, sentence, ...judgment };
}

const IN_CSV = {
  run_id: (one) => one.run_id,
  topic_id: (one) => one.topic_id,
  judge: (one) => one.judge,
  sentence_index: (one) => one.sentence_index,
  doc_id: (one) => one.doc_id,
  citation: (one) => one.citation,
  exists: (one) => one.exists,
  label: (one) => one.label,
  grade: (one) => one.grade,
  value: (one) => one.value,
  unjudged: (one) => one.failure?.kind,
  attester: (one) => one.attester,
  reason: (one) => one.failure?.message ?? one.reason,
  sentence: (one) => one.sentence,
  claim: (one) => one.claim?.text,
  nugget: (one) => one.nugget?.text,
  quote: (one) => one.evidence?.quote,
};
// As in the files of a job: what a spreadsheet would calculate has a mark before it.
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMERIC = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function csvCell(value) {
  const given = String(value ?? "");
  const text = FORMULA.test(given) && !NUMERIC.test(given) ? `'${given}` : given;
  return /[,;"\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvLine(cells) {
  return `${cells.map(csvCell).join(",")}\n`;
}

const TAKEN_AS = {
  CSV: {
    type: "text/csv",
    first: csvLine(Object.keys(IN_CSV)),
    line: (one) => csvLine(Object.values(IN_CSV).map((cell) => cell(one))),
  },
  JSONL: { type: "application/jsonl", first: "", line: (one) => `${JSON.stringify(one)}\n` },
};

/** Hand a file to whoever reads the page. */
function save(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
