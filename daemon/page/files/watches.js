// The watches: for each of them the version in place, the newest version in its feeds, and the states of its files.

import { el, time, count } from "./text.js";
import { Panel, table } from "./panel.js";

export class Watches extends Panel {
  constructor(token, dialog, say) {
    super(token, dialog, say, "Watches", "/watches");
  }

  fill(v) {
    return [
      ...table("", ["Watch", "In place", "Newest", "State"], v.watches, watchRow),
      v.watches.length === 0 ? el("p", { className: "hint" }, "Nothing is watched.") : "",
      v.unshown > 0 ? el("p", { className: "hint" }, `and ${v.unshown.toLocaleString("en")} more`) : "",
    ];
  }
}

function watchRow(w) {
  const states = w.states.map((s) => el("p", {}, el("bdi", {}, s.text), s.next < 0 ? "" : el("small", {}, s.next > 0 ? ` (next try in ${time(s.next)})` : " (next try now)")));
  if (w.unshown > 0) states.push(el("p", {}, el("small", {}, `${count(w.unshown, "URL")} more`)));
  return ["", el("bdi", {}, w.name), w.version && el("bdi", {}, w.version), w.newest && el("bdi", {}, w.newest), states.length > 0 ? el("div", {}, ...states) : ""];
}
