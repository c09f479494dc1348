//go:build realservers

package page_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"braid/daemon/page"
)

// TestRealWatches checks that the page shows the watches in windows of several sizes, that the keyboard reaches them, that
// texts from feeds stay texts, and that the page of a daemon without a watcher does not mention watches.
func TestRealWatches(t *testing.T) {
	for name, width := range map[string]int64{"wide": 1440, "phone": 360} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			list, failed := someWatches(), error(nil)
			ctx := open(t, watched(t, func() ([]page.Watch, error) {
				mu.Lock()
				defer mu.Unlock()
				return list, failed
			}).URL, token, width, 740)
			see := func(expression string) { t.Helper(); do(t, ctx, until(expression)) }
			if width > 1000 {
				do(t, ctx, press(0, "w"))
			} else {
				do(t, ctx, click("#watches"))
			}
			see(`document.querySelectorAll("#panel tbody tr").length === 4`)
			got := ask[string](t, ctx,
				`[...document.querySelectorAll("#panel tbody tr")].map((e) => [...e.children].map((c) => c.textContent).join(";")).join("\n")`)
			for _, want := range []string{
				"disk;;;sha-256 from Digest over https\n",
				"evil;<img src=x onerror=\"window.hacked=1\">\\u202e;<b>2</b>;\n",
				"gh;2.1;2.2;version 2.2 is not ready yet: gh_2.2_linux_amd64.tar.gz: status 404 Not Found (next try in " +
					"1 h 59 min)version 2.1 (the newest is 2.2): sha-256 from gh_2.1_checksums.txt\n",
				"none;;;the settings exclude all 3 versions in the feeds, for example 3.0-rc1",
			} {
				if !strings.Contains(got, want) {
					t.Errorf("the watches are\n%s\nwithout %q", got, want)
				}
			}
			shot(t, ctx, "watches-"+name)
			whole(t, ctx, "#panel table")
			wide(t, ctx, width)
			if ask[bool](t, ctx,
				`"hacked" in window || document.querySelectorAll("#panel :is(img, b)").length > 0 || document.querySelector("#panel").ariaLabel !== "Watches"`) {
				t.Error("a version has become a part of the page, or the dialog has no name")
			}
			mu.Lock()
			list = nil
			mu.Unlock()
			see(`document.querySelector("#panel .hint")?.textContent === "Nothing is watched."`)
			mu.Lock()
			failed = errors.New("the watcher has ended")
			mu.Unlock()
			see(`document.querySelector("#panel .bad[role=alert]")?.textContent.includes("cannot be read now")`)
			do(t, ctx, press(0, kb.Escape))
			see(`!document.querySelector("#panel").open && document.querySelector("#app").offsetHeight > 0`)
		})
	}
	ctx := desk(t, newEngine())
	do(t, ctx, press(0, "w"), until(`document.querySelector("#watches").hidden && !document.querySelector("#panel").open`))
	if text := ask[string](t, ctx, `document.body.innerText`); strings.Contains(text, "Watches") {
		t.Errorf("without a watcher it says\n%s", text)
	}
}
