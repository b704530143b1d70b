"use strict";
(() => {
  const table = document.getElementById("task-table");
  const form = document.getElementById("filters");
  if (!table || !form) return;
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const at = (name) => heads.findIndex((head) => head.textContent === name);
  const outcomeAt = at("outcome"), runAt = at("run"), errorAt = at("error");
  const rows = [...body.rows].map((row, place) => {
    const words = [...row.cells].map((cell) => cell.textContent);
    const numbers = [...row.cells].map((cell) =>
      cell.dataset.value ? Number(cell.dataset.value) : null);
    const text = (words[0] + " " + (errorAt < 0 ? "" : words[errorAt])).toLowerCase();
    return { row, place, words, numbers, text };
  });
  const [text, outcome, run, count] =
    ["text", "outcome", "run", "count"].map((name) => document.getElementById("filter-" + name));

  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    for (const one of rows) {
      const fits = one.text.includes(wanted)
        && (!outcome.value || one.words[outcomeAt] === outcome.value)
        && (!run.value || one.words[runAt] === run.value);
      one.row.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown + " of " + rows.length + " rows";
  };

  const sort = (column, falling) => {
    const numeric = rows.some((one) => "value" in one.row.cells[column].dataset);
    const compare = (a, b) => {
      const [x, y] = numeric
        ? [a.numbers[column], b.numbers[column]] : [a.words[column], b.words[column]];
      if (numeric && (x === null || y === null)) return (x === null) - (y === null);
      const order = x < y ? -1 : x > y ? 1 : 0;
      return falling ? -order : order;
    };
    body.append(...[...rows].sort((a, b) => compare(a, b) || a.place - b.place)
      .map((one) => one.row));
    heads.forEach((head, place) => head.setAttribute("aria-sort",
      place !== column ? "none" : falling ? "descending" : "ascending"));
  };

  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () =>
    sort(column, head.getAttribute("aria-sort") === "ascending")));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.hidden = false;
  filter();
})();
