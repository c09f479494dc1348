//go:build realservers

package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"braid/daemon/queue"
)

// seen is an expression for the text of the rows that have a class. It skips empty cells and writes the shape of each
// mark in brackets.
const seen = `[...document.querySelectorAll(".item%s")].sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y)
	.map((e) => [...e.children].filter((c) => c.offsetWidth > 0).map((c) => (c.querySelector("svg")?.checkVisibility() ? "[" + c.querySelector("svg").dataset.shape + "]" : "") + c.innerText.trim()).filter(Boolean).join("; ")).join("\n")`

// TestRealStates checks that the state and the proof of an entry are shown separately, each with a shape of its own. A
// waiting entry shows its host, size and folder; a failed one begins with the reason.
func TestRealStates(t *testing.T) {
	e := busy(t)
	for name, tt := range map[string]struct {
		width int64
		want  map[string]string
	}{
		"desk": {1280, map[string]string{
			".queued": "[waiting]; photos-2026.tar.zst; waiting · example.org; ?; to " +
				"/srv/files/photos/2026\n[paused]; later.img.xz; paused · example.org; ?; to /srv/files",
			".paused": "[paused]; paused.img.xz; paused; 30 %; 700 MiB\n[paused]; later.img.xz",
			".error": "[error]; old-1.2.tar.gz; 404 Not Found\n[error]; away.zip; connection refused\n[error]; " +
				"wrong.iso; wrong digest: does not match the sha-256 from checksum in the queue; 33 %; 90 MiB; [refuted]refuted",
			".complete": "[complete]; setup.bin; complete; 100 %; 77 MiB; [unverified]unverified\n[complete]; " +
				"braid_1.0.0_amd64.deb; complete; 100 %; 11 MiB; [signed]signed by Braid Releases " +
				"<release@example.org>\n[complete]; verified.iso; complete; 100 %; 812 MiB; [verified]sha-256 from " +
				"Digest over https",
		}},
		"phone": {360, map[string]string{
			".queued": "[waiting]; photos-2026.tar.zst; waiting · example.org; ?; to /srv/files/photos/2026",
			".paused": "[paused]; paused.img.xz; paused; 30 %; 700 MiB\n[paused]; later.img.xz",
			".error": "[error]; old-1.2.tar.gz; 404 Not Found\n[error]; away.zip; connection refused\n[error]; " +
				"wrong.iso; wrong digest: does not match the sha-256 from checksum in the queue; 90 MiB; [refuted]refuted",
			".complete": "[complete]; setup.bin; complete; 77 MiB; [unverified]unverified",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := open(t, site(t, e).URL, token, tt.width, 1200)
			do(t, ctx, until(`document.querySelectorAll(".item").length === 17`))
			shot(t, ctx, "states-"+name)
			for class, want := range tt.want {
				if got := ask[string](t, ctx, fmt.Sprintf(seen, class)); !strings.HasPrefix(got, want) {
					t.Errorf("%s\n%s\nwant\n%s", class, got, want)
				}
			}
			if tt.width > 1000 {
				if heads := ask[string](t, ctx,
					`document.querySelector("#head").innerText.split("\n").join()`); heads != "Name,State,Progress,Size,Speed,Time left,Proof" {
					t.Errorf("the heads are %s", heads)
				}
			}
			// Each state and each proof has a shape, and no two have the same.
			if same := ask[bool](t, ctx,
				`(async () => { const { mark } = await import("/page/marks.js"), all = ["active", "waiting", "paused", "error", "complete", "removed", "verified", "signed", "unverified", "refuted"]
				.map((s) => mark(s).firstChild.getAttribute("d")); return all.some((d) => !d) || new Set(all).size < all.length; })()`); same {
				t.Error("two states or proofs have one shape")
			}
			// The details show the whole proof, separately from the state.
			do(t, ctx,
				until(`[...document.querySelectorAll(".item .name")].find((e) => e.textContent.endsWith(".deb")).click() === undefined`), chromedp.WaitVisible("#detail"),
				until(`document.querySelector("#detail dd.complete").textContent === "complete" && document.querySelector("#detail dd.proof svg").dataset.shape === "signed"`))
			shot(t, ctx, "proof-"+name)
			if got := ask[string](t, ctx,
				`document.querySelector("#detail dd.proof").textContent`); got != `OpenPGP signature by `+
				strings.Repeat("385a62b1", 5)+`, "Braid Releases <release@example.org>"` {
				t.Errorf("the proof is %s", got)
			}
		})
	}
}

// TestRealPlaces checks that the details list, after a click, where a digest was looked for.
func TestRealPlaces(t *testing.T) {
	h, m := newHouse(t), mirror(t, nil)
	ctx := open(t, "http://127.0.0.1:"+h.port, h.token, 1280, 860)
	do(t, ctx, click("#add"), chromedp.WaitVisible("#adder textarea"), fill("#adder textarea", m.URL+"/bare.iso"),
		click("#adder button.main"), chromedp.WaitNotVisible("#adder"),
		until(row("bare.iso", `e.classList.contains("complete")`)),
		until(`[...document.querySelectorAll(".item .name")].find((e) => e.textContent === "bare.iso").click() === undefined`),
		until(`(() => {
			const all = [...document.querySelectorAll("#picture summary")];
			const s = all.find((e) => e.textContent === "A digest was looked for at 5 places");
			return s && s.click() === undefined;
		})()`))
	shot(t, ctx, "places")
	text := ask[string](t, ctx, `document.querySelector("#picture").innerText`)
	for _, name := range []string{"/", "/bare.iso.sha256", "/SHA256SUMS", "/sha256sum.txt", "/checksums.txt"} {
		if n := strings.Count(text, m.URL+name+": "); n != 1 {
			t.Errorf("%s is listed %d times in\n%s", name, n, text)
		}
	}
}

// TestRealReason checks that the page shows the reason of a failure once, and digests and hosts only after a click.
func TestRealReason(t *testing.T) {
	h := newHouse(t)
	m := mirror(t, nil)
	ctx := open(t, "http://127.0.0.1:"+h.port, h.token, 1280, 860)
	for _, tt := range []struct{ name, digest, reason, exactly string }{
		{"absent.iso", "", "404 Not Found", "127.0.0.1:"},
		{"wrong.iso", strings.Repeat("ab", 32),
			"digests differ: sha-256 from checksum in the queue, and sha-256 from Digest over http", strings.Repeat("ab", 32)},
		{"bare.iso", strings.Repeat("ab", 32), "wrong digest: does not match the sha-256 from checksum in the queue",
			strings.Repeat("ab", 32)},
	} {
		do(t, ctx, click("#add"), chromedp.WaitVisible("#adder textarea"), fill("#adder textarea", m.URL+"/"+tt.name),
			fill("#fdigest", tt.digest),
			click("#adder button.main"), chromedp.WaitNotVisible("#adder"),
			until(row(tt.name, fmt.Sprintf(`e.querySelector(".state").textContent === %q`, tt.reason))),
			until(fmt.Sprintf(`[...document.querySelectorAll(".item")].find((e) => e.querySelector(".name").textContent === %q).querySelector(".name").click() === undefined`, tt.name)),
			chromedp.WaitVisible(".trouble"), until(`document.querySelector("#picture section") !== null`))
		shot(t, ctx, "reason-"+tt.name)
		text := ask[string](t, ctx, `document.querySelector("#detail").innerText`)
		if n := strings.Count(strings.ToLower(text), strings.ToLower(tt.reason)); n != 1 {
			t.Errorf("%s: %q is told %d times in\n%s", tt.name, tt.reason, n, text)
		}
		for _, wont := range []string{"No source answered", "were discarded", "abababababab"} {
			if strings.Contains(text, wont) {
				t.Errorf("%s: %q in\n%s", tt.name, wont, text)
			}
		}
		if trouble := ask[string](t, ctx, `document.querySelector(".trouble").innerText`); strings.Contains(trouble,
			"127.0.0.1") {
			t.Errorf("%s: the host is told unasked in %s", tt.name, trouble)
		}
		do(t, ctx, click(".exactly summary"),
			until(fmt.Sprintf(`document.querySelector(".trouble").innerText.includes(%q)`, tt.exactly)), press(0, kb.Escape))
	}
}

// TestRealRemoveInRed checks that the button that confirms a removal has another colour than the button that adds a
// download.
func TestRealRemoveInRed(t *testing.T) {
	e := newEngine()
	e.add(t, "https://example.org/a.iso", nil)
	ctx := desk(t, e)
	do(t, ctx, chromedp.WaitVisible(".item"), press(0, kb.Delete), chromedp.WaitVisible("#asker"))
	shot(t, ctx, "remove-red")
	const colour = `getComputedStyle(document.querySelector(%q)).backgroundColor`
	red := ask[string](t, ctx, fmt.Sprintf(colour, "#asker button.main"))
	if bad := ask[string](t, ctx,
		`(() => { const e = document.createElement("p"); e.style.color = "var(--bad)"; document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c; })()`); red != bad {
		t.Errorf("it is asked for in %s, and red is %s", red, bad)
	}
	do(t, ctx, press(0, kb.Escape), chromedp.WaitNotVisible("#asker"), click("#add"), chromedp.WaitVisible("#adder"))
	if got := ask[string](t, ctx, fmt.Sprintf(colour, "#adder button.main")); got == red {
		t.Errorf("to add is in %s, too", got)
	}
}

// TestRealFilters checks that the row of filters shows an arrow on each side where filters are hidden, and that it
// scrolls to the chosen filter.
func TestRealFilters(t *testing.T) {
	ctx := open(t, site(t, busy(t)).URL, token, 360, 740)
	see := func(expression string) { t.Helper(); do(t, ctx, until(expression)) }
	arrow := func(side string) string {
		return fmt.Sprintf(`getComputedStyle(document.querySelector("#filters"), %q).content !== "none"`,
			map[string]string{"left": "::before", "right": "::after"}[side])
	}
	whole := func(name string) string {
		return fmt.Sprintf(`(() => { const b = document.querySelector("#filters [name=%s]").getBoundingClientRect(), f = document.querySelector("#filters").getBoundingClientRect(); return b.left >= f.left - 1 && b.right <= f.right + 1; })()`, name)
	}
	see(arrow("right") + " && !(" + arrow("left") + ") && " + whole("all") + " && !" + whole("done"))
	do(t, ctx, press(0, "6"))
	see(arrow("left") + " && " + whole("done") + " && !" + whole("all"))
	shot(t, ctx, "filters")
	do(t, ctx, press(0, "1"))
	see("!(" + arrow("left") + ") && " + arrow("right") + " && " + whole("all"))
	do(t, ctx, chromedp.EmulateViewport(1280, 740))
	see("!(" + arrow("left") + ") && !(" + arrow("right") + ")")
}

// TestRealMoreThanOneRequest checks that a command for more entries than one request may name reaches all of them.
func TestRealMoreThanOneRequest(t *testing.T) {
	const n = 25_000
	e := newEngine()
	e.do(func(q *queue.Queue) {
		for i := range n {
			q.Add(time.Now(), queue.Entry{URIs: []string{fmt.Sprintf("https://example.org/file-%05d.iso", i)}}, -1)
		}
	})
	ctx := desk(t, e)
	do(t, ctx, until(`document.querySelector('#filters [name="all"] b').textContent === "25,000"`),
		press(chromedp.ModifierCtrl, "a"),
		until(`document.querySelector("#actions").textContent.startsWith("25,000 selected")`), click(`#actions [name="pause"]`),
		until(`document.querySelector("#actions [name=resume]") !== null && document.querySelector("#actions [name=pause]") === null`))
	e.do(func(q *queue.Queue) {
		for _, entry := range q.Waiting(0, n) {
			if entry.Status != queue.Paused {
				t.Fatalf("%s is %s", entry.GID, entry.Status)
			}
		}
	})
	do(t, ctx, click(`#actions [name="remove"]`), chromedp.WaitVisible("#asker"),
		until(`document.querySelector("#asker").textContent.includes("25,000 downloads")`),
		click("#asker button.main"), chromedp.WaitNotVisible("#asker"))
	do(t, ctx, until(`[...document.querySelectorAll("#filters b")].map((e) => e.textContent).join().endsWith(",0,0,0,0,0")`))
	e.do(func(q *queue.Queue) {
		if active, waiting, _ := q.Count(); active+waiting > 0 {
			t.Errorf("%d are left", active+waiting)
		}
	})
}
