//go:build realservers

package page_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"braid/daemon/queue"
)

// TestRealFleet checks that the page shows the fleet in windows of several sizes, that the keyboard reaches it, that a
// dead job can be retried, and that the page of a daemon without a fleet does not mention one.
func TestRealFleet(t *testing.T) {
	for name, width := range map[string]int64{"wide": 1440, "phone": 360} {
		t.Run(name, func(t *testing.T) {
			e, c := newEngine(), busyCrew()
			g := e.add(t, "https://example.org/running.iso", nil)
			e.do(func(q *queue.Queue) {
				q.Begin(crewTime, g)
				q.Progress(g, queue.Live{Done: 1, Size: 2, Speed: 3, Worker: "vm1/12/abc"})
			})
			ctx := open(t, crewed(t, e, c).URL, token, width, 740)
			see := func(expression string) { t.Helper(); do(t, ctx, until(expression)) }
			see(`document.querySelector(".item .state")?.textContent === "at vm1/12/abc"`)
			if width > 1000 {
				do(t, ctx, press(0, "f"))
			} else {
				do(t, ctx, click("#fleet"))
			}
			see(`document.querySelectorAll("#panel li").length === 5`)
			if got := ask[string](t, ctx,
				`[...document.querySelectorAll("#panel tbody tr")].map((e) => [...e.children].map((c) => c.textContent).join(";")).join("\n")`); got !=
				"vm1/12/abc;1;3 MiB/s;example.org\nvm2/7/def;idle;;\nvm3/9/ghi;1, does not answer;;mirror.uni.example:8443\n"+
					"example.org;1;1;1;2;3 MiB/s\nmirror.uni.example:8443;1;;;;3 MiB/s" {
				t.Errorf("workers and hosts are\n%s", got)
			}
			whole(t, ctx, "#panel table")
			see(`document.querySelector("#panel").textContent.includes("1 MiB of 4 MiB, 3 MiB/s, 2 sources, since 1 min 0 s, at vm1/12/abc")`)
			see(`document.querySelector("#panel").textContent.includes("wrong digest of dead.iso1 try, the last at vm1/12/abc")`)
			shot(t, ctx, "fleet-"+name)
			wide(t, ctx, width)
			if ask[bool](t, ctx, `"hacked" in window || document.querySelectorAll("#panel img").length > 0`) {
				t.Error("a name has become a part of the page")
			}
			// A button that is pressed stays where it is.
			see(`(window.held = [...document.querySelectorAll("#panel button")].find((b) => b.dataset.job === "dead.iso")).focus() === undefined`)
			do(t, ctx, hold(`#panel [data-job="dead.iso"]`))
			c.mu.Lock()
			c.lost = crewTime.Add(-time.Hour)
			c.mu.Unlock()
			see(`performance.clearResourceTimings() === undefined`)
			see(`performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/fleet")).length > 2 && held.isConnected`)
			do(t, ctx, chromedp.MouseEvent(chromedp.MouseReleased, 1, 1, chromedp.ButtonLeft)) // not on the button: no click
			see(`document.querySelector("#panel .bad")?.textContent.includes("came back empty")`)
			do(t, ctx, press(0, kb.Enter))
			see(`![...document.querySelectorAll("#panel button")].some((b) => b.dataset.job === "dead.iso") && document.querySelector("#panel p")?.textContent.includes("2 queued")`)
			c.mu.Lock()
			c.lost = crewTime.Add(-time.Minute)
			c.mu.Unlock()
			see(`document.querySelector("#panel .bad")?.textContent.includes("came back empty 2 min 0 s ago")`)
			wide(t, ctx, width)
			c.mu.Lock()
			c.away = errors.New("no connection")
			c.mu.Unlock()
			see(`document.querySelector("#panel .bad[role=alert]")?.textContent.includes("does not answer")`)
			do(t, ctx, press(0, kb.Escape))
			see(`!document.querySelector("#panel").open && document.querySelector("#app").offsetHeight > 0`)
		})
	}
	ctx := desk(t, newEngine())
	do(t, ctx, press(0, "f"), until(`document.querySelector("#fleet").hidden && !document.querySelector("#panel").open`))
	if text := ask[string](t, ctx, `document.body.innerText`); strings.Contains(text, "Fleet") {
		t.Errorf("without a fleet it says\n%s", text)
	}
}
