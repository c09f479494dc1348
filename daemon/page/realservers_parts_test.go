//go:build realservers

package page_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"braid/daemon/queue"
)

// TestRealModules checks the JavaScript modules without the document. Each line is an expression that must be true.
func TestRealModules(t *testing.T) {
	ctx := tab(t, site(t, newEngine()).URL, 800, 600)
	for _, line := range []string{
		// The parser takes an event that is cut at any byte.
		`(() => { const all = ": here\n\nid: a-1\ndata: {\"x\":\ndata: 1}\n\ndata:2\n\nid: 9\n\ndata: no"; for (let i = 0; i <= all.length; i++) {
			const p = new stream.Parser(), events = [...p.feed(all.slice(0, i)), ...p.feed(all.slice(i))];
			if (JSON.stringify(events) !== '[{"id":"a-1","data":"{\\"x\\":\\n1}"},{"data":"2"}]') return false; } return true; })()`,
		`control.checksum("AB".repeat(32)) === "sha-256=" + "ab".repeat(32)`,
		`control.checksum(" sha256:" + "ab".repeat(32) + "\n") === "sha-256=" + "ab".repeat(32)`,
		`control.checksum("sha-512=" + "ab".repeat(64)) === "sha-512=" + "ab".repeat(64)`,
		`["", "ab", "g".repeat(64), "ab".repeat(33), "sha-1=" + "ab".repeat(32), "constructor"].every((s) => control.checksum(s) === undefined)`,
		`JSON.stringify(control.parseLines("http://a/1 ftp://b/1\r\n\n# x\n\tmagnet:?xt=1\nhttps:///x\njavascript:1\nhttp://a/2 no")) ===
			'{"files":[["http://a/1","ftp://b/1"],["magnet:?xt=1"]],"wrong":["https:///x","javascript:1","http://a/2 no"]}'`,
		`control.parseSums("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + "ab".repeat(32) + "  ./a b\n" + "cd".repeat(20) + " *c\nMD5 (d) = " + "ef".repeat(16) + "\n" + "ab".repeat(31) + "  e\n")
			.join("|") === "a b,sha-256=" + "ab".repeat(32) + "|c,sha-1=" + "cd".repeat(20) + "|d,md5=" + "ef".repeat(16)`,
		`(() => { const s = (name) => ({ name }), names = (x) => JSON.stringify([x.of.map((y) => y?.name ?? ""), x.left.map((y) => y.name)]);
			return names(control.pair([s("b.asc"), s("a.sig")], ["a", "b", "c"])) === '[["a.sig","b.asc",""],[]]' && names(control.pair([s("x.asc")], ["y"])) === '[["x.asc"],[]]'
				&& names(control.pair([s("x.asc")], ["y", "z"])) === '[["",""],["x.asc"]]'; })()`,
		`detail.waits({ url: "http://a/1" }, [{ status: "active", url: "http://a/2" }, { status: "active", url: "http://b/1" }, { status: "waiting", url: "http://a/3" }]) === "for a place: 2 downloads at once, 1 of them from a"`,
		// No request has more commands than the daemon accepts, and no command is lost.
		`(() => { const p = control.parts([...Array(20001).keys()].map((i) => ["pause", String(i)])); return p.flat().length === 20001 && p.flat()[20000][1] === "20000" && p.every((x) => x.length <= 5000); })()`,
		`control.parts([]).length === 0 && control.parts([["a", "x".repeat(3e6)], ["b"], ["c", "y".repeat(6e5)], ["d", "z".repeat(6e5)]]).map((p) => p.length).join() === "1,2,1"`,
		// Commands of requests that were answered succeed, even if a later request is lost.
		`await (async () => { const real = window.fetch; let n = 0;
			window.fetch = async (_, { body }) => { if (n++ > 0) throw new Error("away"); return new Response(JSON.stringify({ result: JSON.parse(body).params[0].map(() => ["OK"]) }), { headers: { "Content-Type": "application/json" } }); };
			try { const wrong = await new control.Control("x").all(Array(5001).fill(["pause", "g"])); return wrong.length === 1 && wrong[0] === "away"; } finally { window.fetch = real; } })()`,
		`control.isSignature("a.iso.ASC", "") && control.isSignature("a", "-----BEGIN PGP SIGNATURE-----\n") && !control.isSignature("a.iso", "sig")`,
		`["0 B", "1023 B", "1 KiB", "1.5 KiB", "100 KiB", "1 GiB"].join() === [0, 1023, 1024, 1536, 102400, 2 ** 30].map(text.size).join()`,
		`text.size(-1) === "" && text.rate(0) === "" && text.rate(2048) === "2 KiB/s" && text.time(Infinity) === "Infinity days" && text.time(NaN) === ""`,
		`["0 s", "59 s", "1 min 0 s", "1 h 1 min", "5 days"].join() === [0, 59.4, 60, 3660, 432000].map(text.time).join()`,
		`text.el("b", {}, "<i>", null, "").innerHTML === "&lt;i&gt;"`,
		// The list has active entries first, then waiting ones by priority and rank, then stopped ones with the last
		// one first.
		`(() => { const m = new model.Model(), r = (gid, status, rank, more) => ({ gid, status, rank, name: gid, size: -1, done: 0, ...more });
			m.apply({ all: true, rows: [r("e", "complete", 1), r("d", "error", 2), r("c", "paused", 3), r("b", "waiting", 4, { priority: 1 }), r("a", "active", 9)] });
			m.arrange(); if (m.list.join("") !== "abcde" || m.queued().join("") !== "bc") return false;
			m.sort = "name"; m.down = true; m.arrange(); if (m.list.join("") !== "edcba") return false;
			m.filter = "unverified"; m.arrange(); if (m.list.join("") !== "e") return false;
			m.filter = "all"; m.search = "D"; m.arrange(); return m.list.join("") === "d" && m.counts().failed === 1; })()`,
		// An entry has a speed only while it is active.
		`(() => { const m = new model.Model(), row = { gid: "a", status: "active", rank: 1, name: "a", size: 9, done: 0 };
			m.apply({ all: true, rows: [row] }); m.selected.add("a");
			if (m.apply({ live: [{ gid: "a", done: 3, size: 9, speed: 2, connections: 1 }, { gid: "b", speed: 9 }] }) || m.speed() !== 2 || model.left(m.rows.get("a")) !== 3) return false;
			m.apply({ live: [] }); if (m.speed() !== 0 || m.rows.get("a").speed !== 0) return false;
			m.apply({ gone: ["a"], live: [] }); m.arrange(); return m.selected.size === 0 && m.list.length === 0; })()`,
		// An answer that is not JSON-RPC becomes an error with its text.
		`await (async () => { const real = window.fetch; window.fetch = async () => new Response("not from there\n", { status: 403, headers: { "Content-Type": "text/plain" } });
			try { await new control.Control("x").all([["pauseAll"]]); } catch (e) { return e.message === "not from there"; } finally { window.fetch = real; } })()`,
		`model.state({ status: "error", kind: "refused", reason: "404 Not Found", message: "download http://a/x: a: status 404 Not Found" }).text === "404 Not Found"`,
		`model.state({ status: "error", kind: "other" }).text === "other" && model.state({ status: "complete", verified: "x" }).text === "complete"`,
		`model.proof({ status: "complete" }).shape === "unverified" && model.proof({ status: "complete", verified: "sha-256 from Digest over https" }).shape === "verified"`,
		`["mismatch", "bad signature", "network", ""].map((kind) => model.proof({ status: "error", kind, verified: "x" }).shape).join() === "refuted,refuted,,"`,
		`["active", "waiting", "paused", "removed"].every((status) => model.proof({ status, verified: "x" }).text === "")`,
		// The proof names the user ID of the key or, without one, the end of its fingerprint.
		`(() => { const by = (s) => model.proof({ status: "complete", verified: s }), key = "0123456789abcdef".repeat(2);
			return by("OpenPGP signature by " + key + ', "Al \\"x\\" <al@a>"; sha-256 from Digest over http').text === 'signed by Al \\"x\\" <al@a>' && by("sha-256 from SUMS, S/MIME signature by " + key).text === "signed by 0123456789abcdef"
				&& by("OpenPGP signature by " + key).shape === "signed" && by("sha-256 from the list signature by.txt").shape === "verified"; })()`,
		`model.queued({ status: "waiting", size: 9, done: 0 }) && !model.queued({ status: "paused", size: 9, done: 1 }) && !model.queued({ status: "active", size: 9, done: 0 })`,
	} {
		ok, err := chromedp.Run(ctx,
			chromedp.Evaluate[bool](fmt.Sprintf(`(async () => { const [text, model, stream, control, detail] =
			await Promise.all(["text", "model", "stream", "control", "detail"].map((m) => import("/page/" + m + ".js"))); return Boolean(%s); })()`, line), chromedp.EvalAwaitPromise))
		if err != nil || !ok {
			t.Errorf("not so: %s (%v)", line, err)
		}
	}
}

// TestRealMouse checks that rows can be selected, dragged and sorted with the mouse, and that the choice of columns is
// kept.
func TestRealMouse(t *testing.T) {
	e := newEngine()
	for i := range 6 {
		e.add(t, fmt.Sprintf("https://example.org/%d.iso", i), nil)
	}
	s := site(t, e)
	ctx := open(t, s.URL, token, 1440, 860)
	see := func(expression string) { t.Helper(); do(t, ctx, until(expression)) }
	order := func(want string) {
		t.Helper()
		see(fmt.Sprintf(`[...document.querySelectorAll(".item")].sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y).map((e) => e.innerText[0]).join("") === %q`, want))
	}
	nth := func(n int) string { return fmt.Sprintf(".item:nth-of-type(%d)", n+1) }
	order("012345")
	do(t, ctx, chromedp.DragAndDrop(nth(4)+" .name", nth(1)+" .name"))
	order("041235")
	do(t, ctx, click(nth(1)+" .mark"), click(nth(2)+" .mark"))
	see(`document.querySelector("#actions").textContent.startsWith("2 selected")`)
	do(t, ctx, chromedp.DragAndDrop(nth(1)+" .name", nth(5)+" .name"))
	order("023415")
	e.do(func(q *queue.Queue) {
		got := ""
		for _, entry := range q.Waiting(0, 9) {
			got += entry.URIs[0][len("https://example.org/"):][:1]
		}
		if got != "023415" {
			t.Errorf("the queue is %s", got)
		}
	})
	do(t, ctx, click(`#actions [name="none"]`), click(`#head [name="name"]`))
	order("012345")
	do(t, ctx, click(`#head [name="name"]`))
	order("543210")
	see(`document.querySelectorAll('.item[draggable="true"]').length === 0`)
	do(t, ctx, click(`#head [name="name"]`))
	order("023415")
	do(t, ctx, click(`#actions [name="columns"]`), chromedp.WaitVisible("#asker"),
		click(`#asker p:nth-of-type(7) input`), click(`#asker p:nth-of-type(3) input`))
	shot(t, ctx, "columns")
	do(t, ctx, click("#asker button"), chromedp.Reload(), chromedp.WaitVisible(".item"))
	see(`!document.querySelector('#head [name="size"]') && document.querySelector('#head [name="added"]') && !document.querySelector(".item .size").offsetWidth && document.querySelector(".item .added").offsetWidth > 50`)
}
