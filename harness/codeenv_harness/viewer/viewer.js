// What is chosen, where that stands in the address, and what the keys do.

import { RowList } from "./list.js";
import { badge, block, changes, el, handed, mark, number, outcomeOf, overview, put, step, visible } from "./show.js";

const byId = (id) => document.getElementById(id);
const [body, reading, detail, words, told] = [document.body, byId("reading"), byId("detail"), byId("words"), byId("told")];
const POLL = 4000, KEPT = 60;
let runs = [], version = "", all = [], chosen = null, head = null, place = 0;
let hits = [], hitting = new Set(), loading = 0;
const steps = new Map();

const ask = async (what, query = {}) => {
  const answer = await fetch("/api/" + what + "?" + new URLSearchParams(query));
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
};
const same = (a, b) => a && b && a.run === b.run && a.task === b.task && a.rollout === b.rollout;
const named = (row) => ({ run: row.run, task: row.task, rollout: row.rollout });
const tell = (text) => { told.textContent = visible(text); };
const failed = (error) => tell(error instanceof TypeError
  ? "The viewer does not answer. Start it again, then reload." : error.message);
const pane = (name) => {
  body.dataset.pane = name;
  for (const one of document.querySelectorAll("[data-to]"))
    one.setAttribute("aria-pressed", String(one.dataset.to === name));
};

// The list of rollouts.

const SIGNS = { resolved: ["✓", "good"], failed: ["✗", "bad"], invalid: ["?", "warn"] };
const ACTIONS = { mask: "bad", quarantine: "warn", flag: "warn" };
const flagged = (row) => row.action !== "" && row.action !== "pass";
const rollouts = new RowList(byId("rollouts"), 52, (row, box) => {
  const outcome = outcomeOf(row), [sign, kind] = SIGNS[outcome];
  put(box, el("span.sign." + kind, { "aria-label": outcome, role: "img" }, sign),
    el("span.name", { title: visible(row.task) }, row.task), el("span.about",
      runs.length > 1 && row.name + " ", "#" + row.rollout,
      " · " + number(row.reward, 2), " · " + row.reason.replaceAll("_", " "),
      " · " + number(row.steps) + (row.steps === 1 ? " step" : " steps")),
    (flagged(row) || row.labels.length > 0) && el("span.marks",
      badge(flagged(row) ? row.action : row.labels[0], ACTIONS[row.action] ?? "plain")));
}, (at) => go({ ...named(rollouts.items[at]), at: 0 }, { push: true }));

const fits = {
  "": () => true, flagged, resolved: (row) => outcomeOf(row) === "resolved",
  failed: (row) => outcomeOf(row) === "failed", invalid: (row) => outcomeOf(row) === "invalid",
  found: (row) => row.labels.length > 0,
};
const orders = {
  task: () => 0, low: (a, b) => a.reward - b.reward, high: (a, b) => b.reward - a.reward,
  long: (a, b) => b.steps - a.steps, short: (a, b) => a.steps - b.steps,
};
const filter = () => {
  const text = byId("filter-text").value.trim().toLowerCase(), run = byId("filter-run").value;
  const shown = all.filter((row) => fits[byId("filter-outcome").value](row)
    && (!run || row.run === run) && (row.task + " " + row.name).toLowerCase().includes(text));
  const order = orders[byId("filter-sort").value];
  shown.sort((a, b) => order(a, b) || a.place - b.place);
  rollouts.fill(shown, shown.findIndex((row) => same(row, chosen)));
  byId("count").textContent = number(shown.length) + " of " + number(all.length);
};
const load = async () => {
  const found = await ask("runs", { known: version });
  version = found.version;
  if (!found.runs) return;
  const before = all.length;
  runs = found.runs;
  all = runs.flatMap((run) => run.rollouts.map((row) => ({ ...row, run: run.id, name: run.name })));
  all.forEach((row, at) => { row.place = at; });
  const choice = byId("filter-run"), kept = choice.value;
  choice.replaceChildren(el("option", "all", { value: "" }),
    ...runs.map((run) => el("option", run.name, { value: run.id })));
  choice.value = kept;
  byId("run-choice").hidden = runs.length < 2;
  document.title = "codeenv view: " + visible(runs.map((run) => run.name).join(", ")).slice(0, 80);
  const errors = runs.map((run) => run.error).filter(Boolean);
  if (errors.length) tell(errors.join("; "));
  else if (before && all.length > before) tell(number(all.length - before) + " more ended");
  filter();
};

// The steps of a rollout: 0 is the overview, the last is what was handed in.

const FOUND = () => el("span.dot.finding", { role: "img", "aria-label": "finding" }, "▲");
const list = new RowList(byId("steps"), 28, (row, box, at) => {
  if (at === 0 || at === list.items.length - 1) {
    put(box, el("span.no"), el("strong.line", row.t), row.v && el("span.marks", FOUND()));
    return;
  }
  if (hitting.has(at)) box.classList.add("hit");
  put(box, el("span.no", String(at)), el("span.tool", row.t), el("span.line", row.s),
    el("span.marks", row.e && badge(row.e, "bad"),
      row.v && FOUND(),
      row.b && el("span.dot.hint", { role: "img", "aria-label": "hint" }, "◆")));
}, (at, clicked) => move(at, clicked));

const address = (row, at) => "#/" + [row.run, row.task, row.rollout].map(encodeURIComponent).join("/")
  + (at === 0 ? "" : head && at > head.steps.length ? "/changes" : "/step/" + at);
let late = 0;
const write = (push) => {
  clearTimeout(late);
  const set = () => history[push ? "pushState" : "replaceState"](null, "", address(chosen, place));
  if (push) set();
  else late = setTimeout(set, 150); // browsers stop pages that do this at every key
};
const last = () => head.steps.length + 1;
const goTo = (where) => move(where === "changes" ? last() : where, true);

const move = (at, push) => {
  if (!head) return;
  place = Math.min(last(), Math.max(0, at));
  list.choose(place);
  pane("detail");
  write(push);
  read();
};
const show = (...inner) => {
  detail.replaceChildren(...inner.flat(3).filter((one) => one instanceof Node));
  detail.scrollTop = 0;
  mark(detail, words.value.trim());
};
const fetched = async (number, full) => {
  const key = number + (full ? " full" : "");
  if (!steps.has(key)) {
    steps.set(key, ask("step", { ...chosen, step: number, ...(full ? { full: 1 } : {}) }));
    steps.get(key).catch(() => steps.delete(key));
    if (steps.size > KEPT) steps.delete(steps.keys().next().value);
  }
  return steps.get(key);
};
const beside = () => el("p.beside",
  place > 0 && el("button", { type: "button", click: () => move(place - 1, true) }, "‹ before"),
  place < last() && el("button", { type: "button", click: () => move(place + 1, true) }, "next ›"));
const read = async (full = false) => {
  const mine = ++loading, at = place, of = chosen;
  try {
    if (at === 0) show(overview(head, goTo), beside());
    else if (at === last()) show(changes(head, goTo, (file, whole) =>
      ask("change", { ...of, file, ...(whole ? { full: 1 } : {}) })), beside());
    else {
      const found = await fetched(at, full || hitting.has(at));
      if (mine === loading) show(step(found, goTo, full ? null : () => read(true)), beside());
      if (mine === loading && at < head.steps.length) fetched(at + 1, hitting.has(at + 1)).catch(() => {});
    }
  } catch (error) { failed(error); }
};

// A rollout.

const drawHead = () => {
  const row = all.find((one) => same(one, chosen)), { record } = head, outcome = outcomeOf(row);
  byId("head").replaceChildren(el("h2", record.task_id, el("span.soft", " #" + record.rollout)),
    el("p", badge(outcome, SIGNS[outcome][1]), badge("reward " + number(record.reward, 2), "plain"),
      badge(record.reason.replaceAll("_", " "), "plain"),
      flagged(row) && badge("monitor: " + row.action, ACTIONS[row.action] ?? "plain"),
      el("span.soft", [head.agent.name, head.agent.model].filter(Boolean).join(" · "))));
};
const open = async (wanted) => {
  const row = all.find((one) => same(one, wanted));
  chosen = null;
  head = null;
  hits = [];
  hitting.clear();
  steps.clear();
  if (!row) {
    list.fill([]);
    byId("head").replaceChildren();
    tell("There is no such rollout here (yet).");
    return false;
  }
  const mine = ++loading;
  reading.setAttribute("aria-busy", "true");
  chosen = named(row);
  rollouts.choose(rollouts.items.findIndex((one) => same(one, row)));
  const found = await ask("rollout", chosen);
  if (mine !== loading) return false;
  head = found;
  tell("");
  drawHead();
  list.box.scrollTop = 0;
  list.fill([{ t: "Overview" }, ...head.steps,
    { t: "Handed in", v: handed(head).length }], 0);
  if (words.value.trim()) await search(false);
  if (mine === loading) reading.removeAttribute("aria-busy");
  return mine === loading;
};
const go = async ({ at, ...wanted }, { push = false, stay = false } = {}) => {
  try {
    if (!same(wanted, chosen) || !head) {
      if (!await open(wanted)) return;
      if (!stay) pane(at === 0 ? "steps" : "detail");
    }
    place = at === "changes" ? last() : Math.min(last(), at);
    list.choose(place);
    if (push) write(true);
    await read();
  } catch (error) {
    reading.removeAttribute("aria-busy");
    failed(error);
  }
};
const follow = () => {
  const [, run, task, rollout, kind, number] = location.hash.split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return ""; }
  });
  if (rollout === undefined) {
    const first = rollouts.items[0];
    if (first) return go({ ...named(first), at: 0 }, { stay: true });
    return tell("Nothing has ended yet; rollouts appear here as they do.");
  }
  const at = kind === "changes" ? "changes" : kind === "step" ? Number(number) || 0 : 0;
  return go({ run, task, rollout: Number(rollout), at });
};
const rolloutBy = (by) => {
  const at = rollouts.chosen + by;
  if (at >= 0 && at < rollouts.items.length)
    go({ ...named(rollouts.items[at]), at: 0 }, { push: true });
};
const marked = (by) => {
  for (let at = place + by; at > 0 && at <= last(); at += by)
    if (list.items[at].v || list.items[at].b) return move(at, false);
  return tell(by > 0 ? "No finding or hint after this step" : "No finding or hint before this step");
};

// Search.

const count = () => {
  const at = hits.indexOf(place);
  byId("hits").textContent = !words.value.trim() ? "" : !hits.length ? "none"
    : (at >= 0 ? at + 1 + " of " : "") + number(hits.length) + (hits.length === 1 ? " step" : " steps");
};
let searched = 0;
const search = async (jump) => {
  const mine = ++searched, text = words.value.trim();
  const found = text && chosen ? (await ask("search", { ...chosen, words: text })).steps : [];
  if (mine !== searched) return;
  hits = found;
  hitting = new Set(hits);
  list.again();
  if (jump && hits.length && !hitting.has(place))
    move(hits.find((at) => at > place) ?? hits[0], false);
  else if (head && jump) read();
  count();
};
const hit = (by) => {
  if (!hits.length) return;
  const next = by > 0 ? hits.find((at) => at > place) ?? hits[0]
    : hits.findLast((at) => at < place) ?? hits.at(-1);
  move(next, false);
  count();
};
let typed = 0;
words.addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => search(true).catch(failed), 200);
});
words.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.shiftKey) {
    event.preventDefault();
    hit(-1);
  }
});
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  hit(1);
});
byId("hit-before").addEventListener("click", () => hit(-1));

// Keys.

const help = byId("help");
const keys = {
  j: () => move(place + 1, false), k: () => move(place - 1, false),
  n: () => rolloutBy(1), p: () => rolloutBy(-1), o: () => head && move(0, false),
  f: () => head && marked(1), F: () => head && marked(-1),
  "/": () => words.select() ?? words.focus(),
  t: () => { pane("rollouts"); byId("filter-text").focus(); },
  "?": () => help.showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const writing = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && writing) {
    if (event.target === words) { words.value = ""; search(true).catch(failed); }
    event.target.blur();
    detail.focus();
  } else if (!writing && keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});
byId("help-open").addEventListener("click", () => help.showModal());
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  detail.focus();
});
for (const one of document.querySelectorAll("[data-to]"))
  one.addEventListener("click", () => pane(one.dataset.to));
byId("filters").addEventListener("input", filter);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("popstate", follow);

const poll = async () => {
  try {
    if (!document.hidden) {
      await load();
      if (!chosen && all.length) await follow();
    }
    setTimeout(poll, POLL);
  } catch (error) { failed(error); }
};
load().then(follow).then(() => setTimeout(poll, POLL)).catch(failed);
