// Drives a daemon with the package aria2: node aria2.cjs PORT SECRET FILES
const assert = require("node:assert");
const Aria2 = require("./aria2");
const [port, secret, files] = process.argv.slice(2);

// heard waits for an event, which may come in one piece with the answer that has its GID.
async function heard(events, event) {
  while (!events.includes(event)) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function drive(client, socket) {
  client.on("error", (err) => { throw err; });
  const events = [];
  for (const name of ["onDownloadStart", "onDownloadPause", "onDownloadComplete"]) {
    client.on(name, ([{ gid }]) => events.push(name + gid));
  }
  if (socket) await client.open();
  assert.ok((await client.call("getVersion")).version >= "1.34.0");
  assert.ok((await client.listMethods()).includes("addUri"));
  assert.ok((await client.listNotifications()).includes("onDownloadStart"));

  const gid = await client.call("addUri", [files + "/fast.bin"], { out: socket ? "a1.bin" : "a2.bin" });
  assert.match(gid, /^[0-9a-f]{16}$/);
  if (socket) await heard(events, "onDownloadComplete" + gid);
  for (let status; status !== "complete"; ) status = (await client.call("tellStatus", gid, ["status"])).status;
  const { errorCode, files: list } = await client.call("tellStatus", gid);
  assert.strictEqual(errorCode, "0");
  assert.strictEqual(list[0].length, "65536");

  const slow = await client.call("addUri", [files + "/slow.bin"], { header: ["X-A: b"], out: socket ? "a3.bin" : "a4.bin" }, 0);
  assert.strictEqual(await client.call("pause", slow), slow);
  if (socket) await heard(events, "onDownloadPause" + slow);
  await client.call("changeOption", slow, { "max-download-limit": "1K" });
  assert.strictEqual((await client.call("getOption", slow))["max-download-limit"], "1024");
  await assert.rejects(client.call("pause", slow), { code: 1, message: `GID#${slow} cannot be paused now` });
  await client.call("unpause", slow);
  await client.call("remove", slow);

  const [version, [session]] = (await client.multicall([["getVersion"], ["getSessionInfo"]]));
  assert.ok(version[0].version && session.sessionId);
  const batch = await Promise.all(await client.batch([["getVersion"], ["getGlobalStat"]]));
  assert.match(batch[1].numStopped, /^[0-9]+$/);
  const stopped = await client.call("tellStopped", -1, 1, ["gid", "status"]);
  assert.deepStrictEqual(stopped, [{ gid: slow, status: "removed" }]);
  await client.call("removeDownloadResult", slow);
  await assert.rejects(client.call("tellStatus", slow), { code: 1, message: `GID ${slow} is not found` });
  if (socket) await client.close();
}

(async () => {
  const options = { host: "127.0.0.1", port, secret };
  await drive(new Aria2(options), false);
  await drive(new Aria2(options), true);
  await assert.rejects(new Aria2({ ...options, secret: "wrong" }).call("getVersion"), { code: 1, message: "Unauthorized" });
  console.log("well");
  process.exit(0);
})();
