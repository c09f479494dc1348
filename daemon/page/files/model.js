// The model: the entries of the queue as received from the stream, and which are shown, in which order, and which are
// selected. It does not use the DOM.

export const filters = [
  ["all", "All", () => true],
  ["active", "Active", (r) => r.status === "active"],
  ["waiting", "Waiting", (r) => r.status === "waiting" || r.status === "paused"],
  ["failed", "Failed", (r) => r.status === "error"],
  ["unverified", "Unverified", (r) => r.status === "complete" && !r.verified],
  ["done", "Complete", (r) => r.status === "complete"],
];

const group = { active: 0, waiting: 1, paused: 1, error: 2, complete: 2, removed: 2 };
const stopped = (r) => group[r.status] === 2;

// byQueue orders active entries first, then waiting ones in the order of the queue, then stopped ones, the latest
// first.
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
  state: (a, b) => words.compare(state(a).text, state(b).text),
  proof: (a, b) => words.compare(proof(a).text, proof(b).text),
  added: (a, b) => b.added - a.added,
};

export const share = (r) => (r.size > 0 ? Math.min(1, r.done / r.size) : r.status === "complete" ? 1 : 0);
export const left = (r) => (r.speed > 0 && r.size > 0 ? (r.size - r.done) / r.speed : Infinity);

// state returns the class and the text of an entry's state. The shape is that of its status.
export function state(r) {
  switch (r.status) {
    case "active":
      if (r.seeding) return { kind: "", text: "in place; peers can have it" };
      if (r.worker) return { kind: "", text: `at ${r.worker}` };
      return { kind: "", text: r.connections > 0 ? `${r.connections} connection${r.connections === 1 ? "" : "s"}` : "connecting" };
    case "error":
      return { kind: "bad", text: r.reason || r.message || r.kind || "failed" };
  }
  return { kind: "", text: r.status };
}

const nothing = { shape: "", kind: "", text: "" };

// proof returns the shape, the class and the text of what proves or refutes an entry's file.
export function proof(r) {
  if (r.status === "error") return r.kind === "mismatch" || r.kind === "bad signature" ? { shape: "refuted", kind: "bad", text: "refuted" } : nothing;
  if (r.status !== "complete") return nothing;
  if (!r.verified) return { shape: "unverified", kind: "warn", text: "unverified" };
  const [, key, signer] = /\bsignature by ([0-9a-f]+)(?:, "((?:[^"\\]|\\.)+)")?/i.exec(r.verified) || [];
  return key ? { shape: "signed", kind: "good", text: "signed by " + (signer || key.slice(-16)) } : { shape: "verified", kind: "good", text: r.verified };
}

// host returns the host of an entry's first URL.
export const host = (r) => (r.url && URL.canParse(r.url) ? new URL(r.url).host : "");

// queued reports whether an entry is waiting or paused and nothing of it has been downloaded.
export const queued = (r) => group[r.status] === 1 && share(r) === 0;

export class Model {
  rows = new Map();
  selected = new Set();
  filter = "all";
  search = "";
  sort = "queue";
  down = false; // the order is reversed
  list = []; // GIDs of the shown entries, in order
  #live = new Set();

  // apply applies an event. It reports whether arrange must be called.
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

  // arrange rebuilds the list.
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

  // queued returns the GIDs of the waiting and paused entries in the order of the queue.
  queued() {
    return [...this.rows.values()].filter((r) => group[r.status] === 1).sort(byQueue).map((r) => r.gid);
  }

  // range selects the shown entries between two indexes.
  range(from, to) {
    for (let i = Math.min(from, to); i <= Math.max(from, to); i++) if (this.list[i]) this.selected.add(this.list[i]);
  }

  toggle(g) {
    if (!this.selected.delete(g)) this.selected.add(g);
  }

  // can returns those of the entries that a command applies to.
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
