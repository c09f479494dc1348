// Numbers and times as text, in the format of the command line.

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function size(n) {
  if (!(n >= 0)) return "";
  let unit = 0;
  for (; n >= 1023.5 && unit < units.length - 1; unit++) n /= 1024;
  return n.toFixed(unit === 0 || n >= 99.95 ? 0 : 1).replace(/\.0$/, "") + " " + units[unit];
}

export const rate = (n) => (n > 0 ? size(n) + "/s" : "");

export function time(seconds) {
  const s = Math.round(seconds);
  if (!(s >= 0)) return "";
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 360000) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} days`;
}

// date formats a time in the user's locale. If it is today, only the time of day is shown.
export function date(seconds, now = new Date()) {
  if (!seconds) return "";
  const d = new Date(seconds * 1000);
  const clock = d.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return d.toDateString() === now.toDateString() ? clock : d.toLocaleDateString() + " " + clock;
}

export const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

// el creates an element. Strings become text nodes and are never parsed as HTML.
export function el(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in e) e[name] = value;
    else e.setAttribute(name, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
}
