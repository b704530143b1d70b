// Makes elements.  Text from runs comes in by textContent alone, with what steers it told by code.

const STEERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export const visible = (text) => String(text).replace(STEERS, (c) => {
  if (c === "\n" || c === "\t") return c;
  const code = c.codePointAt(0).toString(16);
  return code.length < 3 ? "\\x" + code.padStart(2, "0") : "\\u" + code.padStart(4, "0");
});

// An element: a name with classes ("p.soft.wide"), then texts, elements, or an object of attributes.
export const el = (name, ...inner) => {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  put(made, ...inner);
  return made;
};

// Put texts, elements and attributes into an element; what is nothing is left out.
export const put = (made, ...inner) => {
  for (const one of inner.flat(Infinity)) {
    if (one === null || one === undefined || one === "" || one === false) continue;
    if (one instanceof Node) made.append(one);
    else if (typeof one === "object") {
      for (const [key, value] of Object.entries(one)) {
        if (typeof value === "function") made.addEventListener(key, value);
        else made.setAttribute(key, value);
      }
    } else made.append(document.createTextNode(visible(one)));
  }
};

export const number = (value, digits = 0) => value === null || value === undefined ? "–"
  : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const counted = (many, thing) => number(many) + " " + thing + (many === 1 ? "" : "s");

export const badge = (text, kind) => el("span.badge." + kind, text);

export const outcomeOf = (row) => !row.valid ? "invalid" : row.resolved ? "resolved" : "failed";

const line = ([no, kind, spans]) => {
  const shown = el("span.tx", spans.map(([name, text]) =>
    name ? el("span.t-" + name, text) : text));
  const mark = { "+": ".plus", "-": ".minus", "@": ".gap" }[kind] ?? "";
  return el("div.ln" + mark, el("span.no", no ?? ""),
    el("span.sign", kind === "@" ? "⋯" : kind), shown);
};

// Lines of a text; `all` asks for those that were cut.
export const block = ([lines, left], all) => {
  const diff = lines.some(([, kind]) => kind !== " ");
  const bare = !diff && lines.every(([no]) => no === null);
  const made = el("div.code" + (diff ? ".diff" : "") + (bare ? ".bare" : ""));
  for (let at = 0; at < lines.length; at += 200)
    made.append(el("div.chunk", lines.slice(at, at + 200).map(line)));
  if (!lines.length) made.append(el("p.soft", "(nothing)"));
  if (left && all) made.append(el("button.more", { type: "button", click: all },
    "Show " + counted(left, "more line")));
  else if (left) made.append(el("p.soft", counted(left, "more line") + " are in the file alone"));
  return made;
};

export const folded = (title, open, ...inner) => {
  const made = el("details", el("summary", title), inner);
  made.open = open;
  return made;
};

const facts = (pairs) => el("dl.facts", pairs
  .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
  .map(([name, value]) => el("div", el("dt", name), el("dd", value))));

const links = (steps, go) => steps.map((step) => el("button.link",
  { type: "button", click: () => go(step || "changes") }, step ? "step " + step : "handed in"));

const KINDS = { violation: "bad", error: "bad", suspicious: "warn", warning: "warn", info: "plain" };

export const finding = (found, go, here) => el("section.card." + found.severity,
  { "aria-label": "Finding " + visible(found.label) },
  el("h4", el("span.kind", "finding"), " ", found.label, found.title && " · " + found.title),
  el("p", badge(found.severity, KINDS[found.severity]), " ",
    badge(found.succeeded ? "with effect" : "attempted", found.succeeded ? "bad" : "plain"), " ",
    badge(found.deterministic ? "proved" : "likeness " + number(found.confidence * 100) + "%", "plain")),
  found.detail && el("p.text", found.detail),
  found.span && el("p.text.mono", found.span),
  el("p.soft", "by ", found.detector || "?", found.steps.length > 1 || !here
    ? [", at ", links(found.steps, go)] : ""));

const hint = (event) => el("section.card." + event.severity,
  { "aria-label": "Hint " + visible(event.kind) },
  el("h4", el("span.kind", "hint"), " ", event.kind.replaceAll("_", " ")),
  el("p.text", event.hint, event.privileged && el("span.soft", " (tells what the agent cannot know)")),
  facts([["at the " + event.part, event.at && el("span.mono", event.at)],
    ...event.evidence.map(([name, value]) => [name.replaceAll("_", " "), el("span.mono", value)])]),
  el("p", badge(event.severity, KINDS[event.severity]), " ",
    el("span.soft", "from a " + event.source.replaceAll("_", " "))));

const call = (one, all) => el("section.call", { "aria-label": "Call of " + visible(one.tool) },
  facts(one.arguments.filter((a) => "text" in a).map((a) => [a.name, el("span.mono.text", a.text)])),
  one.arguments.filter((a) => "block" in a).map((a) => [el("h4", a.name), block(a.block, all)]),
  one.diff && block(one.diff, all));

const short = (time) => time.replace("T", " ").replace(/\.\d+.*$/, "");

// A step in full.
export const step = (told, go, all) => [
  el("h3", "Step " + told.n + " ", el("span.mono", told.title), " ",
    told.wrong && badge(told.wrong, "bad"), " ", told.copied && badge("copied context", "plain")),
  told.findings.map((one) => finding(one, go, true)),
  told.feedback.map(hint),
  told.reasoning && folded("Reasoning", told.reasoning.length < 1500,
    el("div.prose.text.soft", told.reasoning)),
  told.message && el("div.prose.text", told.message),
  told.calls.map((one) => call(one, all)),
  told.results.length > 0 && el("h4", "Result"),
  told.results.map((one) => block(one, all)),
  told.truncated && el("p.soft", "The agent saw this cut."),
  facts([["time", told.time && short(told.time)], ["exit code", told.exit],
    ["reward", told.reward ? number(told.reward, 3) : null],
    ...Object.entries(told.metrics).map(([name, value]) =>
      [name, value === null ? null : name.startsWith("cost") ? number(value, 6) : number(value)])]),
];

const tests = (found, left) => {
  const names = Object.keys(found);
  if (!names.length) return null;
  const rows = names.map((name) => el("tr", el("td", badge(found[name], "bad")),
    el("th", { scope: "row" }, name)));
  const table = (some) => el("table", el("caption.apart", "Tests that did not pass"),
    el("thead", el("tr", el("th", { scope: "col" }, "outcome"), el("th", { scope: "col" }, "test"))),
    el("tbody", some));
  return [el("h4", counted(names.length + left, "test") + " not passed"), table(rows.slice(0, 20)),
    rows.length > 20 && folded(counted(rows.length - 20, "more test"), false, table(rows.slice(20)),
      left > 0 && el("p.soft", counted(left, "more test") + " in outcomes.jsonl"))];
};

const changedFiles = (changes, go) => changes && [el("h4", "Handed in"),
  changes.files.length ? el("p", el("button.link", { type: "button", click: () => go("changes") },
    counted(changes.files.length, "changed file")), ", of which " + number(changes.files.filter((f) => f.counted).length) + " count")
    : el("p.soft", "Nothing was changed.")];

// What the rollout gave, and what it was asked.
export const overview = (head, go) => {
  const { record, usage, agent } = head;
  const marked = head.steps.filter((row) => row.b).length;
  return [
    el("h3", "Overview"),
    head.missing && el("p.card.error", head.missing),
    record.error && el("section.card.error", { "aria-label": "Error" },
      el("h4", "error"), el("p.text.mono", record.error)),
    head.findings.map((one) => finding(one, go, false)),
    head.findings.length > 0 && !head.placed && el("p.soft", "The task is not known here, so steps of "
      + "findings are told by the trajectory alone and may be off: name the task with --tasks."),
    facts([
      ["reward", number(record.reward, 3) + (head.graded !== null && head.graded !== record.reward
        ? " (graded " + number(head.graded, 3) + ")" : "")],
      ...Object.entries(record.components).map(([name, value]) =>
        [name.replaceAll("_", " "), number(value, 3)]),
      ["ended", record.reason.replaceAll("_", " ") + (record.truncated ? ", truncated" : "")],
      ["monitor", head.action], ["steps", number(record.n_steps)],
      ["agent", agent.name], ["model", agent.model],
      ["prompt tokens", usage.prompt_tokens && number(usage.prompt_tokens)],
      ["completion tokens", usage.completion_tokens && number(usage.completion_tokens)],
      ["cost, USD", usage.cost_usd && number(usage.cost_usd, 4)],
      ["seconds", usage.seconds && number(usage.seconds, 1)],
      ["seed", String(record.seed)], ["attempts", record.attempts > 1 && String(record.attempts)]]),
    marked > 0 && el("p.soft", counted(marked, "step") + " with hints: ", el("kbd", "f"), " goes to the next"),
    tests(head.tests, head.tests_left),
    changedFiles(head.changes, go),
    head.program && [el("h4", "Program"),
      facts([["command", el("span.mono.text", head.program.command)], ["exit code", head.program.exit]]),
      folded("What it wrote", false, block(head.program.output))],
    agent.instruction && folded("Instruction", true, el("div.prose.text", agent.instruction)),
  ];
};

// Findings that rest on what was handed in.
export const handed = (head) => head.findings.filter((one) => one.steps.includes(0));

// What was handed in; `load` fetches the diff of a file.
export const changes = (head, go, load) => {
  const found = head.changes;
  const cards = handed(head).map((one) => finding(one, go, true));
  if (!found) return [el("h3", "Handed in"), cards, el("p.soft", "It is not recorded what was handed in.")];
  let open = 0;
  const file = (one, place) => {
    const inner = el("div");
    const kind = { added: "good", deleted: "bad" }[one.kind] ?? "plain";
    const made = folded([badge(one.kind, kind), " ", el("span.mono", one.path), " ",
      one.counted ? badge("counts", "good") : el("span.soft", "is not graded")], false, inner);
    const fill = async (full) => inner.replaceChildren(one.text
      ? block((await load(place, full)).block, full ? null : () => fill(true))
      : el("p.soft", "no text, or too long to be recorded"));
    made.addEventListener("toggle", () => made.open && !inner.childNodes.length && fill(false));
    if (one.counted && open++ < 20) made.open = true;
    return made;
  };
  const order = [...found.files.keys()].sort((a, b) => found.files[b].counted - found.files[a].counted);
  return [el("h3", "Handed in"), cards, order.map((at) => file(found.files[at], at)),
    !found.files.length && el("p.soft", "Nothing was changed."),
    found.left_out > 0 && el("p.soft", counted(found.left_out, "more file"))];
};

// The words' places in what is read, for the browser to mark.
export const mark = (box, words) => {
  if (!window.CSS?.highlights) return;
  CSS.highlights.delete("found");
  const wanted = words.toLowerCase();
  if (!wanted) return;
  const ranges = [];
  for (const part of box.querySelectorAll(".tx, .text, dd")) {
    const nodes = [], walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    let text = "";
    while (walk.nextNode() && ranges.length < 2000) {
      nodes.push([text.length, walk.currentNode]);
      text += walk.currentNode.data;
    }
    const lower = text.toLowerCase();
    if (lower.length !== text.length) continue;
    const point = (at) => {
      const [start, node] = nodes.findLast(([first]) => first <= at);
      return [node, at - start];
    };
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(...point(at));
      const [node, last] = point(at + wanted.length - 1);
      range.setEnd(node, last + 1);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
  ranges[0]?.startContainer.parentElement.scrollIntoView({ block: "center" });
};
