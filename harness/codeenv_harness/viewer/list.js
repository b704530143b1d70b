// A list of rows of one height: only those in sight are in the page, so ten thousand cost nothing.

export class RowList {
  constructor(box, height, draw, pick) {
    Object.assign(this, { box, height, draw, pick });
    this.items = [];
    this.chosen = -1;
    this.rows = new Map();
    this.space = document.createElement("div");
    this.space.className = "space";
    this.space.setAttribute("role", "presentation");
    box.replaceChildren(this.space);
    box.addEventListener("scroll", () => this.paint(), { passive: true });
    new ResizeObserver(() => this.paint()).observe(box);
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.pick(Number(row.dataset.place), true);
    });
    box.addEventListener("keydown", (event) => this.key(event));
  }

  fill(items, chosen = -1) {
    this.items = items;
    this.chosen = chosen;
    this.space.style.height = items.length * this.height + "px";
    this.again();
  }

  // Draw all rows in sight anew: what they tell has changed.
  again() {
    this.rows.clear();
    this.space.replaceChildren();
    this.paint();
  }

  choose(place) {
    const before = this.chosen;
    this.chosen = place;
    if (place >= 0) {
      const top = place * this.height, sight = this.box.clientHeight;
      const off = Math.max(this.box.scrollTop - top, top + this.height - this.box.scrollTop - sight);
      if (off > 2 * this.height) this.box.scrollTop = top - sight / 2;
      else if (top < this.box.scrollTop) this.box.scrollTop = top;
      else if (off > 0) this.box.scrollTop += off;
    }
    this.paint();
    for (const one of [before, place])
      this.rows.get(one)?.setAttribute("aria-selected", String(one === place));
  }

  paint() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 6);
    const last = Math.min(this.items.length,
      Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 6);
    for (const [place, row] of this.rows) {
      if (place < first || place >= last) {
        row.remove();
        this.rows.delete(place);
      }
    }
    for (let place = first; place < last; place++) {
      if (!this.rows.has(place)) this.add(place);
    }
    const chosen = this.rows.get(this.chosen);
    if (chosen) this.box.setAttribute("aria-activedescendant", chosen.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  add(place) {
    const row = document.createElement("div");
    row.id = this.box.id + "-" + place;
    row.dataset.place = place;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(place === this.chosen));
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", this.items.length);
    row.style.top = place * this.height + "px";
    row.style.height = this.height + "px";
    this.draw(this.items[place], row, place);
    this.rows.set(place, row);
    this.space.append(row);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
      Home: -this.items.length, End: this.items.length }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey || !this.items.length) return;
    event.preventDefault();
    this.pick(Math.min(this.items.length - 1, Math.max(0, this.chosen + by)), false);
  }
}
