// The list: no more rows are in the document than can be seen, however many entries there are.

import { el, size, rate, time, date } from "./text.js";
import { share, left, outcome } from "./model.js";

// columns: the class, what stands above, the width, and whether it is a number.
export const columns = [
  ["name", "Name", "minmax(120px, 2.2fr)"],
  ["progress", "Progress", "minmax(90px, 150px)"],
  ["size", "Size", "76px", true],
  ["speed", "Speed", "86px", true],
  ["left", "Time left", "88px", true],
  ["outcome", "Evidence", "minmax(110px, 1.6fr)"],
  ["added", "Added", "116px", true],
];

export class List {
  #pool = [];
  #first = -1;
  #row = 34;
  at = 0; // where the keyboard is
  open = ""; // the entry whose details are shown

  constructor(model, box, space) {
    Object.assign(this, { model, box, space });
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => {
      this.#row = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 34;
      this.draw();
    }).observe(box);
  }

  // here is the entry where the keyboard is.
  get here() {
    return this.model.list[this.at];
  }

  // draw fills as many rows as can be seen.
  draw() {
    const { list, rows, selected } = this.model;
    this.at = Math.max(0, Math.min(this.at, list.length - 1));
    this.space.style.height = list.length * this.#row + "px";
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.#row) - 2);
    const count = Math.min(list.length - first, Math.ceil(this.box.clientHeight / this.#row) + 4);
    while (this.#pool.length < count) this.#pool.push(this.#make());
    while (this.#pool.length > Math.max(count, 0)) this.#pool.pop().remove();
    this.#pool.forEach((e, i) => {
      const r = rows.get(list[first + i]);
      e.style.transform = `translateY(${(first + i) * this.#row}px)`;
      if (r) this.#fill(e, r, first + i, selected.has(r.gid));
    });
    this.#first = first;
    this.box.setAttribute("aria-activedescendant", this.here ? "r" + this.here : "");
  }

  #make() {
    const cells = { mark: el("span", { className: "mark" }), name: el("span", { className: "name" }, el("bdi")) };
    const bar = el("i");
    const percent = el("span");
    cells.progress = el("span", { className: "progress" }, el("span", { className: "track" }, bar), percent);
    for (const name of ["size", "speed", "left"]) cells[name] = el("span", { className: "n " + name });
    cells.outcome = el("span", {}, el("bdi"));
    cells.added = el("span", { className: "n soft added" });
    const e = el("div", { className: "item", role: "option" }, ...Object.values(cells));
    Object.assign(e, { cells, bar, percent });
    this.space.append(e);
    return e;
  }

  #fill(e, r, index, selected) {
    const { cells } = e;
    const result = outcome(r);
    const part = share(r);
    e.className = `item ${r.status}${part > 0 ? " begun" : ""}${r.status === "complete" && !r.verified ? " unproven" : ""}${index === this.at ? " here" : ""}${r.gid === this.open ? " shown" : ""}`;
    e.id = "r" + r.gid;
    e.draggable = this.model.sort === "queue" && !this.model.down && (r.status === "waiting" || r.status === "paused");
    e.setAttribute("aria-selected", selected);
    e.setAttribute("aria-posinset", index + 1);
    e.setAttribute("aria-setsize", this.model.list.length);
    e.setAttribute("aria-label", `${r.name}, ${r.status === "error" ? "failed" : r.status}, ${Math.floor(part * 100)} percent, ${result.text}`);
    set(cells.name.firstChild, r.name);
    cells.name.title = r.name;
    e.bar.style.transform = `scaleX(${part})`;
    set(e.percent, r.size > 0 || part ? `${Math.floor(part * 100)} %` : "");
    set(cells.size, size(r.size));
    set(cells.speed, r.status === "active" ? rate(r.speed) : "");
    const wait = left(r);
    set(cells.left, r.status === "active" && wait < Infinity ? time(wait) : "");
    set(cells.outcome.firstChild, result.text);
    cells.outcome.className = "outcome " + result.kind;
    cells.outcome.title = result.text;
    set(cells.added, date(r.added));
    for (const [name] of columns) cells[name].hidden = this.hidden?.has(name) ?? false;
  }

  // index is the place in the list of the row that has an element.
  index(target) {
    const e = target.closest?.(".item");
    return e ? this.#first + this.#pool.indexOf(e) : -1;
  }

  // go moves the keyboard to a place, which can be seen then.
  go(to, extend) {
    const was = this.at;
    this.at = Math.max(0, Math.min(to, this.model.list.length - 1));
    if (extend) this.model.range(was, this.at);
    const top = this.at * this.#row;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.#row > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + this.#row - this.box.clientHeight;
    this.draw();
  }

  // page is how many rows can be seen.
  get page() {
    return Math.max(1, Math.floor(this.box.clientHeight / this.#row) - 1);
  }

  // columnsOf hides columns, and those that have no room beside the details.
  columnsOf(own) {
    const hidden = (this.hidden = new Set(own));
    const beside = this.open && matchMedia("(min-width: 1200px)").matches;
    if (beside) for (const name of ["size", "left", "added"]) hidden.add(name);
    const shown = columns.filter((c) => !hidden.has(c[0]));
    document.documentElement.style.setProperty("--columns", "16px " + shown.map((c) => (beside && c[0] === "progress" ? "100px" : c[2])).join(" "));
    return shown;
  }
}

function set(e, text) {
  if (e.textContent !== text) e.textContent = text;
}
