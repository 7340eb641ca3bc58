// Judgments to take along: for programs as the job writes them, for spreadsheets flat.

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

/** Heads and rows for a spreadsheet. */
function judgmentCells(judgments) {
  const rows = judgments.map((one) => Object.values(IN_CSV).map((cell) => cell(one)));
  return [Object.keys(IN_CSV), ...rows];
}
