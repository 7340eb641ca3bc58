// A response: sentences by label, citations as chips, claims under their sentence.

const NARROW = window.matchMedia("(max-width: 62rem)");
let chosenJudge = null;
let shownView = null;
NARROW.addEventListener("change", () => shownView?.placePanel());

class ResponseView {
  constructor(entry, topic) {
    this.entry = entry;
    this.topic = topic;
    this.panel = h("aside", {
      class: "evidence",
      tabindex: "-1",
      "aria-label": "Evidence; Escape goes back to the sentence",
      keydown: (event) => event.key === "Escape" && this.back(),
    });
    this.byKey = false;
    /** The sentence that keys go on from. */
    this.at = null;
    this.numbers = new Map();
    for (const key of entry.sentences.flatMap((sentence) => sentence.citations)) this.numberOf(key);
    this.judges = [...new Set(entry.judgments.map((judgment) => judgment.judge))];
    this.judge = this.judges.includes(chosenJudge)
      ? chosenJudge
      : this.judges.find((judge) => Object.keys(entry.tones[judge] || {}).length) || this.judges[0];
    this.tools = h("div", { class: "tools" });
    this.list = h("div", { class: "response" });
    this.status = h("p", { class: "hidden", role: "status" });
    this.element = h("div", { class: "reading" }, this.status, this.tools, this.list, this.panel);
    this.draw();
  }

  numberOf(key) {
    if (!this.numbers.has(key)) this.numbers.set(key, this.numbers.size + 1);
    return this.numbers.get(key);
  }

  /** Positions of the chosen judge's judgments that pass a test. */
  where(test) {
    return this.entry.judgments.flatMap((judgment, i) =>
      judgment.judge === this.judge && test(judgment) ? [i] : [],
    );
  }

  first() {
    const open = this.where((judgment) => judgment.evidence || judgment.sources);
    return open[0] ?? this.where(() => true)[0] ?? 0;
  }

  draw() {
    const counts = {};
    const words = {};
    const others = (judgment) => !judgment.nugget;
    for (const i of this.where(others)) {
      const { tone, word } = this.entry.judgments[i];
      counts[tone] = (counts[tone] || 0) + 1;
      (words[tone] ||= new Set()).add(word);
    }
    const only = (tone) => (words[tone].size === 1 ? [...words[tone]][0] : undefined);
    const whole = this.where(
      (judgment) =>
        others(judgment) && judgment.sentence_index === undefined && keyOf(judgment) === undefined,
    );
    const documents = this.where(
      (judgment) =>
        others(judgment) && judgment.sentence_index === undefined && keyOf(judgment) !== undefined,
    );
    fresh(
      this.tools,
      this.judges.length > 1 &&
        chooser("Coloured by", this.judges, this.judges.indexOf(this.judge), (i) => {
          chosenJudge = this.judge = this.judges[i];
          this.draw();
          this.pick(this.first(), false);
          this.tools.querySelector("select").focus(); // it was drawn again
        }),
      legend(
        Object.keys(head.signs)
          .filter((tone) => counts[tone])
          .map((tone) => [tone, counts[tone], only(tone)]),
      ),
      this.where(wantsALook).length > 0 &&
        h("button", { type: "button", click: () => this.goOn(1, true) }, "Next problem"),
    );
    fresh(
      this.list,
      this.box("Of the whole response", whole, () => ""),
      this.entry.sentences.length === 0 &&
        h("p", { class: "note" }, "The response has no sentence."),
      h(
        "ol",
        { class: "sentences" },
        this.entry.sentences.map((sentence) => this.sentence(sentence)),
      ),
      nuggetsBox(this),
      this.box("Of its documents", documents, (key) => `${this.numberOf(key)} ${cut(key)}`),
    );
    rove(this.list.querySelector(".sentences"), ".sentence");
    showMarks(this.list, this.entry.run, this.topic.id);
  }

  /**
   * Go to the next judgment that is not all good, or the one before; `around`: after the last to
   * the first. Returns whether there is one.
   */
  goOn(way, around) {
    const wanted = this.where(wantsALook);
    const ahead = wanted.filter((i) => way * i > way * this.picked);
    const next = (way > 0 ? ahead[0] : ahead.at(-1)) ?? (around ? wanted[0] : undefined);
    if (next === undefined) return false;
    location.hash = this.address(next).slice(1);
    this.list.querySelector(`[data-judgment="${next}"]`)?.scrollIntoView({ block: "center" });
    return true;
  }

  /** Go to the next sentence or the one before, and open the first of its judgments. */
  step(way) {
    const indexes = this.entry.sentences.map(({ index }) => index);
    const from = indexes.indexOf(this.at);
    const to = from < 0 ? (way > 0 ? 0 : indexes.length - 1) : from + way;
    if (indexes[to] === undefined) return;
    this.at = indexes[to];
    const item = this.list.querySelector(`[data-sentence="${this.at}"]`);
    const link = item.querySelector("[data-judgment]");
    if (link) location.hash = link.getAttribute("href").slice(1);
    (link || item).focus({ preventScroll: true });
    item.scrollIntoView({ block: "center" });
  }

  box(title, positions, name) {
    if (!positions.length) return null;
    return h(
      "div",
      { class: "whole" },
      h("h2", null, title),
      h(
        "p",
        { class: "chips" },
        positions.map((i) => {
          const { opponent } = this.entry.judgments[i];
          const against = opponent && `against ${cut(opponent.run || "another run")}:`;
          return this.chip(i, against || name(keyOf(this.entry.judgments[i])));
        }),
      ),
    );
  }

  sentence(sentence) {
    const tone = this.entry.tones[this.judge]?.[sentence.index] || "plain";
    const mine = this.where(
      (judgment) => judgment.sentence_index === sentence.index && !judgment.nugget,
    );
    const stated = statedIn(this, sentence.index);
    const claims = mine.filter((i) => this.entry.judgments[i].claim);
    const open = this.entry.open[this.judge]?.includes(sentence.index);
    const verdict =
      tone === "plain" && !sentence.citations.length ? "no citation" : head.meanings[tone];
    return h(
      "li",
      { class: `sentence ${tone}`, "data-sentence": sentence.index, tabindex: "-1" },
      h(
        "span",
        { class: "gutter" },
        h("span", { class: "muted", "aria-hidden": "true" }, sentence.index + 1),
        sign(tone),
        open && openMark(),
        h(
          "span",
          { class: "hidden" },
          `Sentence ${sentence.index + 1}, ${verdict}${open ? ", something unjudged" : ""}: `,
        ),
      ),
      h(
        "div",
        { class: "body" },
        h("p", null, sentence.text ? prose(sentence.text) : h("i", { class: "muted" }, "no text")),
        Object.entries(this.entry.signs ?? {})
          .filter(([, at]) => at.includes(sentence.index))
          .map(([sign]) => h("p", null, h("small", { class: "muted" }, head.gaming[sign]))),
        this.chips(
          sentence,
          mine.filter((i) => !this.entry.judgments[i].claim),
        ),
        claims.length > 0 &&
          h(
            "ul",
            { class: "claims", "aria-label": `Claims of sentence ${sentence.index + 1}` },
            claims.map((i) => h("li", null, this.claim(i))),
          ),
        stated.length > 0 &&
          h(
            "ul",
            { class: "claims", "aria-label": `Nuggets in sentence ${sentence.index + 1}` },
            stated.map((i) => h("li", null, this.nugget(i))),
          ),
        pathShown(this, sentence.index),
      ),
    );
  }

  chips(sentence, mine) {
    const keys = [
      ...new Set([...sentence.citations, ...mine.map((i) => keyOf(this.entry.judgments[i]))]),
    ];
    if (!keys.length) return null;
    return h(
      "p",
      { class: "chips" },
      keys.flatMap((key) => {
        const found = mine.filter((i) => keyOf(this.entry.judgments[i]) === key);
        if (found.length)
          return found.map((i) => this.chip(i, key === undefined ? "" : this.numberOf(key)));
        const label = this.judgesCitations() ? "not judged" : "cited";
        return h(
          "span",
          { class: "chip plain", title: key },
          sign("plain"),
          ` ${this.numberOf(key)} `,
          h("span", { class: "word" }, label),
        );
      }),
    );
  }

  /** Whether the chosen judge looks at citations at all. */
  judgesCitations() {
    return this.where((judgment) => judgment.citation !== undefined).length > 0;
  }

  chip(i, name) {
    const judgment = this.entry.judgments[i];
    return h(
      "a",
      {
        class: `chip ${judgment.tone}`,
        href: this.address(i),
        "data-judgment": i,
        click: (event) => this.choose(i, event),
        title: keyOf(judgment),
      },
      sign(judgment.tone),
      ` ${name} `,
      h("span", { class: "word" }, wordOf(judgment)),
    );
  }

  claim(i) {
    const judgment = this.entry.judgments[i];
    const weight = judgment.claim.importance;
    const weighed =
      weight === 1 ? "" : weight === 0.5 ? "a detail" : `weight ${weight ?? "not known"}`;
    const sure = judgment.confidence === undefined ? "" : judgment.confidence.toFixed(2);
    const more = [judgment.word, sure, judgment.kind, judgment.match, weighed]
      .filter(Boolean)
      .join(" · ");
    return h(
      "a",
      {
        class: `claim ${judgment.tone}`,
        href: this.address(i),
        "data-judgment": i,
        click: (event) => this.choose(i, event),
      },
      sign(judgment.tone),
      " ",
      prose(judgment.claim.text),
      " ",
      h("small", { class: "muted" }, more),
    );
  }

  nugget(i, tone = this.entry.judgments[i].tone) {
    const { nugget } = this.entry.judgments[i];
    return h(
      "a",
      {
        class: `claim ${tone}`,
        href: this.address(i),
        "data-judgment": i,
        click: (event) => this.choose(i, event),
      },
      sign(tone),
      h("span", { class: "hidden" }, `${head.of_nuggets[tone]}: `),
      " ",
      nuggetShown(nugget),
      " ",
      nugget.importance && h("small", { class: "muted" }, nugget.importance),
    );
  }

  address(i) {
    return address("response", this.entry.run, this.topic.id, i);
  }

  /** Whoever chooses by key goes on to the evidence; a click of a mouse leaves the focus. */
  choose(i, event) {
    this.byKey = event.detail === 0;
    if (this.byKey && this.picked === i) this.panel.focus(); // its address may not change
  }

  back() {
    this.list.querySelector(`[data-judgment="${this.picked}"]`)?.focus();
  }

  /** Show the evidence of a judgment; `asked` is true where somebody chose it. */
  pick(i, asked) {
    const judgment = this.entry.judgments[i];
    if (judgment && judgment.judge !== (judgment.nugget ? nuggetJudge(this) : this.judge)) {
      this.judge = judgment.judge;
      this.draw();
    }
    for (const link of this.list.querySelectorAll("[data-judgment]")) {
      if (Number(link.dataset.judgment) === i) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.picked = i;
    const told = new Set(judgment?.nugget ? toldAt(this.entry, i).map(([index]) => index) : []);
    for (const item of this.list.querySelectorAll("[data-sentence]"))
      item.classList.toggle("told", told.has(Number(item.dataset.sentence)));
    if (asked) openPath(this, this.sentenceOf(i));
    // A nugget may be told in several sentences: keys go on from the one where it was chosen.
    const here = `[data-sentence="${this.at}"] [data-judgment="${i}"]`;
    if (asked && !this.list.querySelector(here)) this.at = this.sentenceOf(i);
    if (!judgment) {
      fresh(this.panel, h("p", { class: "muted" }, "Nothing was judged here."));
      return;
    }
    evidencePanel(this.panel, this, judgment, i);
    this.asked ||= asked;
    if (asked) this.status.textContent = visible(`${placeOf(judgment)}: ${wordOf(judgment)}`);
    this.placePanel();
    if (asked && NARROW.matches) this.panel.scrollIntoView({ block: "nearest" });
    if (asked && this.byKey) this.panel.focus({ preventScroll: true });
    this.byKey = false;
  }

  /** The sentence that a judgment is on, or that states its nugget first. */
  sentenceOf(i) {
    return this.entry.judgments[i]?.sentence_index ?? toldAt(this.entry, i)[0]?.[0];
  }

  /** Beside the response where there is room; else below the sentence, once one was chosen. */
  placePanel() {
    const item = this.list.querySelector(`[data-sentence="${this.sentenceOf(this.picked)}"]`);
    if (NARROW.matches && this.asked && item) item.append(this.panel);
    else this.element.append(this.panel);
  }
}
