// Drives a daemon with the package maria2: node maria2.mjs PORT SECRET FILES
import assert from "node:assert";
import { createRequire } from "node:module";
import { webcrypto } from "node:crypto";

globalThis.WebSocket ??= createRequire(import.meta.url)("ws"); // as newer versions of node have both
globalThis.crypto ??= webcrypto;
const { open, createHTTP, createWebSocket, aria2, system, close } = await import("./maria2/dist/index.js");
const [port, secret, files] = process.argv.slice(2);

async function drive(client, socket) {
  assert.ok((await aria2.getVersion(client)).version >= "1.34.0");
  assert.ok((await system.listMethods(client)).includes("aria2.addUri"));
  const events = [];
  for (const name of ["onDownloadStart", "onDownloadComplete", "onDownloadStop"]) aria2[name](client, ({ gid }) => events.push(name + gid));

  const gid = await aria2.addUri(client, [files + "/fast.bin"], { out: socket ? "m1.bin" : "m2.bin" });
  for (let status; status !== "complete"; ) ({ status } = await aria2.tellStatus(client, gid, ["status"]));
  const slow = await aria2.addUri(client, [files + "/slow.bin"], { out: socket ? "m3.bin" : "m4.bin" }, 0);
  assert.deepStrictEqual(await aria2.tellStatus(client, slow, ["gid"]), { gid: slow });
  assert.strictEqual(await aria2.forceRemove(client, slow), slow);
  await assert.rejects(aria2.tellStatus(client, "zz"), { code: 1, message: "Invalid GID zz" });
  const results = await client.sendRequest({ method: "system.multicall", secret: false },
    [{ methodName: "aria2.tellStopped", params: [`token:${secret}`, 0, 9] }, { methodName: "aria2.nope", params: [`token:${secret}`] }]);
  assert.ok(results[0][0].length >= 2);
  assert.deepStrictEqual(results[1], { code: 1, message: "No such method: aria2.nope" });
  if (socket) {
    while (!events.includes("onDownloadStop" + slow)) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(events.indexOf("onDownloadStart" + gid) >= 0 && events.indexOf("onDownloadComplete" + gid) > events.indexOf("onDownloadStart" + gid));
  }
}

await drive(await open(createHTTP(`http://127.0.0.1:${port}/jsonrpc`), { secret }), false);
const socket = await open(createWebSocket(`ws://127.0.0.1:${port}/jsonrpc`), { secret });
await drive(socket, true);
close(socket, 1000, "done");
console.log("well");
process.exit(0);
