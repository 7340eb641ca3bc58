// Blocks: deflated JSON in script elements of this page, or in scripts of the folder beside it.

const MOST_BLOCKS = 12;
const decoded = new Map();
const coming = new Map();
const arriving = new Map();
let head = null;
let runNumbers = new Map();
let topicNumbers = new Map();

async function inflated(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  // A loop: `Uint8Array.from` takes twenty times as long, seconds for a large job.
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

// Called by the scripts beside the page.
window.trecjudge = (name, base64) => arriving.get(name)?.(base64);

/** The text of a script beside the page; views that want one at the same time share it. */
function fromBeside(name) {
  if (!coming.has(name)) coming.set(name, loaded(name).finally(() => coming.delete(name)));
  return coming.get(name);
}

function loaded(name) {
  const loader = window.trustedTypes?.createPolicy
    ? (loaded.policy ||= trustedTypes.createPolicy("blocks", { createScriptURL: (url) => url }))
    : { createScriptURL: (url) => url };
  const place = `${head.beside}/${head.scripts[name]}.js`;
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const end = (settle, value) => {
      script.remove(); // its text need not stay
      arriving.delete(name);
      settle(value);
    };
    const fail = (why) => end(reject, new Error(`${place} ${why}`));
    arriving.set(name, (base64) => end(resolve, base64));
    script.src = loader.createScriptURL(
      `${encodeURIComponent(head.beside)}/${head.scripts[name]}.js`,
    );
    script.addEventListener("error", () =>
      fail(
        `cannot be loaded: keep the folder ${head.beside} beside this file; if the report was` +
          " written again since this page was opened, reload it",
      ),
    );
    // Had it arrived, it would have been removed by now.
    script.addEventListener("load", () => arriving.has(name) && fail("is damaged: copy it again"));
    document.body.append(script);
  });
}

async function read(name) {
  const held = byId(name);
  if (held) return inflated(held.textContent);
  if (head && Object.hasOwn(head.scripts, name)) return inflated(await fromBeside(name));
  return [];
}

/** The entries of a block; an empty list where there is none. The last few stay decoded. */
function block(name) {
  if (!decoded.has(name)) {
    const reading = read(name);
    decoded.set(name, reading);
    reading.catch(() => decoded.delete(name)); // it may be there the next time
    if (decoded.size > MOST_BLOCKS) decoded.delete(decoded.keys().next().value);
  }
  return decoded.get(name);
}

async function readHead() {
  [head] = await read("head");
  if (!head) throw new Error("the file was cut on its way");
  runNumbers = new Map(head.runs.map((run, number) => [run.id, number]));
  topicNumbers = new Map(head.topics.map((topic, number) => [topic.id, number]));
}

/** The judged responses on a topic, the best run first. */
async function responsesOn(topicId) {
  const entries = await block(`topic-${topicNumbers.get(topicId)}`);
  const nuggets = await block(`nuggets-${topicNumbers.get(topicId)}`);
  for (const entry of nuggets.length ? entries : [])
    for (const judgment of entry.judgments)
      if (typeof judgment.nugget === "number") judgment.nugget = nuggets[judgment.nugget];
  return [...entries].sort((a, b) => runNumbers.get(a.run) - runNumbers.get(b.run));
}

async function nuggetsOn(topicId) {
  return block(`nuggets-${topicNumbers.get(topicId)}`);
}

async function documentsOn(topicId) {
  return block(`documents-${topicNumbers.get(topicId)}`);
}

async function callsOn(topicId) {
  return block(`calls-${topicNumbers.get(topicId)}`);
}

function score(measure, runId, topicId) {
  return head.scores[measure][runNumbers.get(runId)][topicNumbers.get(topicId)];
}

/** Measures with a score on any topic, each with its position: some are only of whole runs. */
function onTopics() {
  const isScore = (value) => value !== null && value !== "";
  const found = head.measures.map((measure, m) => [measure, m]);
  return found.filter(([, m]) => head.scores[m].some((scores) => scores.some(isScore)));
}

const MOST_LEADING = 6;

/** The names of the measures that are shown first: more than a screen holds only the first few. */
function leadingMeasures() {
  const { leading, ranked_by: ranked } = head;
  if (leading.length <= MOST_LEADING) return leading;
  return [ranked, ...leading.filter((name) => name !== ranked)].slice(0, MOST_LEADING);
}

function rankedBy() {
  return head.measures.findIndex((measure) => measure.name === head.ranked_by);
}

/** Positions in UTF-16 units of offsets in characters, which is how documents are counted. */
function units(text, offsets) {
  if (!/[\ud800-\udbff]/.test(text)) return offsets;
  const wanted = new Map();
  let unit = 0;
  let count = 0;
  const last = Math.max(...offsets);
  for (const character of text) {
    wanted.set(count, unit);
    if (count >= last) break;
    count += 1;
    unit += character.length;
  }
  return offsets.map((offset) => wanted.get(offset) ?? text.length);
}
