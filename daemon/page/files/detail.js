// The details of one entry. The program makes the drawings, as for --report. The page only inserts them.

import { el, size, rate, time, date, count } from "./text.js";
import { mark } from "./marks.js";
import { share, left, state, proof, host } from "./model.js";

// The program escapes the text in a drawing. The page's Content-Security-Policy forbids inserting any other HTML.
const policy = window.trustedTypes?.createPolicy("picture", { createHTML: (html) => html }) ?? { createHTML: (html) => html };

export class Detail {
  gid = "";
  #drawn = ""; // status when the drawing was fetched
  #timer = 0;
  #picture = el("div", { id: "picture" });
  #bar = el("i");
  #facts = el("dl");
  #shown = ""; // the entry, as it was shown last
  #built = ""; // what the elements besides the bar and the facts were made from

  constructor(model, box, { token, act, ask, close }) {
    Object.assign(this, { model, box, token, act, ask, onClose: close });
  }

  open(gid) {
    this.gid = gid;
    this.#drawn = this.#shown = this.#built = "";
    this.box.replaceChildren();
    this.#picture.replaceChildren();
    this.box.hidden = false;
    this.draw();
  }

  close() {
    this.gid = "";
    this.box.hidden = true;
    clearTimeout(this.#timer);
  }

  // draw updates the details from the model.
  draw() {
    if (!this.gid) return;
    const r = this.#row;
    if (!r) return this.onClose();
    const key = JSON.stringify(r);
    if (key !== this.#shown) {
      this.#shown = key;
      this.#fill(r);
    }
    this.#picture.className = r.status;
    if (this.#drawn !== r.status) {
      this.#drawn = r.status;
      this.#fetch();
    }
  }

  // fill shows an entry. It keeps the buttons while they stay the same: if a button is replaced between the press and the
  // release of the mouse, the browser reports no click on it.
  #fill(r) {
    const built = JSON.stringify([r.name, r.status, r.kind, r.message, r.hint, r.status === "error" && state(r).text]);
    if (built !== this.#built) {
      this.#built = built;
      this.#build(r);
    }
    this.#bar.style.transform = `scaleX(${share(r)})`;
    this.#facts.replaceChildren(...facts(r, r.status === "waiting" ? waits(r, this.model.rows.values()) : ""));
  }

  #build(r) {
    const held = document.activeElement?.dataset?.act; // the focused button
    const parts = [
      el("div", { className: "title" }, el("h2", {}, r.name), el("button", { className: "plain", title: "Close ( Esc )", onclick: this.onClose, "data-act": "close" }, "Close")),
      el("div", { className: "track " + r.status }, this.#bar),
      r.status === "error" ? this.#trouble(r) : null,
      this.#facts,
      el("div", { className: "buttons" }, ...this.#buttons(r)),
      this.#picture,
    ];
    this.box.replaceChildren(...parts.filter(Boolean));
    if (held) this.box.querySelector(`[data-act="${held}"]`)?.focus();
  }

  // row is the open entry as the model has it now.
  get #row() {
    return this.model.rows.get(this.gid);
  }

  #button(name, label, does, className = "") {
    return el("button", { className, onclick: does, "data-act": name }, label);
  }

  #buttons(r) {
    const list = [];
    const command = (name, label, className) => list.push(this.#button(name, label, () => this.act(name, [r.gid]), className));
    if (r.status === "active" || r.status === "waiting") command("pause", "Pause");
    if (r.status === "paused") command("resume", "Resume", "main");
    const stopped = ["complete", "error", "removed"].includes(r.status);
    if (!stopped) {
      list.push(this.#button("limit", "Limit...", () => this.ask.limit(this.#row)));
      list.push(this.#button("mirror", "Mirror...", () => this.ask.mirror(this.#row)));
    }
    command("remove", stopped ? "Forget" : "Remove", "bad");
    return list;
  }

  // trouble shows why a download failed and buttons for the next step.
  #trouble(r) {
    const next = [this.#button("retry", "Retry", () => this.act("retry", [r.gid]), "main")];
    if (["mismatch", "no evidence", "bad signature", "no key"].includes(r.kind)) next.push(this.#button("digest", "Give a digest...", () => this.ask.digest(this.#row)));
    if (!["local", "usage", "limit"].includes(r.kind)) next.push(this.#button("mirror", "Other mirror...", () => this.ask.mirror(this.#row)));
    next.push(this.#button("log", "Show log", () => this.#log()));
    const reason = state(r).text;
    const open = this.box.querySelector(".exactly")?.open ?? false;
    return el("div", { className: "trouble" }, el("p", { className: "reason" }, mark(proof(r).shape || "error"), el("bdi", {}, sentence(reason))),
      r.hint ? el("p", { className: "hint" }, sentence(r.hint)) : null, el("div", { className: "buttons" }, ...next),
      r.message && r.message !== reason ? el("details", { className: "exactly", open }, el("summary", {}, "Exactly"), el("p", {}, r.message)) : null);
  }

  #log() {
    const log = this.#picture.querySelector("details");
    if (!log) return this.ask.say("Nothing more is known of this download: the daemon was started anew since.");
    log.open = true;
    log.scrollIntoView({ block: "start" });
  }

  // fetch fetches the drawing, repeatedly while the download is active.
  async #fetch() {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#timer = setTimeout(() => this.#fetch(), 1000);
      return;
    }
    const { gid } = this;
    const began = performance.now();
    try {
      const headers = this.token ? { Authorization: "Bearer " + this.token } : {};
      const answer = await fetch("/picture/" + gid, { headers, cache: "no-store" });
      if (gid !== this.gid) return;
      if (answer.status === 200) this.#put(await answer.text());
      else if (answer.status === 204) this.#picture.replaceChildren();
    } catch {
      // the stream reports a lost connection
    }
    const took = performance.now() - began;
    if (gid === this.gid && this.#drawn === "active") this.#timer = setTimeout(() => this.#fetch(), Math.max(1000, 10 * took));
  }

  #put(html) {
    const open = [...this.#picture.querySelectorAll("details")].map((d) => d.open);
    const parsed = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
    this.#picture.replaceChildren(...parsed.body.children);
    this.#picture.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? false));
  }
}

const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

// waits describes what a waiting entry waits for.
export function waits(r, rows) {
  const active = [...rows].filter((o) => o.status === "active");
  const same = host(r) ? active.filter((o) => host(o) === host(r)).length : 0;
  if (active.length === 0) return "";
  return `for a place: ${count(active.length, "download")} at once` + (same > 0 ? `, ${same.toLocaleString("en")} of them from ${host(r)}` : "");
}

// facts returns terms and their descriptions.
function facts(r, waiting) {
  const [is, result, list] = [state(r), proof(r), []];
  const add = (term, text, className = "", shape = "") => text && list.push(el("dt", {}, term), el("dd", { className }, shape ? mark(shape) : null, text));
  const speed = r.status === "active" && r.speed > 0 ? `, ${rate(r.speed)}` : "";
  const wait = r.status === "active" && left(r) < Infinity ? `, ${time(left(r))} left` : "";
  if (r.status !== "error") { // the reason of a failure is shown above
    add("State", is.text + speed + wait, r.status, r.status);
    add("Proof", r.verified || (result.text && result.text + ": nothing shows that it is the right file"), "proof " + result.kind, result.shape);
  }
  add("Waits", waiting);
  const all = r.size >= 0 ? size(r.size) : "";
  add("Size", r.status !== "complete" && r.done > 0 ? `${size(r.done)} of ${all || "an unknown size"}` : all);
  add("From", (r.url || "a document that was added") + (r.more ? ` and ${count(r.more, "mirror")}` : ""));
  add("To", r.path || r.folder);
  add("Limit", rate(Number(r.limit)) || (r.limit ? r.limit + " a second" : ""));
  add("Added", date(r.added) + (r.ended ? `, ended ${date(r.ended)}` : ""));
  add("Watch", r.watch);
  add("Attempts", r.attempts > 1 ? String(r.attempts) : "");
  return list;
}
