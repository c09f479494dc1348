// The fleet: its workers and hosts, the running jobs, and the waiting and dead jobs with their reasons.

import { el, size, rate, time, count } from "./text.js";
import { Panel, table } from "./panel.js";

const tries = (n) => (n === 1 ? "1 try" : `${n.toLocaleString("en")} tries`);

export class Fleet extends Panel {
  constructor(token, dialog, say) {
    super(token, dialog, say, "Fleet", "/fleet");
  }

  fill(f) {
    const part = (label, list, row) => (list.length > 0 ? [el("h3", {}, label), el("ul", { className: "jobs" }, ...list.map(row))] : []);
    const gone = f.workers.filter((w) => w.silent).length;
    const words = [count(f.workers.length, "worker") + (gone > 0 ? ` (${gone} silent)` : ""), ...["queued", "running", "waiting", "dead", "done"].map((s) => `${(f.jobs[s] || 0).toLocaleString("en")} ${s}`), rate(f.speed)];
    return [
      el("p", {}, words.filter(Boolean).join(", ")),
      ...(f.drained ? [el("p", { className: "bad" }, "Drained: no worker takes a job.")] : []),
      ...(f.lost > 0 ? [el("p", { className: "bad" }, `The server of the queue came back empty ${time(f.lost)} ago: jobs of before that were not done are lost, but for those of this daemon.`)] : []),
      ...table("Workers", ["Worker", "Jobs:n", "Speed:n", "From"], f.workers, workerRow),
      ...table("Hosts", ["Host", "Running:n", "Queued:n", "Later:n", "Dead:n", "Speed:n"], f.hosts, hostRow),
      f.unshown > 0 ? el("p", { className: "hint" }, `${count(f.unshown, "host")} more with fewer jobs`) : "",
      ...part("Running", f.running, running),
      ...part("Dead", f.dead, (j) => this.#tried(j, `${tries(j.tries)}, the last at ${j.worker || "no worker"}`, "bad")),
      ...part("Tried again later", f.waiting, (j) => this.#tried(j, `in ${time(j.next)}, after ${tries(j.tries)}`, "")),
    ];
  }

  #tried(j, when, kind) {
    return el("li", {}, el("bdi", {}, j.name), el("button", { "data-job": j.key, onclick: () => this.#retry(j) }, "Retry"), el("span", { className: "why " + kind, title: j.message || "" }, j.why || "no reason is known"), note(when));
  }

  async #retry(j) {
    try {
      const answer = await this.ask("/fleet/retry", { method: "POST", body: j.key });
      if (!answer.ok) this.say((await answer.text()).trim());
    } catch (e) {
      this.say(`Nothing was done: ${e.message}`);
    }
    this.look();
  }
}

const note = (text) => el("span", { className: "hint" }, text);

// The name of a worker is a machine, and behind a slash a process.
function workerRow(w) {
  const [machine, ...process] = w.name.split("/");
  const jobs = w.jobs.toLocaleString("en");
  const at = w.silent ? el("span", { className: "bad" }, jobs + ", does not answer") : w.jobs > 0 ? jobs : "idle";
  const from = (w.hosts || []).join(", ");
  return [w.silent || w.jobs > 0 ? "" : "soft", el("bdi", {}, machine, process.length > 0 ? el("small", {}, "/" + process.join("/")) : ""), at, w.silent ? "" : rate(w.speed), from && el("bdi", {}, from)];
}

function hostRow(h) {
  const n = (x) => (x > 0 ? x.toLocaleString("en") : "");
  return ["", el("bdi", {}, h.name || "no host"), n(h.running), n(h.queued), n(h.waiting), h.dead > 0 ? el("span", { className: "bad" }, n(h.dead)) : "", rate(h.speed)];
}

function running(j) {
  const bar = el("i");
  bar.style.transform = `scaleX(${j.size > 0 ? Math.min(1, j.done / j.size) : 0})`;
  const far = j.size > 0 ? `${size(j.done)} of ${size(j.size)}` : size(j.done);
  return el("li", {}, el("bdi", {}, j.name), el("div", { className: "track active" }, bar),
    note([far, rate(j.speed), j.sources > 0 ? count(j.sources, "source") : "", `since ${time(j.since)}`, `at ${j.worker}`].filter(Boolean).join(", ")));
}
