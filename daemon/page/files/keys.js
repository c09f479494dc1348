// The keyboard commands. They cover everything that the mouse can do.

import { filters } from "./model.js";

export function keyboard(page) {
  const { model, list, detail, ask } = page;
  const box = list.box;

  // keys of the list
  box.addEventListener("keydown", (event) => {
    const { key, shiftKey, altKey } = event;
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -list.page, PageDown: list.page, Home: -Infinity, End: Infinity };
    if (altKey && (key === "ArrowUp" || key === "ArrowDown")) shift(key === "ArrowUp" ? -1 : 1);
    else if (key in steps) {
      if (shiftKey && list.here) model.selected.add(list.here);
      list.go(Math.max(0, Math.min(list.at + steps[key], model.list.length - 1)), shiftKey);
      if (detail.gid && list.here) page.open(list.here);
    } else if (key === " " && list.here) model.toggle(list.here);
    else if (key === "Enter" && list.here) page.open(list.here);
    else return;
    event.preventDefault();
    page.draw();
  });

  // shift moves the selected entries in the queue.
  function shift(by) {
    const queued = model.queued();
    const places = page.target().map((g) => queued.indexOf(g)).filter((i) => i >= 0);
    if (places.length > 0) page.move(page.target(), by < 0 ? Math.max(0, Math.min(...places) - 1) : Math.max(...places) + 2);
  }

  const commands = {
    a: () => ask.add(),
    f: () => page.fleet?.show(),
    w: () => page.watches?.show(),
    c: () => page.act("columns", []),
    p: () => page.act(model.can("pause", page.target()).length > 0 ? "pause" : "resume", page.target()),
    r: () => page.act("retry", page.target()),
    Delete: () => page.act("remove", page.target()),
    "?": () => ask.keys(),
    "/": () => document.getElementById("search").focus(),
  };
  filters.forEach(([filter], i) => (commands[i + 1] = () => page.change({ filter })));

  document.onkeydown = (event) => {
    if (document.querySelector("dialog[open]")) return; // the focus is on no element if the focused one was removed
    const typing = event.target.matches("input, textarea");
    if (event.key === "Escape") {
      if (typing) page.change({ search: (event.target.value = "") });
      else if (detail.gid) page.close();
      else page.act("none", []);
      box.focus();
    } else if (typing && (event.key === "Enter" || event.key === "ArrowDown")) {
      box.focus();
    } else if (!typing && (event.ctrlKey || event.metaKey) && event.key === "a") {
      model.range(0, model.list.length - 1);
      page.draw();
    } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && commands[event.key]) {
      commands[event.key]();
    } else return;
    event.preventDefault();
  };
}
