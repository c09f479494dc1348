// The dialogs: adding downloads, setting a limit, a digest or another mirror, and confirming a removal.

import { el, count } from "./text.js";
import { checksum, isSignature, pair, parseLines, parseSums } from "./control.js";

const $ = (id) => document.getElementById(id);

function field(label, input, className = "") {
  const id = "f" + label.replace(/\W/g, "").toLowerCase();
  input.id = id;
  input.className = className;
  return [el("label", { htmlFor: id }, label), input];
}

const text = (placeholder = "") => el("input", { type: "text", placeholder, autocomplete: "off", spellcheck: false });

const wrongDigest = "That is no digest: give a SHA-256, SHA-384 or SHA-512 in hexadecimal digits.";
const rateOf = (value) => /^\d+(\.\d+)?\s*[kmg]?(i?b(\/s)?)?$/i.test(value) && value.replace(/\s|i?b(\/s)?$/gi, "").toUpperCase();
const wrongLimit = "A limit is a number of bytes a second, such as 500K or 2M; 0 is none.";

// show opens a dialog with a form. It calls submit, which returns a message if the input is wrong, until it returns
// none. beside is an additional button. danger marks an action that cannot be undone in red.
function show(dialog, title, parts, label, submit, { beside = null, danger = false } = {}) {
  dialog.classList.toggle("danger", danger);
  const wrong = el("p", { className: "bad", role: "alert" });
  const form = el("form", { method: "dialog", noValidate: true }, el("h2", {}, title), ...parts, wrong, el("div", { className: "buttons" }, beside, el("span"),
    el("button", { type: "button", onclick: () => dialog.close() }, label ? "Cancel" : "Close"), label ? el("button", { className: danger ? "main danger" : "main" }, label) : null));
  form.onsubmit = async (event) => {
    event.preventDefault();
    const button = form.querySelector("button.main");
    if (button) button.disabled = true;
    try {
      wrong.textContent = (await submit()) || "";
    } catch (e) {
      wrong.textContent = e.message;
    }
    if (button) button.disabled = false;
    if (!wrong.textContent) dialog.close();
  };
  dialog.replaceChildren(form);
  if (!dialog.open) dialog.showModal();
  form.querySelector("textarea, input, button.main")?.focus();
  form.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
}

// one asks for one line of text.
function one(title, label, value, placeholder, submit) {
  const input = text(placeholder);
  input.value = value;
  show($("asker"), title, [el("div", { className: "fields" }, ...field(label, input, "wide"))], "OK", () => submit(input.value.trim()));
}

export class Dialogs {
  constructor(control, say) {
    Object.assign(this, { control, say });
  }

  async #send(calls) {
    return (await this.control.all(calls))[0];
  }

  // add asks for URLs and options. A signature is assigned to the URL whose name it has.
  add(lines = "", signatures = []) {
    const area = el("textarea", { rows: 6, spellcheck: false, value: lines, placeholder: "https://example.org/disk.iso", "aria-label": "URLs" });
    const [dir, out, digest, limit] = [text("the daemon's"), text("as the server says"), text("SHA-256, if you have it"), text("such as 2M")];
    const paused = el("input", { type: "checkbox" });
    const files = el("input", { type: "file", multiple: true, hidden: true });
    files.onchange = () => this.drop(files.files);
    const signed = el("p", { className: "hint" });
    this.sign = (more) => {
      signatures.push(...more);
      signed.replaceChildren(...(signatures.length > 0 ? ["Signatures: ", el("bdi", {}, signatures.map((s) => s.name).join(", ")), ". What counts is a key that the daemon trusts."] : []));
    };
    this.sign([]);
    const parts = [
      area,
      el("p", { className: "hint" }, "A line for each file; further URLs in a line are mirrors of the same file. Torrents, Metalink documents, lists of digests and signatures can be dropped here."),
      signed,
      el("div", { className: "fields" }, ...field("Folder", dir), ...field("Limit a second", limit), ...field("Name", out), ...field("Digest", digest),
        el("span"), el("label", { className: "wide" }, paused, " add it paused"), files),
    ];
    const choose = el("button", { type: "button", className: "plain", title: ".torrent, .meta4, SHA256SUMS, .asc, .sig", onclick: () => files.click() }, "Choose files...");
    show($("adder"), "Add downloads", parts, "Add", async () => {
      const { files: wanted, wrong } = parseLines(area.value);
      if (wrong.length > 0) return `No URL of HTTP, FTP or a magnet: ${wrong[0].slice(0, 200)}`;
      if (wanted.length === 0) return "Give at least one URL.";
      if (wanted.length > 1 && (out.value.trim() || digest.value.trim())) return "A name and a digest are for one file; there are " + wanted.length + ".";
      const options = { dir: dir.value.trim(), out: out.value.trim(), "max-download-limit": limit.value.trim(), pause: paused.checked ? "true" : "" };
      if (limit.value.trim() && !(options["max-download-limit"] = rateOf(limit.value.trim()))) return wrongLimit;
      if (digest.value.trim() && !(options.checksum = checksum(digest.value))) return wrongDigest;
      for (const name in options) if (!options[name]) delete options[name];
      const { of, left } = pair(signatures, wanted.map(([url]) => nameOf(url)));
      if (left.length > 0) return `No file here is called as ${left[0].name} is.`;
      return this.#addAll(wanted.map((urls, i) => ["addUri", urls, withSignature(options, of[i])]));
    }, { beside: choose });
  }

  // addAll adds in portions, because the server limits the size of a request.
  async #addAll(calls) {
    const errors = [];
    for (let i = 0; i < calls.length; i += 2000) errors.push(...(await this.control.all(calls.slice(i, i + 2000))));
    if (errors.length === calls.length) return errors[0];
    const added = calls.length - errors.length;
    this.say(errors.length > 0 ? `${count(added, "download")} added; ${errors.length} were refused: ${errors[0]}` : `${count(added, "download")} added`);
    return "";
  }

  // drop handles dropped files: torrents, Metalink documents, lists of digests, lists of URLs and signatures. It adds
  // documents at once and opens a dialog for the rest.
  async drop(files) {
    const [documents, signatures] = [[], []];
    let lines = [];
    let sums = null;
    for (const file of files) {
      if (file.size > 2 << 20) {
        this.say(`${file.name} is too large for a document: more than 2 MiB.`);
        continue;
      }
      const data = new Uint8Array(await file.arrayBuffer());
      const whole = new TextDecoder().decode(data);
      const start = whole.slice(0, 4096);
      if (/\.torrent$/i.test(file.name) || /^d\d+:/.test(start)) documents.push([file.name, "addTorrent", base64(data), []]);
      else if (/\.(meta4|metalink)$/i.test(file.name) || /<metalink\b/.test(start)) documents.push([file.name, "addMetalink", base64(data)]);
      else if (parseSums(whole).length > 0) sums = [file.name, [...(sums?.[1] ?? []), ...parseSums(whole)]];
      else if (isSignature(file.name, start)) signatures.push({ name: file.name, data: base64(data) });
      else if (parseLines(whole).files.length > 0) lines = lines.concat(parseLines(whole).files.map((urls) => urls.join(" ")));
      else this.say(`${file.name} is no torrent, no Metalink document, no signature and no list of digests or URLs.`);
    }
    if (documents.length > 0) await this.#documents(documents, signatures.splice(0));
    if (sums) {
      if (signatures.length > 0) this.say(`${signatures[0].name} is not checked here: braid get --keyring FILE --checksums ${sums[0]} does that.`);
      this.sums(...sums);
    } else if (signatures.length > 0 && lines.length === 0 && $("adder").open && this.sign) this.sign(signatures);
    else if (lines.length + signatures.length > 0) this.add(lines.join("\n"), signatures);
  }

  async #documents(documents, signatures) {
    const { of, left } = pair(signatures, documents.map(([name]) => name.replace(/\.[^.]+$/, "")));
    if (left.length > 0) return this.say(`No document here is called as ${left[0].name} is. Nothing was added.`);
    $("adder").close();
    const wrong = await this.#addAll(documents.map(([, ...call], i) => [...call, withSignature({}, of[i])]));
    return wrong && this.say(wrong);
  }

  // sums asks which files of a list of digests to add, each with its digest, and for the URL of their folder.
  sums(name, sums) {
    this.sign = null;
    const base = text("https://example.org/release/");
    const boxes = sums.map(([file]) => el("input", { type: "checkbox", checked: true, value: file }));
    const list = el("ul", {}, ...sums.map(([file], i) => el("li", {}, el("label", {}, boxes[i], " ", el("bdi", {}, file)))));
    show($("adder"), `${count(sums.length, "file")} in ${name}`, [el("div", { className: "fields" }, ...field("Folder's URL", base, "wide")), list], "Add", async () => {
      if (!/^(https?|ftps?):\/\/[^/]+/i.test(base.value.trim())) return "Give the URL of the folder that the files are in.";
      const folder = base.value.trim().replace(/\/?$/, "/");
      const wanted = sums.filter((_, i) => boxes[i].checked);
      if (wanted.length === 0) return "Choose at least one file.";
      return this.#addAll(wanted.map(([file, digest]) => ["addUri", [folder + file.split("/").map(encodeURIComponent).join("/")], { checksum: digest }]));
    });
  }

  limit(r) {
    one("Limit of " + r.name, "Bytes a second", r.limit || "", "such as 2M; 0 is none", (value) => {
      const limit = rateOf(value || "0");
      return limit ? this.#send([["changeOption", r.gid, { "max-download-limit": limit }]]) : wrongLimit;
    });
  }

  digest(r) {
    one("Digest of " + r.name, "Digest", "", "SHA-256 in hexadecimal digits", (value) => {
      const digest = checksum(value);
      return digest ? this.#send([["unpause", r.gid], ["changeOption", r.gid, { checksum: digest }]]) : wrongDigest;
    });
  }

  mirror(r) {
    one("Another mirror of " + r.name, "URL", "", "https://mirror.example.net/disk.iso", (value) => {
      const { files, wrong } = parseLines(value);
      if (wrong.length > 0 || files.length !== 1) return "Give a URL of HTTP or FTP.";
      const retry = r.status === "error" ? [["unpause", r.gid]] : [];
      return this.#send([...retry, ["changeUri", r.gid, 1, [], files[0]]]);
    });
  }

  remove(rows, then) {
    const going = rows.filter((r) => ["active", "waiting", "paused"].includes(r.status)).length;
    const what = rows.length === 1 ? rows[0].name : count(rows.length, "download");
    const fate = going > 0 ? "What came so far stays on disk." : "The files stay where they are.";
    show($("asker"), going > 0 ? "Remove from the queue?" : "Forget?", [el("p", {}, el("bdi", {}, what)), el("p", { className: "hint" }, fate)], going > 0 ? "Remove" : "Forget", then, { danger: true });
  }

  columns(columns, hidden, then) {
    const boxes = columns.slice(1).map(([name, label]) => {
      const box = el("input", { type: "checkbox", checked: !hidden.has(name) });
      box.onchange = () => {
        if (box.checked) hidden.delete(name);
        else hidden.add(name);
        then();
      };
      return el("p", {}, el("label", {}, box, " " + label));
    });
    show($("asker"), "Columns", boxes, "");
  }

  keys() {
    const keys = [["/", "search"], ["a", "add downloads"], ["↑ ↓ Page Home End", "go through the list"], ["Space", "select, or not"], ["Shift ↑ ↓", "select as you go"],
      ["Ctrl A", "select all that are shown"], ["Enter", "details"], ["Esc", "close, or select nothing"], ["p", "pause or resume"], ["r", "retry what failed"],
      ["Del", "remove"], ["Alt ↑ ↓", "move in the queue"], ["1 - 6", "filters"], ["c", "columns"], ["f", "the fleet, if the daemon has one"], ["w", "the watches, if the daemon has any"], ["?", "this"]];
    const grid = el("div", { className: "keys" }, ...keys.flatMap(([key, what]) => [el("span", {}, el("kbd", {}, key)), el("span", {}, what)]));
    show($("asker"), "Keys", [grid], "");
  }
}

const withSignature = (options, signature) => (signature ? { ...options, signature: signature.data } : options);

// nameOf returns the last element of a URL's path.
function nameOf(url) {
  try {
    return decodeURIComponent(new URL(url).pathname.split("/").pop());
  } catch {
    return "";
  }
}

function base64(bytes) {
  let s = "";
  for (let i = 0; i < bytes.length; i += 0x8000) s += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(s);
}
