// The list. It has elements only for the visible rows, however many entries the queue has.

import { el, size, rate, time, date } from "./text.js";
import { mark, put } from "./marks.js";
import { share, left, state, proof, host, queued } from "./model.js";

// columns has the class, the heading and the width of each column, and whether it is a number.
export const columns = [
  ["name", "Name", "minmax(110px, 1.8fr)"],
  ["state", "State", "minmax(90px, 1.25fr)"],
  ["progress", "Progress", "minmax(90px, 130px)"],
  ["size", "Size", "76px", true],
  ["speed", "Speed", "86px", true],
  ["left", "Time left", "88px", true],
  ["proof", "Proof", "minmax(100px, 1.6fr)"],
  ["added", "Added", "116px", true],
];

export class List {
  #pool = [];
  #first = -1;
  #row = 34;
  at = 0; // index of the row with the keyboard's cursor
  open = ""; // the entry with open details

  constructor(model, box, space) {
    Object.assign(this, { model, box, space });
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => {
      this.#row = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 34;
      this.draw();
    }).observe(box);
  }

  // here is the entry at the keyboard's cursor.
  get here() {
    return this.model.list[this.at];
  }

  // draw updates the visible rows.
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
    const cells = { mark: el("span", { className: "mark" }, mark()), name: el("span", { className: "name" }, el("bdi")) };
    cells.state = el("span", {}, el("bdi"), el("bdi"));
    const bar = el("i");
    const percent = el("span");
    cells.progress = el("span", { className: "progress" }, el("span", { className: "track" }, bar), percent);
    cells.size = el("span", { className: "n size" });
    cells.folder = el("span", { className: "folder" }, el("bdi"));
    for (const name of ["speed", "left"]) cells[name] = el("span", { className: "n " + name });
    cells.proof = el("span", {}, mark(), el("bdi"));
    cells.added = el("span", { className: "n soft added" });
    const e = el("div", { className: "item", role: "option" }, ...Object.values(cells));
    Object.assign(e, { cells, bar, percent });
    this.space.append(e);
    return e;
  }

  #fill(e, r, index, selected) {
    const { cells } = e;
    const [is, result, part, waits] = [state(r), proof(r), share(r), queued(r)];
    e.className = `item ${r.status}${part > 0 ? " begun" : ""}${waits ? " queued" : ""}${index === this.at ? " here" : ""}${r.gid === this.open ? " shown" : ""}`;
    e.id = "r" + r.gid;
    e.draggable = this.model.sort === "queue" && !this.model.down && (r.status === "waiting" || r.status === "paused");
    e.setAttribute("aria-selected", selected);
    e.setAttribute("aria-posinset", index + 1);
    e.setAttribute("aria-setsize", this.model.list.length);
    e.setAttribute("aria-label", `${r.name}, ${r.status === "error" ? "failed" : r.status}, ${Math.floor(part * 100)} percent, ${[is.text, result.text].filter(Boolean).join(", ")}`);
    put(cells.mark.firstChild, r.status);
    set(cells.name.firstChild, r.name);
    cells.name.title = r.name;
    e.bar.style.transform = `scaleX(${part})`;
    set(e.percent, r.size > 0 || part ? `${Math.floor(part * 100)} %` : "");
    cells.state.className = "state " + is.kind;
    cells.state.title = is.text;
    set(cells.state.firstChild, is.text);
    set(cells.state.lastChild, waits && host(r) ? " \u00b7 " + host(r) : "");
    set(cells.size, size(r.size) || (waits ? "?" : ""));
    cells.size.title = r.size >= 0 ? "" : "not known yet";
    set(cells.folder.firstChild, r.folder ? "to " + r.folder : "");
    cells.folder.title = r.folder || "";
    set(cells.speed, r.status === "active" ? rate(r.speed) : "");
    const wait = left(r);
    set(cells.left, r.status === "active" && wait < Infinity ? time(wait) : "");
    cells.proof.className = "proof " + result.kind;
    cells.proof.title = r.verified || result.text;
    put(cells.proof.firstChild, result.shape);
    set(cells.proof.lastChild, result.text);
    set(cells.added, date(r.added));
    this.#room(cells, waits, part === 0 && (waits || r.status === "error"));
  }

  // room shows and hides cells. If nothing has been downloaded, the state also takes the room of the progress. For a
  // waiting entry the folder takes the room of speed, time left and proof.
  #room(cells, waits, bare) {
    const shown = (name) => !this.hidden?.has(name);
    for (const [name] of columns) cells[name].hidden = !shown(name);
    const free = waits ? ["speed", "left", "proof"].filter(shown) : [];
    for (const name of free) cells[name].hidden = true;
    cells.folder.hidden = free.length === 0;
    cells.folder.style.setProperty("--span", Math.max(1, free.length));
    const wide = bare && shown("state") && shown("progress");
    if (wide) cells.progress.hidden = true;
    cells.state.style.setProperty("--span", wide ? 2 : 1);
  }

  // index returns the index of the row that contains an element, or -1.
  index(target) {
    const e = target.closest?.(".item");
    return e ? this.#first + this.#pool.indexOf(e) : -1;
  }

  // go moves the keyboard's cursor to a row and scrolls it into view.
  go(to, extend) {
    const was = this.at;
    this.at = Math.max(0, Math.min(to, this.model.list.length - 1));
    if (extend) this.model.range(was, this.at);
    const top = this.at * this.#row;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.#row > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + this.#row - this.box.clientHeight;
    this.draw();
  }

  // page is the number of visible rows.
  get page() {
    return Math.max(1, Math.floor(this.box.clientHeight / this.#row) - 1);
  }

  // columnsOf hides the columns in own and those without room beside the details. It returns the shown columns.
  columnsOf(own) {
    const hidden = (this.hidden = new Set(own));
    const beside = this.open && matchMedia("(min-width: 1200px)").matches;
    if (beside) for (const name of ["size", "speed", "left", "added"]) hidden.add(name);
    else if (matchMedia("(min-width: 641px) and (max-width: 999px)").matches) for (const name of ["left", "added"]) hidden.add(name);
    const shown = columns.filter((c) => !hidden.has(c[0]));
    document.documentElement.style.setProperty("--columns", "16px " + shown.map((c) => (beside && c[0] === "progress" ? "90px" : c[2])).join(" "));
    return shown;
  }
}

function set(e, text) {
  if (e.textContent !== text) e.textContent = text;
}
