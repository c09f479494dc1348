// Commands, sent by aria2's remote control.

export class Control {
  constructor(token) {
    this.token = token;
  }

  // all sends calls, each a method with its parameters, and returns the error messages. The calls of one request are
  // carried out together, and a call that fails does not stop the others. If there are too many for one request,
  // several are sent. If a request is lost, the calls of the requests before it have been carried out.
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

// parts splits calls into requests. The daemon accepts 20,000 calls and 4 MiB in one (rule 68).
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

// checksum returns a digest as TYPE=HEX, the syntax of the option checksum. It returns undefined if text is not a
// digest.
export function checksum(text) {
  const [, type, digits] = /^(?:([a-z0-9-]+)[=:])?([0-9a-f]+)$/i.exec(text.trim()) || [];
  const known = digits && hex[digits.length];
  if (!known || (type && type.toLowerCase().replace("-", "") !== known.replace("-", ""))) return undefined;
  return `${known}=${digits.toLowerCase()}`;
}

// parseLines parses pasted text. Each line has the URLs of one file. It returns the files and the lines without URLs.
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

// pair assigns signatures to names: x.iso.asc to x.iso, and a single signature to a single name. It returns a list with
// the signature or undefined for each name, and the signatures without a name.
export function pair(signatures, names) {
  const of = names.map((name) => signatures.find((s) => s.name.replace(/\.[^.]+$/, "") === name));
  if (signatures.length === 1 && names.length === 1) of[0] = signatures[0];
  return { of, left: signatures.filter((s) => !of.includes(s)) };
}

// isSignature reports whether a file is a detached signature of OpenPGP or S/MIME.
export const isSignature = (name, start) => /\.(asc|sign?|p7[sm])$/i.test(name) || /^-----BEGIN (PGP SIGNATURE|PKCS7|CMS)-----/.test(start);

// parseSums parses a list of digests in the format of sha256sum or BSD's tools. It returns pairs of a name and a
// digest.
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
