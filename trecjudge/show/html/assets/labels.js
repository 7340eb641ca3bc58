// What a person says of items: held by this browser as it is made, and taken along as labels.

const LABEL_COLUMNS = ["topic_id", "run_id", "sentence_index", "doc_id", "nugget", "label"];
LABEL_COLUMNS.push("labeller", "seconds", "comment", "evidence", "sampled", "skipped");

/** What this browser holds under a name; null where it has nothing, or holds nothing. */
function heldAs(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}

/** Have this browser hold a value under a name; returns whether it does. */
function holdAs(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The line of an item in a file of labels: its key, who labels it, and of the rest what is there. */
function labelRow(key, labeller, { label, ...more }) {
  const row = { ...key, ...(label ? { label } : {}), labeller };
  for (const [name, value] of Object.entries(more)) if (value || value === 0) row[name] = value;
  return row;
}

/** Save lines as a file of labels, for programs (jsonl) or spreadsheets (csv). */
function saveLabels(rows, labeller, ending) {
  const name = fileName(`labels-${labeller}`, ending);
  if (ending === "jsonl")
    return save(name, "application/jsonl", rows.map((row) => `${JSON.stringify(row)}\n`));
  const columns = [...new Set([...LABEL_COLUMNS, ...rows.flatMap(Object.keys)])];
  const cell = (value) => (typeof value === "object" && value ? JSON.stringify(value) : value);
  const cells = rows.map((row) => columns.map((column) => cell(row[column])));
  return save(name, "text/csv", [columns, ...cells].map(csvLine));
}
