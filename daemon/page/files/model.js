// The entries of the queue as the stream of events tells them: which of them are shown, in which order, and which are selected.
// It knows nothing of the document.

export const filters = [
  ["all", "All", () => true],
  ["active", "Active", (r) => r.status === "active"],
  ["waiting", "Waiting", (r) => r.status === "waiting" || r.status === "paused"],
  ["failed", "Failed", (r) => r.status === "error"],
  ["unverified", "Not verified", (r) => r.status === "complete" && !r.verified],
  ["done", "Complete", (r) => r.status === "complete"],
];

const group = { active: 0, waiting: 1, paused: 1, error: 2, complete: 2, removed: 2 };
const stopped = (r) => group[r.status] === 2;

// byQueue has what is active first, then what waits, in the order of the queue, then what stopped, the latest first.
function byQueue(a, b) {
  return group[a.status] - group[b.status] || (stopped(a) ? b.rank - a.rank : (group[a.status] === 1 ? (b.priority || 0) - (a.priority || 0) : 0) || a.rank - b.rank);
}

const words = new Intl.Collator(undefined, { numeric: true });
const orders = {
  name: (a, b) => words.compare(a.name, b.name),
  progress: (a, b) => share(b) - share(a),
  size: (a, b) => b.size - a.size,
  speed: (a, b) => (b.speed || 0) - (a.speed || 0),
  left: (a, b) => left(a) - left(b),
  outcome: (a, b) => words.compare(outcome(a).text, outcome(b).text),
  added: (a, b) => b.added - a.added,
};

export const share = (r) => (r.size > 0 ? Math.min(1, r.done / r.size) : r.status === "complete" ? 1 : 0);
export const left = (r) => (r.speed > 0 && r.size > 0 ? (r.size - r.done) / r.speed : Infinity);

// outcome says in a few words what an entry is at, or what proved it: its class and its text.
export function outcome(r) {
  switch (r.status) {
    case "active":
      if (r.seeding) return { kind: "good", text: "in place; peers can have it" };
      if (r.worker) return { kind: "", text: `at ${r.worker}` };
      return { kind: "", text: r.connections > 0 ? `${r.connections} connection${r.connections === 1 ? "" : "s"}` : "connecting" };
    case "error":
      return { kind: "bad", text: reason(r) };
    case "complete":
      return r.verified ? { kind: "good", text: r.verified } : { kind: "warn", text: "not verified" };
  }
  return { kind: "", text: r.status };
}

// reason is the message of a failure without the address, which stands beside it anyway.
function reason(r) {
  const text = r.message || r.kind || "failed";
  const at = r.url ? text.indexOf(r.url + ": ") : -1;
  return at >= 0 && at < 30 ? text.slice(at + r.url.length + 2) : text;
}

export class Model {
  rows = new Map();
  selected = new Set();
  filter = "all";
  search = "";
  sort = "queue";
  down = false; // the other way round
  list = []; // the GIDs that are shown, in order
  #live = new Set();

  // apply takes an event. It reports whether the list may have become another one.
  apply(change) {
    if (change.all) {
      this.rows.clear();
      this.#live.clear();
    }
    for (const r of change.rows || []) {
      this.rows.set(r.gid, r);
      this.#live.delete(r.gid);
    }
    for (const g of change.gone || []) {
      this.rows.delete(g);
      this.selected.delete(g);
      this.#live.delete(g);
    }
    const now = new Set();
    for (const l of change.live || []) {
      const r = this.rows.get(l.gid);
      if (!r || r.status !== "active") continue;
      Object.assign(r, { speed: l.speed, connections: l.connections, seeding: l.seeding, worker: l.worker, done: l.done, size: l.size });
      now.add(l.gid);
    }
    for (const g of this.#live) {
      const r = !now.has(g) && this.rows.get(g);
      if (r) r.speed = r.connections = 0;
    }
    this.#live = now;
    const moves = this.sort !== "queue" && this.sort !== "name" && this.sort !== "added";
    return Boolean(change.all || change.rows || change.gone || moves);
  }

  // arrange makes the list anew.
  arrange() {
    const keep = filters.find((f) => f[0] === this.filter)[2];
    const parts = this.search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (r) => {
      const text = `${r.name}\n${r.url || ""}\n${r.path || ""}\n${r.message || ""}\n${r.verified || ""}`.toLowerCase();
      return parts.every((p) => text.includes(p));
    };
    const rows = [];
    for (const r of this.rows.values()) if (keep(r) && (parts.length === 0 || found(r))) rows.push(r);
    const order = orders[this.sort];
    rows.sort(order ? (a, b) => order(a, b) || byQueue(a, b) : byQueue);
    if (this.down) rows.reverse();
    this.list = rows.map((r) => r.gid);
    for (const g of this.selected) if (!this.rows.has(g)) this.selected.delete(g);
  }

  counts() {
    const n = Object.fromEntries(filters.map((f) => [f[0], 0]));
    for (const r of this.rows.values()) for (const [name, , keep] of filters) if (keep(r)) n[name]++;
    return n;
  }

  speed() {
    let sum = 0;
    for (const g of this.#live) sum += this.rows.get(g)?.speed || 0;
    return sum;
  }

  // queued are the GIDs of what waits or is paused, in the order of the queue.
  queued() {
    return [...this.rows.values()].filter((r) => group[r.status] === 1).sort(byQueue).map((r) => r.gid);
  }

  // range selects what is shown between two places.
  range(from, to) {
    for (let i = Math.min(from, to); i <= Math.max(from, to); i++) if (this.list[i]) this.selected.add(this.list[i]);
  }

  toggle(g) {
    if (!this.selected.delete(g)) this.selected.add(g);
  }

  // can lists the entries among those given to which a command applies.
  can(command, gids) {
    const fits = {
      pause: (r) => r.status === "active" || r.status === "waiting",
      resume: (r) => r.status === "paused",
      retry: (r) => r.status === "error",
      remove: () => true,
    }[command];
    return gids.filter((g) => this.rows.has(g) && fits(this.rows.get(g)));
  }
}
