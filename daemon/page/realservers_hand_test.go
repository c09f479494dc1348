//go:build realservers

package page_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"braid/daemon/queue"
)

// TestRealHostile checks that names and messages from servers and clients appear as text on one line and change nothing
// else on the page.
func TestRealHostile(t *testing.T) {
	e := newEngine()
	names := []string{
		`<img src=x onerror="window.hacked=1">`, `<script>window.hacked=1</script>`, "photo\u202egpj.exe",
		"\u2066\u2067name.iso", "a\nb\x1b[31m\x00c", `"><b>x`, "&lt;b&gt;",
		strings.Repeat("Ab", 2048), strings.Repeat("שלום ", 40), "javascript:window.hacked=1", "{{.}}${1}",
	}
	for _, name := range names {
		g := e.add(t, "https://example.org/", func(q *queue.Entry) { q.Options = map[string]string{"out": name} })
		e.end(t, g, 100, queue.Outcome{Kind: "refused", Message: "server said " + name, Hint: name})
	}
	ctx := open(t, site(t, e).URL, token, 360, 740)
	do(t, ctx, until(fmt.Sprintf(`document.querySelectorAll(".item").length === %d`, len(names))))
	shot(t, ctx, "hostile")
	for i := range names {
		do(t, ctx, click(fmt.Sprintf(".item:nth-of-type(%d) .name", i+1)), chromedp.WaitVisible("#detail .trouble"))
		if i == 0 {
			shot(t, ctx, "hostile-detail")
		}
		wide(t, ctx, 360)
		do(t, ctx, press(0, kb.Escape), chromedp.WaitNotVisible("#detail"))
	}
	shown := ask[[]string](t, ctx, `[...document.querySelectorAll(".item .name")].map((e) => e.textContent)`)
	for _, want := range []string{names[0], names[1], `photo\u202egpj.exe`, `\u2066\u2067name.iso`, `a\nb\x1b[31m\x00c`,
		`"><b>x`, "&lt;b&gt;", "{{.}}${1}"} {
		if !slices.Contains(shown, want) {
			t.Errorf("%q is not among %.80q", want, shown)
		}
	}
	if ask[bool](t, ctx,
		`"hacked" in window || document.querySelectorAll("#list img, #list script, #list b, #detail img, #detail b").length > 0`) {
		t.Error("a name has become a part of the page")
	}
	if got := ask[int](t, ctx, `Math.max(...[...document.querySelectorAll(".item")].map((e) => e.offsetHeight))`); got > 54 {
		t.Errorf("a row is %d px high", got)
	}
}

// TestRealHeldButton checks that a button still gets its click if the details change while it is pressed.
func TestRealHeldButton(t *testing.T) {
	e := newEngine()
	g := e.add(t, "https://example.org/a.iso", nil)
	progress := func(done int64) {
		e.do(func(q *queue.Queue) { q.Progress(g, queue.Live{Done: done, Size: 4 * mib}) })
	}
	e.do(func(q *queue.Queue) { q.Start(time.Now()) })
	progress(mib)
	ctx := desk(t, e)
	do(t, ctx, click(".item .name"), until(`document.querySelector("#detail dl")?.textContent.includes("1 MiB of 4 MiB")`),
		hold("#detail [data-act=pause]"))
	progress(2 * mib)
	do(t, ctx, until(`document.querySelector("#detail dl").textContent.includes("2 MiB of 4 MiB")`),
		release("#detail [data-act=pause]"), until(row("a.iso", `e.classList.contains("paused")`)))
}

// TestRealKeyboard checks that every action of the page has a key.
func TestRealKeyboard(t *testing.T) {
	e := newEngine()
	var gids []queue.GID
	for i := range 5 {
		gids = append(gids, e.add(t, fmt.Sprintf("https://example.org/%d.iso", i), nil))
	}
	ctx := desk(t, e)
	see := func(expression string) { t.Helper(); do(t, ctx, until(expression)) }
	key := func(keys string) { t.Helper(); do(t, ctx, press(0, keys)) }
	see(`document.querySelectorAll(".item").length === 5 && document.activeElement.id === "list"`)
	key(kb.ArrowDown)
	see(`document.querySelector(".here .name").textContent === "1.iso"`)
	key("p")
	see(row("1.iso", `e.classList.contains("paused")`))
	key("p")
	see(row("1.iso", `e.classList.contains("waiting")`))
	do(t, ctx, press(chromedp.ModifierAlt, kb.ArrowUp))
	see(`[...document.querySelectorAll(".item")].sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y).map((e) => e.innerText[0]).join("") === "10234"`)
	do(t, ctx, press(chromedp.ModifierAlt, kb.ArrowDown))
	see(`[...document.querySelectorAll(".item")].sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y).map((e) => e.innerText[0]).join("") === "01234"`)
	key(kb.Enter)
	see(`!document.querySelector("#detail").hidden && document.querySelector("#detail h2").textContent === "1.iso"`)
	key(kb.ArrowDown)
	see(`document.querySelector("#detail h2").textContent === "2.iso"`)
	key(kb.Escape)
	see(`document.querySelector("#detail").hidden`)
	do(t, ctx, press(chromedp.ModifierShift, kb.ArrowDown))
	do(t, ctx, press(chromedp.ModifierShift, kb.ArrowDown))
	see(`document.querySelector("#actions").textContent.startsWith("3 selected")`)
	shot(t, ctx, "selected")
	key(kb.Delete)
	see(`document.querySelector("#asker").open && document.activeElement.textContent === "Remove"`)
	shot(t, ctx, "remove")
	key(kb.Enter)
	see(`document.querySelectorAll(".item.removed").length === 3 && !document.querySelector("#asker").open`)
	e.end(t, gids[0], 10, queue.Outcome{Kind: "network", Message: "silence"})
	key("4")
	see(`document.querySelectorAll(".item").length === 1`)
	key("r")
	see(`document.querySelectorAll(".item").length === 0`)
	key("1")
	key("/")
	see(`document.activeElement.id === "search"`)
	key("4.iso")
	see(`document.querySelector("#search").value === "4.iso" && document.querySelectorAll(".item").length === 1`)
	key(kb.Escape)
	see(`document.querySelectorAll(".item").length === 5 && document.activeElement.id === "list"`)
	key("?")
	see(`document.querySelector("#asker").open`)
	shot(t, ctx, "keys")
	key(kb.Escape)
	see(`!document.querySelector("#asker").open`)
	key("a")
	see(`document.activeElement.tagName === "TEXTAREA"`)
	key("https://example.org/new.iso")
	do(t, ctx, press(chromedp.ModifierCtrl, kb.Enter))
	see(row("new.iso", "true"))
}

// TestRealAdd checks the form that adds downloads: several at once, mirrors, invalid input, and documents that are
// dropped on it.
func TestRealAdd(t *testing.T) {
	e := newEngine()
	ctx := desk(t, e)
	add := func(text string) {
		t.Helper()
		do(t, ctx, click("#add"), chromedp.WaitVisible("#adder textarea"), fill("#adder textarea", text))
	}
	wrong := func(want string) {
		t.Helper()
		do(t, ctx, click("#adder button.main"),
			until(fmt.Sprintf(`document.querySelector("#adder .bad").textContent.includes(%q)`, want)))
	}
	add("https://a.example/x.iso https://b.example/x.iso\n\n# a comment\nhttps://a.example/y.iso\n file:///etc/passwd ")
	wrong("file:///etc/passwd")
	do(t, ctx, fill("#adder textarea", ""))
	wrong("at least one")
	do(t, ctx, fill("#adder textarea", "https://a.example/x.iso https://b.example/x.iso\nhttps://a.example/y.iso"),
		chromedp.SendKeys("#fname", "z.iso"))
	wrong("for one file; there are 2")
	do(t, ctx, fill("#fname", ""), chromedp.SendKeys("#flimitasecond", "fast"))
	wrong("such as 500K")
	do(t, ctx, fill("#flimitasecond", "2 MiB"), click("#adder input[type=checkbox]"), chromedp.SendKeys("#ffolder", "/etc"))
	wrong("is outside") // from the server, so the button waits for its answer
	shot(t, ctx, "add-refused")
	do(t, ctx, fill("#ffolder", ""), click("#adder button.main"), chromedp.WaitNotVisible("#adder"),
		until(`document.querySelectorAll(".item.paused").length === 2`))
	add("https://a.example/z.iso")
	do(t, ctx, chromedp.SendKeys("#fdigest", "abc"))
	wrong("no digest")
	do(t, ctx, fill("#fdigest", "SHA256:"+strings.Repeat("AB", 32)), click("#adder button.main"),
		chromedp.WaitNotVisible("#adder"), until(row("z.iso", "true")))
	e.do(func(q *queue.Queue) {
		x, z := q.Waiting(0, 1)[0], q.Waiting(-1, 1)[0]
		if len(x.URIs) != 2 || x.Options["max-download-limit"] != "2097152" ||
			z.Options["checksum"] != "sha-256="+strings.Repeat("ab", 32) {
			t.Errorf("added are %+v and %+v", x, z)
		}
	})
	drop := func(name, text string) {
		t.Helper()
		file, _ := json.Marshal([]string{name, text})
		ask[bool](t, ctx,
			fmt.Sprintf(`(() => { const [name, text] = %s, d = new DataTransfer(); d.items.add(new File([text], name));
			document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true })); return true; })()`, file))
	}
	drop("SHA256SUMS", strings.Repeat("12", 32)+"  d/one two.iso\n"+strings.Repeat("34", 32)+
		" *two.iso\n# no\nSHA512 (three.iso) = "+strings.Repeat("56", 64)+"\n")
	do(t, ctx, chromedp.WaitVisible("#ffoldersurl"), until(`document.querySelectorAll("#adder li").length === 3`),
		chromedp.SendKeys("#ffoldersurl", "https://c.example/rel"))
	shot(t, ctx, "sums")
	do(t, ctx, click("#adder li:nth-child(2) input"), click("#adder button.main"), until(row("three.iso", "true")))
	drop("x.meta4",
		`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="m.iso"><url>https://d.example/m.iso</url></file></metalink>`)
	do(t, ctx, until(row("m.iso", "true")+` || document.querySelectorAll(".item").length === 6`))
	drop("x.torrent", "d8:announce0:")
	do(t, ctx, until(`document.querySelector("#toasts").textContent.length > 20`))
	const armored = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
	drop("y.iso.asc", armored)
	do(t, ctx,
		until(`document.querySelector("#adder").open && document.querySelector("#adder").textContent.includes("Signatures: y.iso.asc.")`),
		fill("#adder textarea", "https://a.example/signed.iso\nhttps://a.example/y.iso"))
	drop("signed.iso.sig", "\u0088")
	do(t, ctx, until(`document.querySelector("#adder").textContent.includes("y.iso.asc, signed.iso.sig")`))
	shot(t, ctx, "signed")
	do(t, ctx, fill("#adder textarea", "https://a.example/y.iso"))
	wrong("called as signed.iso.sig")
	do(t, ctx, fill("#adder textarea", "https://a.example/signed.iso\nhttps://a.example/y.iso"),
		click("#adder button.main"), chromedp.WaitNotVisible("#adder"), until(row("signed.iso", "true")))
	ask[bool](t, ctx, fmt.Sprintf(`(() => { const d = new DataTransfer();
		d.items.add(new File([%q], "n.iso.asc")); d.items.add(new File([%q], "n.meta4"));
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true })); return true; })()`,
		armored,
		`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="n.iso"><url>https://d.example/n.iso</url></file></metalink>`))
	do(t, ctx, until(row("n.iso", "true")))
	e.do(func(q *queue.Queue) {
		signed := map[string]string{}
		for _, entry := range q.Waiting(0, 99) {
			if s := entry.Options["signature"]; s != "" {
				signed[path.Base(entry.Path+strings.Join(entry.URIs, ""))] = s
			}
		}
		asc := base64.StdEncoding.EncodeToString([]byte(armored))
		if want := map[string]string{"signed.iso": "wog=", "y.iso": asc, "n.iso": asc}; !maps.Equal(signed, want) {
			t.Errorf("signed are %v, want %v", signed, want)
		}
	})
	drop("photo.png", "\x89PNG")
	do(t, ctx, until(`document.querySelector("#toasts").textContent.includes("photo.png is no torrent")`))
	got := map[string]string{}
	e.do(func(q *queue.Queue) {
		for _, entry := range q.Waiting(0, 99) {
			if len(entry.URIs) > 0 && strings.HasPrefix(entry.URIs[0], "https://c.example/") {
				got[entry.URIs[0]] = entry.Options["checksum"]
			}
		}
	})
	want := map[string]string{"https://c.example/rel/d/one%20two.iso": "sha-256=" + strings.Repeat("12", 32),
		"https://c.example/rel/three.iso": "sha-512=" + strings.Repeat("56", 64)}
	if !maps.Equal(got, want) {
		t.Errorf("of the list were added %v", got)
	}
}

// TestRealFailed checks that a failed download shows the reason and what the user can do about it.
func TestRealFailed(t *testing.T) {
	e := newEngine()
	g := e.add(t, "https://user:secret@example.org/a.iso", nil)
	fail := func() {
		e.end(t, g, 30*mib, queue.Outcome{Kind: "mismatch", Message: "wrong digest (sha-256 b794, want b953)",
			Hint: "get the digest from the maker's page"})
	}
	fail()
	ctx := desk(t, e)
	do(t, ctx, click(".item.error"), chromedp.WaitVisible(".trouble"),
		until(`document.querySelector(".trouble").textContent.includes("maker's page")`))
	shot(t, ctx, "trouble")
	if text := ask[string](t, ctx, `document.body.textContent`); strings.Contains(text, "secret@") {
		t.Error("a password is shown")
	}
	do(t, ctx, click(`[data-act="retry"]`), until(row("a.iso", `e.classList.contains("waiting")`)))
	fail()
	do(t, ctx, chromedp.WaitVisible(".trouble"), click(`[data-act="digest"]`), chromedp.WaitVisible("#fdigest"),
		chromedp.SendKeys("#fdigest", strings.Repeat("cd", 32)+kb.Enter), until(row("a.iso", `e.classList.contains("waiting")`)))
	fail()
	do(t, ctx, chromedp.WaitVisible(".trouble"), click(`.trouble [data-act="mirror"]`), chromedp.WaitVisible("#furl"),
		chromedp.SendKeys("#furl", "https://mirror.example/a.iso"+kb.Enter),
		until(row("a.iso", `e.classList.contains("waiting")`)))
	do(t, ctx, click(`[data-act="limit"]`), chromedp.WaitVisible("#fbytesasecond"), chromedp.SendKeys("#fbytesasecond",
		"500k"+kb.Enter),
		until(`document.querySelector("#detail dl").textContent.includes("500 KiB/s")`))
	e.do(func(q *queue.Queue) {
		if a, _ := q.Entry(g); a.Options["checksum"] != "sha-256="+strings.Repeat("cd", 32) || len(a.URIs) != 2 ||
			a.URIs[1] != "https://mirror.example/a.iso" {
			t.Errorf("it is %+v", a)
		}
	})
}
