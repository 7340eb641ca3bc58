// Two outputs: how runs moved, how labels went together, and every judgment that flipped.

async function compareView() {
  const compared = head.compared;
  if (!compared)
    return [
      h("h1", null, "Compare"),
      h("p", { class: "note" }, "This report is of one output; --against OTHER adds another."),
    ];
  const flips = await block("flips");
  const share = compared.met ? `${((1 - flips.length / compared.met) * 100).toFixed(1)} %` : "none";
  const [ours, theirs] = sideNames();
  const { here, there, both } = compared.unjudged;
  const open = [
    here && `${here} in ${ours}`,
    there && `${there} in ${theirs}`,
    both && `${both} in both`,
  ].filter(Boolean);
  const unshared = [
    compared.only_here && `${compared.only_here} in ${ours}`,
    compared.only_there && `${compared.only_there} in ${theirs}`,
  ].filter(Boolean);
  return [
    h("h1", null, "Compare ", named(head.name), " with ", named(compared.name)),
    h(
      "p",
      { class: "lead" },
      `${share} of ${counted(compared.met, "item")} that both judged came out the same; ${flips.length} flipped.`,
      open.length > 0 && ` Unjudged, and in none of these: ${open.join(", ")}.`,
      unshared.length > 0 && ` Only in one of the two: ${unshared.join(", ")}.`,
    ),
    h("h2", null, "Labels"),
    figuresShown(
      compared.labels?.figures,
      `Agreement of labels on ${counted(compared.labels?.items, "item")} of ${counted(compared.labels?.topics, "topic")}`,
    ),
    labelTable(compared.pairs),
    h("h2", null, "Runs"),
    movesPart(compared.moves),
    h("h2", null, "Flipped judgments, the largest change first"),
    flips.length ? flipsPart(flips) : h("p", { class: "note" }, "No judgment flipped."),
  ];
}

/** What the two jobs are called where their names must be short. */
function sideNames() {
  return [head.name, head.compared.name].map(cut);
}

/** Figures of agreement as tiles, each with its intervals. */
function figuresShown(figures, label) {
  if (!figures?.length) return null;
  return h(
    "ul",
    { class: "tiles figures", "aria-label": label, title: label },
    figures.map(({ name, value, intervals }) =>
      h(
        "li",
        { class: "tile" },
        name,
        h("b", null, value.toFixed(3)),
        intervals.map(([drawn, low, high]) =>
          h("span", { class: "muted" }, `${low.toFixed(3)} to ${high.toFixed(3)} over ${drawn}`),
        ),
      ),
    ),
  );
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
  const [ours, theirs] = sideNames();
  const rows = () => [
    [`${ours} \\ ${theirs}`, ...there.map(([, word]) => word)],
    ...labels("here").map((label) => [label[1], ...there.map((other) => count(label, other))]),
  ];
  const made = scrolling(
    `Labels of ${ours} in rows, of ${theirs} in columns`,
    h(
      "table",
      { class: "crossed" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h(
            "td",
            { class: "corner muted" },
            h("span", null, `${theirs} →`),
            h("span", null, `${ours} ↓`),
          ),
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
  return [takeAlong("labels", rows), made];
}

function movesPart(moves) {
  const names = [...new Set(moves.map((move) => move.measure))];
  if (!names.length) return h("p", { class: "note" }, "The two have no measure in common.");
  const place = h("div");
  const known = names.map((name) => head.measures.find((measure) => measure.name === name));
  const [ours, theirs] = sideNames();
  const tools = h("div", { class: "tools" });
  const figures = h("div");
  const draw = (i) => {
    const lower = known[i].lower_is_better;
    fresh(
      figures,
      figuresShown(head.compared.correlations[names[i]], "Agreement of the order of runs"),
    );
    drawUnder(
      tools,
      place,
      table(
        `${names[i]} of runs in ${ours} and ${theirs}`,
        [
          { name: "Run", header: true, key: (move) => move.run, cell: (move) => runLink(move.run) },
          {
            name: `Place in ${ours}`,
            number: true,
            lower: true,
            key: (move) => move.place_here,
            cell: (move) => move.place_here ?? "?",
          },
          {
            name: `Place in ${theirs}`,
            number: true,
            lower: true,
            key: (move) => move.place_there,
            cell: (move) => move.place_there ?? "?",
          },
          {
            name: ours,
            number: true,
            lower,
            key: (move) => move.here.value,
            cell: (move) => meanShown(move.here),
          },
          {
            name: theirs,
            number: true,
            lower,
            key: (move) => move.there.value,
            cell: (move) => meanShown(move.there),
          },
          {
            name: `${ours} − ${theirs}`,
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
  tools.append(
    chooser("Measure", known.map(measureLabel), at, (i) => {
      remember("measure", names[i]);
      draw(i);
    }),
  );
  draw(at);
  return [figures, tools, place];
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

/** The flips, by the labels on both sides, by run and by text. */
function flipsPart(every) {
  const flips = [...every].sort((a, b) => b.size - a.size);
  const labels = (side) => [...new Set(flips.map((flip) => flip[side].word))].sort();
  const choices = {
    from: ["any label", ...labels("here")],
    to: ["any label", ...labels("there")],
    run: ["any run", ...new Set(flips.map((flip) => flip.run))],
  };
  const chosen = Object.fromEntries(
    Object.entries(choices).map(([what, names]) => [what, chosenIn(what, names, 0)]),
  );
  const fits = (what, value) => !chosen[what] || choices[what][chosen[what]] === value;
  const text = (flip) =>
    `${flip.run} ${flip.topic} ${flip.doc_id} ${flip.text} ${flip.nugget || ""} ${flip.here.word} > ${flip.there.word}`;
  const place = h("div");
  const count = h("span", { class: "muted", role: "status" });
  const tools = h("div", { class: "tools" });
  const draw = () => {
    const wanted = filterIn("filter");
    const kept = flips.filter(
      (flip) =>
        fits("from", flip.here.word) &&
        fits("to", flip.there.word) &&
        fits("run", flip.run) &&
        text(flip).toLowerCase().includes(wanted),
    );
    count.textContent = kept.length < flips.length ? `${kept.length} of ${flips.length}` : "";
    drawUnder(
      tools,
      place,
      table("Flipped judgments", flipColumns(flips), kept, "sort", { atOnce: 50 }),
    );
  };
  const choose = (what, label) =>
    chooser(label, choices[what], chosen[what], (i) => {
      chosen[what] = i;
      remember(what, i ? choices[what][i] : "");
      draw();
    });
  const [ours, theirs] = sideNames();
  add(tools, [
    filterBox("Filter flips", draw, "filter"),
    choose("from", ours),
    choose("to", theirs),
    choose("run", "Run"),
    count,
  ]);
  draw();
  return [tools, place];
}

function flipColumns(flips) {
  const [ours, theirs] = sideNames();
  const nugget = {
    name: "Nugget",
    class: "clip",
    key: (flip) => flip.nugget,
    cell: (flip) => prose(flip.nugget || ""),
  };
  const label = (name, side) => ({
    name,
    class: "verdict-cell",
    key: (flip) => flip[side].word,
    cell: (flip) => badge(flip[side].tone, flip[side].word),
  });
  return [
    {
      name: "Text",
      class: "wide clip",
      key: (flip) => flip.text,
      cell: (flip) => (flip.text ? prose(flip.text) : h("span", { class: "muted" }, "the whole")),
    },
    ...(flips.some((flip) => flip.nugget) ? [nugget] : []),
    label(ours, "here"),
    label(theirs, "there"),
    { name: "Run", key: (flip) => flip.run, cell: (flip) => runLink(flip.run, oneLine) },
    {
      name: "Topic",
      key: (flip) => flip.topic,
      cell: (flip) => responseLink(flip.run, flip.topic, oneLine(flip.topic)),
    },
    placeColumn(({ run, topic, at, nugget, sentence_index: sentence, doc_id: on }) => ({
      ...{ run, topic, at, nugget, on },
      sentence: sentence ?? undefined,
    })),
  ];
}
