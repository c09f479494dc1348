// The page, which connects its parts.

import { el, rate, count } from "./text.js";
import { Model, filters } from "./model.js";
import { Stream } from "./stream.js";
import { Control } from "./control.js";
import { List, columns } from "./list.js";
import { Detail } from "./detail.js";
import { Dialogs } from "./dialogs.js";
import { Fleet } from "./fleet.js";
import { Watches } from "./watches.js";
import { keyboard } from "./keys.js";

const $ = (id) => document.getElementById(id);

// The token is in sessionStorage, which the browser deletes with the tab and does not share with other tabs.
// localStorage would stay on disk, where another program that later uses this port could read it.
const storage = { token: "braid token", columns: "braid columns" };

function door(refused) {
  $("app").hidden = true;
  $("door").hidden = false;
  $("refused").textContent = refused ? "This is not the token." : "";
  $("token").value = "";
  $("token").focus();
  $("door").onsubmit = (event) => {
    event.preventDefault();
    begin($("token").value.trim());
  };
}

let stream = null;

// begin opens the stream with a token. The page is created once the stream is open.
function begin(token) {
  stream?.close();
  let page = null;
  const first = [];
  stream = new Stream(token, (change) => (page ? page.apply(change) : first.push(change)), (state) => {
    if (state === "refused") {
      sessionStorage.removeItem(storage.token);
      lost(false);
      return door(token !== "" || !$("door").hidden);
    }
    if (state === "open" && !page) {
      sessionStorage.setItem(storage.token, token);
      $("door").hidden = true;
      $("app").hidden = false;
      page = new Page(token);
      first.forEach((change) => page.apply(change));
    }
    lost(state === "lost");
  });
}

function lost(is) {
  $("lost").hidden = !is;
  $("lost").firstChild.textContent = "The connection to braid is lost. It is tried again.";
  $("lost").lastChild.onclick = () => stream.again();
  $("state").textContent = is ? "not connected" : "";
}

function say(text) {
  const toast = el("p", {}, text);
  $("toasts").append(toast);
  setTimeout(() => toast.remove(), 6000);
}

class Page {
  model = new Model();
  #changed = true;
  #frame = 0;

  constructor(token) {
    this.control = new Control(token);
    this.ask = Object.assign(new Dialogs(this.control, say), { say });
    this.list = new List(this.model, $("list"), $("space"));
    this.detail = new Detail(this.model, $("detail"), { token, act: (...a) => this.act(...a), ask: this.ask, close: () => this.close() });
    this.hidden = new Set(JSON.parse(localStorage.getItem(storage.columns) || '["added"]'));
    this.filters();
    this.columns();
    $("add").onclick = () => this.ask.add();
    for (const [name, Kind] of [["fleet", Fleet], ["watches", Watches]]) {
      if ($("panel").dataset[name] === "yes") this[name] = new Kind(token, $("panel"), say);
      $(name).hidden = !this[name];
      $(name).onclick = () => this[name].show();
    }
    for (const query of ["(max-width: 640px)", "(max-width: 999px)", "(min-width: 1200px)"]) matchMedia(query).onchange = () => this.columns();
    $("search").oninput = () => this.change({ search: $("search").value });
    $("list").onclick = (event) => this.click(event);
    keyboard(this);
    this.dropping();
    this.draw();
    $("list").focus();
  }

  // apply applies an event of the stream. The page is drawn at most once per frame of the screen.
  apply(change) {
    if (this.model.apply(change)) this.#changed = true;
    if (!change.more) this.draw();
  }

  // change sets the filter, the search or the order. It rebuilds the list at once, so that the next key applies to what
  // is shown. It clears the selection if other entries are shown.
  change(properties) {
    Object.assign(this.model, properties);
    if ("filter" in properties || "search" in properties) this.model.selected.clear();
    this.arrange();
    for (const b of $("filters").children) if (b.name === this.model.filter) b.scrollIntoView({ block: "nearest", inline: "nearest" });
    $("list").scrollTop = this.list.at = 0;
    this.draw();
  }

  draw() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#changed) this.arrange();
      this.list.draw();
      this.detail.draw();
      $("total").textContent = rate(this.model.speed());
      this.commands();
    });
  }

  arrange() {
    this.#changed = false;
    const { here } = this.list;
    this.model.arrange();
    const at = here ? this.model.list.indexOf(here) : -1;
    if (at >= 0) this.list.at = at;
    const n = this.model.counts();
    for (const b of $("filters").children) {
      b.lastChild.textContent = n[b.name].toLocaleString("en");
      b.setAttribute("aria-pressed", this.model.filter === b.name);
      b.classList.toggle("none", n[b.name] === 0);
    }
    this.edges();
    for (const b of $("head").children) {
      if (b.name === this.model.sort) b.setAttribute("aria-sort", this.model.down ? "descending" : "ascending");
      else b.removeAttribute("aria-sort");
    }
    document.title = n.active > 0 ? `${n.active} active - braid` : "braid";
    $("empty").hidden = this.model.list.length > 0;
    $("empty").textContent = this.model.rows.size > 0 ? "No download is like that." : "Nothing is in the queue. Add URLs, or drop a torrent or Metalink document here.";
  }

  // edges marks the sides of a row of buttons that can be scrolled.
  edges() {
    for (const box of [$("filters"), $("actions")]) {
      const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
      box.dataset.more = [box.scrollLeft > 1 ? "left" : "", rest > 1 ? "right" : ""].join(" ").trim();
    }
  }

  filters() {
    for (const box of [$("filters"), $("actions")]) {
      box.addEventListener("scroll", () => this.edges(), { passive: true });
      new ResizeObserver(() => this.edges()).observe(box);
    }
    $("filters").replaceChildren(...filters.map(([name, label], i) =>
      el("button", { name, title: `${label} ( ${i + 1} )`, onclick: () => this.change({ filter: name }) }, label + " ", el("b"))));
  }

  // columns creates the column headings. The first click sorts, the second reverses, the third restores the order of
  // the queue.
  columns() {
    localStorage.setItem(storage.columns, JSON.stringify([...this.hidden]));
    const heads = this.list.columnsOf(this.hidden).map(([name, label, , number]) => el("button", {
      name, className: number ? "n" : "", title: "Sort by " + label.toLowerCase(), onclick: () => {
        const { sort, down } = this.model;
        this.change(sort !== name ? { sort: name, down: false } : down ? { sort: "queue", down: false } : { down: true });
      },
    }, label));
    $("head").replaceChildren(el("span"), ...heads);
    $("head").oncontextmenu = (event) => {
      event.preventDefault();
      this.ask.columns(columns, this.hidden, () => this.columns());
    };
    this.#changed = true;
    this.draw();
  }

  // target returns the selected entries, or else the one at the keyboard's cursor.
  target() {
    if (this.model.selected.size > 0) return [...this.model.selected];
    return this.list.here ? [this.list.here] : [];
  }

  // commands shows the buttons for the current selection. It keeps the elements if they are the same, so that they keep
  // the focus.
  commands() {
    const picked = [...this.model.selected];
    const of = (command) => this.model.can(command, picked).length;
    const now = picked.length > 0
      ? [["pause", "Pause", of("pause")], ["resume", "Resume", of("resume")], ["retry", "Retry", of("retry")], ["remove", "Remove", of("remove")], ["none", "Clear", 1]].filter((c) => c[2])
      : [["pauseAll", "Pause all"], ["unpauseAll", "Resume all"], ["tidy", "Clear finished"], ["columns", "Columns"], ["keys", "?"]];
    const key = picked.length + now.map((c) => c[0]).join();
    if ($("actions").dataset.key === key) return;
    $("actions").dataset.key = key;
    $("actions").replaceChildren(...(picked.length > 0 ? [el("span", {}, `${picked.length.toLocaleString("en")} selected`)] : []),
      ...now.map(([name, label]) => el("button", { className: picked.length === 0 ? "plain" : name === "remove" ? "bad" : "", name, onclick: () => this.act(name, picked) }, label)));
    this.edges();
  }

  // act carries out a command for those of the entries that it applies to.
  async act(name, gids) {
    const { model } = this;
    const each = { pause: "pause", resume: "unpause", retry: "unpause" }[name];
    const fits = each || name === "remove" ? model.can(name, gids) : [];
    switch (name) {
      case "none":
        model.selected.clear();
        return this.draw();
      case "keys":
        return this.ask.keys();
      case "columns":
        return this.ask.columns(columns, this.hidden, () => this.columns());
      case "tidy":
        return this.send([...model.rows.values()].filter((r) => r.status === "complete" || r.status === "removed").map((r) => ["removeDownloadResult", r.gid]));
      case "pauseAll":
      case "unpauseAll":
        return this.send([[name]]);
      case "remove":
        if (fits.length === 0) return undefined;
        return this.ask.remove(fits.map((g) => model.rows.get(g)), async () => {
          const stopped = (g) => ["complete", "error", "removed"].includes(model.rows.get(g)?.status);
          await this.send(fits.map((g) => [stopped(g) ? "removeDownloadResult" : "remove", g]));
          model.selected.clear();
        });
    }
    return this.send(fits.map((g) => [each, g]));
  }

  async send(calls) {
    try {
      const errors = await this.control.all(calls);
      if (errors.length > 0) say(errors.length === 1 ? errors[0] : `${count(errors.length, "command")} failed: ${errors[0]}`);
    } catch (e) {
      say(`Nothing was done: ${e.message}`);
    }
  }

  click(event) {
    const at = this.list.index(event.target);
    if (at < 0) return;
    const g = this.model.list[at];
    if (event.shiftKey) this.list.go(at, true);
    else if (event.ctrlKey || event.metaKey || event.target.closest(".mark")) {
      this.model.toggle(g);
      this.list.go(at);
    } else {
      this.list.go(at);
      this.open(g);
    }
    this.draw();
  }

  open(g) {
    const first = !this.list.open;
    this.list.open = g;
    this.detail.open(g);
    if (first) this.columns();
    this.draw();
  }

  close() {
    this.list.open = "";
    this.detail.close();
    $("list").focus();
    this.columns();
  }

  // move moves waiting entries before a position of the queue and keeps their order. Entries that come from further up
  // leave a gap, so that those in between move up.
  move(gids, to) {
    const [moved, queued, calls] = [new Set(gids), this.model.queued(), []];
    const end = Math.min(to, queued.length);
    let next = end;
    const place = (i) => (i < end ? end - 1 : next++);
    queued.forEach((g, i) => moved.has(g) && calls.push(["changePosition", g, place(i), "POS_SET"]));
    return this.send(calls);
  }

  dropping() {
    const list = $("list");
    let dragged = null;
    let over = null;
    const mark = (e) => {
      over?.classList.remove("drop");
      over = e;
      over?.classList.add("drop");
    };
    list.addEventListener("dragstart", (event) => {
      const g = this.model.list[this.list.index(event.target)];
      dragged = this.model.selected.has(g) ? [...this.model.selected] : [g];
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
    });
    document.addEventListener("dragover", (event) => {
      event.preventDefault();
      if (!dragged) document.body.classList.toggle("over", event.dataTransfer.types.includes("Files"));
      else mark(event.target.closest?.('.item[draggable="true"]'));
    });
    document.addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("over"));
    document.addEventListener("dragend", () => mark((dragged = null)));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("over");
      const g = over && this.model.list[this.list.index(over)];
      mark(null);
      if (dragged && g) this.move(dragged, this.model.queued().indexOf(g));
      else if (!dragged && event.dataTransfer.files.length > 0) this.ask.drop(event.dataTransfer.files);
      else if (!dragged) this.ask.add(event.dataTransfer.getData("text/uri-list") || event.dataTransfer.getData("text/plain"));
      dragged = null;
    });
  }
}

begin(sessionStorage.getItem(storage.token) || "");
