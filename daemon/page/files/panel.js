// A panel is a dialog that shows a part of the daemon. The page asks for that part while the dialog is open.

import { el } from "./text.js";

const every = 2000;

export class Panel {
  #timer = 0;
  #shown = "";
  #body = null;

  // path is what the page asks for. A class that extends Panel has a method fill, which returns the elements for an answer.
  constructor(token, dialog, say, title, path) {
    Object.assign(this, { token, dialog, say, title, path });
  }

  show() {
    this.#shown = "";
    this.#body = el("div", {}, el("p", { className: "hint" }, "..."));
    this.dialog.ariaLabel = this.title;
    this.dialog.onclose = () => clearTimeout(this.#timer);
    this.dialog.replaceChildren(el("h2", {}, this.title), this.#body,
      el("div", { className: "buttons" }, el("span"), el("button", { onclick: () => this.dialog.close() }, "Close")));
    this.dialog.showModal();
    this.look();
  }

  ask(path, options = {}) {
    return fetch(path, { ...options, headers: { Authorization: "Bearer " + this.token } });
  }

  async look() {
    clearTimeout(this.#timer);
    const body = this.#body;
    try {
      const answer = await this.ask(this.path);
      const text = await answer.text();
      if (body !== this.#body) return;
      if (!answer.ok) throw new Error(text.trim() || answer.statusText);
      // A button that is replaced between the press and the release of the mouse gets no click.
      if (text !== this.#shown && !body.matches(":active")) {
        const held = document.activeElement?.dataset?.job; // the focused button
        body.replaceChildren(...this.fill(JSON.parse(text)));
        if (held) ([...body.querySelectorAll("button")].find((b) => b.dataset.job === held) || this.dialog.querySelector(".buttons button")).focus();
        this.#shown = text;
      }
    } catch (e) {
      this.#shown = "";
      body.replaceChildren(el("p", { className: "bad", role: "alert" }, e.message));
    }
    if (this.dialog.open && body.isConnected) this.#timer = setTimeout(() => this.look(), every);
  }
}

// table returns a table, with a heading if label is not empty. It returns nothing if there are no rows. row returns a class and the cells. A column "x:n"
// has numbers.
export function table(label, heads, list, row) {
  if (list.length === 0) return [];
  const names = heads.map((h) => h.replace(/:n$/, ""));
  const cells = (tag, all) => all.map((cell, i) => el(tag, { className: heads[i] === names[i] ? "" : "n", ...(tag === "td" && i > 0 ? { "data-label": names[i].toLowerCase() } : {}) }, cell));
  return [...(label ? [el("h3", {}, label)] : []), el("table", {}, el("thead", {}, el("tr", {}, ...cells("th", names))),
    el("tbody", {}, ...list.map(row).map(([className, ...all]) => el("tr", { className }, ...cells("td", all)))))];
}
