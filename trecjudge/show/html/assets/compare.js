// Two outputs: how runs moved, how labels went together, and every judgment that flipped.

async function compareView() {
  const compared = head.compared;
  if (!compared)
    return [
      h("h1", null, "Compare"),
      h("p", { class: "note" }, "This report is of one output; --compare OTHER adds another."),
    ];
  const flips = await block("flips");
  const share = compared.met ? `${((1 - flips.length / compared.met) * 100).toFixed(1)} %` : "none";
  const { here, there, both } = compared.unjudged;
  const open = [
    here && `${here} are unjudged here`,
    there && `${there} there`,
    both && `${both} on both sides`,
  ].filter(Boolean);
  const unshared = [
    compared.only_here && `${compared.only_here} are only here`,
    compared.only_there && `${compared.only_there} only there`,
  ].filter(Boolean);
  return [
    h("h1", null, "Compare"),
    h(
      "p",
      { class: "lead" },
      named(head.name),
      " (here) and ",
      named(compared.name),
      ` (there): of ${compared.met} items that both judged, ${share} are judged the same, ${flips.length} flipped.`,
      open.length > 0 && ` Unjudged, and in none of these: ${open.join(", ")}.`,
      unshared.length > 0 && ` ${unshared.join(", ")}.`,
    ),
    h("h2", null, "Labels"),
    labelTable(compared.pairs),
    h("h2", null, "Runs"),
    movesPart(compared.moves),
    h("h2", null, "Flipped judgments"),
    flips.length
      ? filtered(
          "Filter flips",
          flips,
          (flip) =>
            `${flip.run} ${flip.topic} ${flip.doc_id} ${flip.nugget || ""} ${flip.here.word} > ${flip.there.word}`,
          (kept) => table("Flipped judgments", flipColumns(flips), kept, "sort"),
          "filter",
        )
      : h("p", { class: "note" }, "No judgment flipped."),
  ];
}

function labelTable(pairs) {
  const tones = Object.keys(head.signs);
  const labels = (side) =>
    [...new Map(pairs.map((pair) => [pair[side].join(), pair[side]])).values()].sort(
      ([a], [b]) => tones.indexOf(a) - tones.indexOf(b),
    );
  const same = (a, b) => a.join() === b.join();
  const count = (a, b) =>
    pairs.find((pair) => same(pair.here, a) && same(pair.there, b))?.count || 0;
  const there = labels("there");
  return scrolling(
    "Labels here and there",
    h(
      "table",
      { class: "crossed" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "here, down; there, across"),
          there.map((label) => h("th", { scope: "col", class: "number" }, badge(...label))),
        ),
      ),
      h(
        "tbody",
        null,
        labels("here").map((label) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, badge(...label)),
            there.map((other) =>
              h(
                "td",
                { class: `number${same(label, other) ? " diagonal" : ""}` },
                count(label, other),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

function movesPart(moves) {
  const names = [...new Set(moves.map((move) => move.measure))];
  if (!names.length) return h("p", { class: "note" }, "The two have no measure in common.");
  const place = h("div");
  const known = names.map((name) => head.measures.find((measure) => measure.name === name));
  const draw = (i) => {
    const lower = known[i].lower_is_better;
    fresh(
      place,
      table(
        `${names[i]} of runs here and there`,
        [
          { name: "Run", header: true, key: (move) => move.run, cell: (move) => runLink(move.run) },
          {
            name: "Place here",
            number: true,
            lower: true,
            key: (move) => move.place_here,
            cell: (move) => move.place_here ?? "?",
          },
          {
            name: "Place there",
            number: true,
            lower: true,
            key: (move) => move.place_there,
            cell: (move) => move.place_there ?? "?",
          },
          {
            name: "Here",
            number: true,
            lower,
            key: (move) => move.here.value,
            cell: (move) => meanShown(move.here),
          },
          {
            name: "There",
            number: true,
            lower,
            key: (move) => move.there.value,
            cell: (move) => meanShown(move.there),
          },
          {
            name: "Difference",
            number: true,
            lower,
            key: (move) => difference(move).value,
            cell: (move) => meanShown(difference(move), signed),
          },
        ],
        moves.filter((move) => move.measure === names[i]),
        "runs",
      ),
    );
  };
  const at = chosenIn("measure", names, Math.max(0, names.indexOf(head.ranked_by)));
  draw(at);
  return [
    h(
      "div",
      { class: "tools" },
      chooser("Measure", known.map(measureLabel), at, (i) => {
        remember("measure", names[i]);
        draw(i);
      }),
    ),
    place,
  ];
}

/** Here minus there, with what unjudged items on either side could make of it. */
function difference({ here, there }) {
  const minus = (a, b) => (a === null || b === null ? null : a - b);
  return {
    value: minus(here.value, there.value),
    lowest: minus(here.lowest, there.highest),
    highest: minus(here.highest, there.lowest),
    unjudged: here.unjudged || there.unjudged,
  };
}

function signed(value) {
  return typeof value !== "number"
    ? number(value)
    : `${value > 0 ? "+" : value < 0 ? "−" : "±"}${number(Math.abs(value))}`;
}

function flipColumns(flips) {
  const nugget = {
    name: "Nugget",
    class: "clip",
    key: (flip) => flip.nugget,
    cell: (flip) => prose(flip.nugget || ""),
  };
  return [
    { name: "Run", header: true, key: (flip) => flip.run, cell: (flip) => runLink(flip.run) },
    {
      name: "Topic",
      key: (flip) => flip.topic,
      cell: (flip) => responseLink(flip.run, flip.topic, named(flip.topic)),
    },
    {
      name: "Sentence",
      number: true,
      key: (flip) => flip.sentence_index,
      cell: (flip) => flip.sentence_index ?? "",
    },
    {
      name: "Document",
      key: (flip) => flip.doc_id,
      cell: (flip) => named(flip.doc_id || "", "code"),
    },
    ...(flips.some((flip) => flip.nugget) ? [nugget] : []),
    {
      name: "Here",
      key: (flip) => flip.here.word,
      cell: (flip) => badge(flip.here.tone, flip.here.word),
    },
    {
      name: "There",
      key: (flip) => flip.there.word,
      cell: (flip) => badge(flip.there.tone, flip.there.word),
    },
    { name: "Open", key: (flip) => flip.topic, cell: (flip) => flipLink(flip) },
  ];
}

/** Leads to the judgment itself. */
function flipLink(flip) {
  const part = flip.nugget
    ? `nugget ${cut(flip.nugget)}`
    : flip.sentence_index === null
      ? "the whole"
      : `sentence ${flip.sentence_index}`;
  return h(
    "a",
    {
      href: address("response", flip.run, flip.topic, flip.at),
      "aria-label": `Open ${part} of ${cut(flip.run)} on ${cut(flip.topic)}`,
    },
    "open",
  );
}
