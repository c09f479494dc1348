// Commands, by the remote control that every client of aria2 uses.

export class Control {
  constructor(token) {
    this.token = token;
  }

  // all does commands, each a method and its parameters. Those of one request are done together, and one that fails stops no other one.
  // It returns the errors. What does not go into one request is done in several, and if one of them is lost, those before it are done.
  async all(calls) {
    const errors = [];
    let done = 0;
    for (const some of parts(calls)) {
      try {
        errors.push(...(await this.#request(some)));
      } catch (e) {
        if (done === 0) throw e;
        return [...errors, ...Array(calls.length - done).fill(e.message)];
      }
      done += some.length;
    }
    return errors;
  }

  async #request(calls) {
    const secret = this.token ? ["token:" + this.token] : [];
    const inner = calls.map(([method, ...params]) => ({ methodName: "aria2." + method, params: [...secret, ...params] }));
    const body = JSON.stringify({ jsonrpc: "2.0", id: "page", method: "system.multicall", params: [inner] });
    const answer = await fetch("/jsonrpc", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const text = await answer.text();
    if (!/json/.test(answer.headers.get("Content-Type"))) throw new Error(text.trim().slice(0, 200) || answer.statusText);
    const { result, error } = JSON.parse(text);
    if (error) throw new Error(error.message);
    return result.filter((r) => !Array.isArray(r)).map((r) => r.message);
  }
}

// parts are what fits into a request each: the daemon takes 20,000 calls and 4 MiB (rule 68).
export function parts(calls) {
  const list = [];
  let bytes = Infinity;
  for (const call of calls) {
    const more = JSON.stringify(call).length;
    if (bytes + more > 1 << 20 || list.at(-1).length === 5000) {
      list.push([]);
      bytes = 0;
    }
    list.at(-1).push(call);
    bytes += more;
  }
  return list;
}

const hex = { 32: "md5", 40: "sha-1", 64: "sha-256", 128: "sha-512" };

// checksum is a digest as the option of that name wants it: TYPE=HEX. It is undefined if the text is no digest.
export function checksum(text) {
  const [, type, digits] = /^(?:([a-z0-9-]+)[=:])?([0-9a-f]+)$/i.exec(text.trim()) || [];
  const known = digits && hex[digits.length];
  if (!known || (type && type.toLowerCase().replace("-", "") !== known.replace("-", ""))) return undefined;
  return `${known}=${digits.toLowerCase()}`;
}

// parseLines reads what was pasted: a file in each line, with all its URLs. It returns the files and the lines that are none.
export function parseLines(text) {
  const files = [];
  const wrong = [];
  for (const line of text.split(/\r?\n/)) {
    const urls = line.trim().split(/\s+/).filter(Boolean);
    if (urls.length === 0 || urls[0].startsWith("#")) continue;
    if (urls.every((u) => /^(https?|ftps?):\/\/[^/]|^magnet:\?/i.test(u))) files.push(urls);
    else wrong.push(line.trim());
  }
  return { files, wrong };
}

// pair gives each name its signature: x.iso.asc is that of x.iso, and the only signature that of the only name. It returns one for each
// name, or undefined, and the signatures that are of none.
export function pair(signatures, names) {
  const of = names.map((name) => signatures.find((s) => s.name.replace(/\.[^.]+$/, "") === name));
  if (signatures.length === 1 && names.length === 1) of[0] = signatures[0];
  return { of, left: signatures.filter((s) => !of.includes(s)) };
}

// isSignature reports whether a file is a detached signature, by OpenPGP or S/MIME.
export const isSignature = (name, start) => /\.(asc|sign?|p7[sm])$/i.test(name) || /^-----BEGIN (PGP SIGNATURE|PKCS7|CMS)-----/.test(start);

// parseSums reads a list of digests, as sha256sum and BSD's tools write it. It returns pairs of a name and a digest.
export function parseSums(text) {
  const sums = [];
  for (const line of text.split(/\r?\n/)) {
    const gnu = /^\\?([0-9a-f]{32,128}) [ *](.+)$/i.exec(line);
    const bsd = /^[A-Z0-9-]+ \((.+)\) = ([0-9a-f]{32,128})$/i.exec(line);
    const [name, digest] = gnu ? [gnu[2], checksum(gnu[1])] : bsd ? [bsd[1], checksum(bsd[2])] : [];
    if (name && digest) sums.push([name.replace(/^\.\//, ""), digest]);
  }
  return sums;
}
