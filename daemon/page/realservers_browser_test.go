//go:build realservers

package page_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"braid/daemon/queue"
	"braid/internal/test/gotool"
)

var (
	// The tests share one Chromium. Each opens a tab of its own.
	browser context.Context
	built   string // path of the built command
)

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	if built, err = gotool.Braid(folder); err != nil {
		panic(err)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("/usr/bin/chromium"), chromedp.NoSandbox, chromedp.WSURLReadTimeout(2*time.Minute))...)
	browser, _ = chromedp.NewContext(ctx)
	if err := chromedp.Do(browser); err != nil {
		panic(err)
	}
	code := m.Run()
	cancel()
	os.RemoveAll(folder)
	os.Exit(code)
}

// tab opens url in a window of the given size.
func tab(t *testing.T, url string, width, height int64) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	do(t, ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(url))
	t.Cleanup(func() {
		if t.Failed() {
			shot(t, ctx, "failed-"+strings.ReplaceAll(t.Name(), "/", "-"))
		}
	})
	return ctx
}

// open opens url and enters the token.
func open(t *testing.T, url, token string, width, height int64) context.Context {
	t.Helper()
	ctx := tab(t, url, width, height)
	do(t, ctx, chromedp.WaitVisible("#token"), chromedp.SendKeys("#token", token+kb.Enter), chromedp.WaitVisible("#list"))
	return ctx
}

func desk(t *testing.T, e *engine) context.Context { return open(t, site(t, e).URL, token, 1440, 860) }

// dark makes the browser report that the system prefers dark colours.
func dark(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	return chromedp.Void{}, err
}

// press sends the key events of a keyboard. A keyDown event from chromedp has the character with it; press sends it
// without, because a page that cancels the event must be able to suppress the character.
func press(modifiers kb.Modifier, keys string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (none chromedp.Void, err error) {
		for _, r := range keys {
			for _, ev := range kb.Encode(r) {
				if ev.Type == kb.KeyDown {
					ev.Type = input.DispatchKeyEventTypeRawKeyDown
				}
				ev.Modifiers |= int64(modifiers)
				if _, err = chromedp.Call(ctx, input.DispatchKeyEvent, *ev); err != nil {
					return none, err
				}
			}
		}
		return none, nil
	}
}

// click clicks the first element that is found by selector. It begins again if the page has replaced that element before
// the mouse button was pressed.
func click(selector string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, tab *chromedp.Target) (chromedp.Void, error) {
		for {
			none, err := chromedp.Click(selector)(ctx, tab)
			var gone *cdproto.Error
			if !errors.As(err, &gone) || gone.Message != "Could not find node with given id" {
				return none, err
			}
		}
	}
}

// hold presses the left mouse button at the middle of the element that is found by selector, and release releases it
// there.
func hold(selector string) chromedp.Action[chromedp.Void] {
	return mouse(chromedp.MousePressed, selector)
}
func release(selector string) chromedp.Action[chromedp.Void] {
	return mouse(chromedp.MouseReleased, selector)
}

func mouse(event input.DispatchMouseEventType, selector string) chromedp.Action[chromedp.Void] {
	middle := chromedp.Evaluate[[]float64](fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector))
	return func(ctx context.Context, tab *chromedp.Target) (none chromedp.Void, err error) {
		at, err := middle(ctx, tab)
		if err != nil {
			return none, err
		}
		return chromedp.MouseEvent(event, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1))(ctx, tab)
	}
}

// fill sets the value of a field to text.
func fill(field, text string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf(`(() => { document.querySelector(%q).value = %q; return true; })()`,
		field, text))
}

// ask evaluates a JavaScript expression in the page.
func ask[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// shot writes a screenshot to the folder that the environment variable BRAID_SHOTS names, if it is set.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	folder := os.Getenv("BRAID_SHOTS")
	if folder == "" {
		return
	}
	chromedp.Do(ctx, chromedp.Sleep(600*time.Millisecond)) // until transitions have ended
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Log(err)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o600); err != nil {
		t.Error(err)
	}
}

// until waits until a JavaScript expression is true in the page.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(20*time.Millisecond),
		chromedp.WithPollingTimeout(2*time.Minute))
}

// busy returns an engine whose queue has entries in every state.
func busy(t *testing.T) *engine {
	e := newEngine()
	e.disk = e.add(t, "https://origin.example.org/pub/debian-13.2.0-amd64-DVD-1.iso", func(q *queue.Entry) {
		q.URIs = append(q.URIs, "https://mirror.uni.example/pub/disk.iso", "https://ftp.slow.example/pub/disk.iso",
			"https://gone.example.net/pub/disk.iso")
	})
	kernel := e.add(t, "https://cdn.example.org/linux-6.18.tar.xz", nil)
	e.do(func(q *queue.Queue) { q.Start(time.Now()); q.Start(time.Now()) })
	e.play(t, e.disk, 4<<30, 12*time.Second)
	e.do(func(q *queue.Queue) {
		q.Progress(kernel, queue.Live{Done: 61 * mib, Size: 149 * mib, Speed: 3 * mib, Connections: 2})
	})
	e.add(t, "https://example.org/photos-2026.tar.zst",
		func(q *queue.Entry) { q.Options = map[string]string{"dir": "/srv/files/photos/2026"} })
	begun := e.add(t, "https://example.org/paused.img.xz", nil)
	e.do(func(q *queue.Queue) {
		q.Begin(time.Now(), begun)
		q.Progress(begun, queue.Live{Done: 210 * mib, Size: 700 * mib, Speed: mib})
		q.Pause(begun)
	})
	e.add(t, "https://example.org/later.img.xz", func(q *queue.Entry) { q.Status = queue.Paused })
	for i := range 6 {
		e.add(t, fmt.Sprintf("https://dl.example.com/podcast/episode-%03d.opus", i+100), nil)
	}
	for _, done := range []struct {
		url  string
		size int64
		o    queue.Outcome
	}{
		{"https://example.org/verified.iso", 812 * mib, queue.Outcome{Verified: "sha-256 from Digest over https"}},
		{"https://example.org/braid_1.0.0_amd64.deb", 11 * mib,
			queue.Outcome{Verified: `OpenPGP signature by ` + strings.Repeat("385a62b1", 5) +
				`, "Braid Releases <release@example.org>"`}},
		{"http://plain.example.com/setup.bin", 77 * mib, queue.Outcome{}},
		{"https://example.org/wrong.iso", 90 * mib, queue.Outcome{
			Kind: "mismatch", Reason: "wrong digest: does not match the sha-256 from checksum in the queue",
			Message: "download https://example.org/wrong.iso: sha-256 is " + strings.Repeat("b794f3c0", 8) + ", want " +
				strings.Repeat("b953aa01", 8) + " (from checksum in the queue)",
			Hint: "if you mistyped the digest, correct it and repeat the command, which then uses the received file",
		}},
		{"https://down.example.org/away.zip", -1, queue.Outcome{Kind: "network",
			Message: "download https://down.example.org/away.zip: down.example.org:443: connect: connection refused",
			Reason:  "connection refused", Hint: "check the address and the network"}},
		{"https://example.org/gone/old-1.2.tar.gz", -1, queue.Outcome{Kind: "refused",
			Message: "download https://example.org/gone/old-1.2.tar.gz: example.org:443: status 404 Not Found",
			Reason:  "404 Not Found", Hint: "check the URL"}},
	} {
		e.end(t, e.add(t, done.url, nil), done.size, done.o)
	}
	return e
}

// TestRealPage checks the layout of the page in several windows and takes screenshots of it.
func TestRealPage(t *testing.T) {
	e := busy(t)
	for _, tt := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"wide", 1440, 860, false}, {"desk", 1280, 860, false}, {"dark", 1280, 860, true}, {"phone", 360, 740, false},
		{"night", 360, 740, true}} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := open(t, site(t, e).URL, token, tt.width, tt.height)
			if tt.dark {
				do(t, ctx, dark)
			}
			do(t, ctx, until(`document.querySelectorAll(".item").length >= 10`))
			if got := ask[string](t, ctx,
				`getComputedStyle(document.body).backgroundColor`); (got == "rgb(255, 255, 255)") == tt.dark {
				t.Errorf("the page is %s", got)
			}
			shot(t, ctx, tt.name)
			e.play(t, e.disk, 4<<30, 12*time.Second)
			do(t, ctx, click(".item .name"), chromedp.WaitVisible("#picture .strip"))
			shot(t, ctx, tt.name+"-detail")
			wide(t, ctx, tt.width)
			do(t, ctx, until(`document.querySelector("#picture .accounts").scrollIntoView({ block: "end" }) === undefined`))
			shot(t, ctx, tt.name+"-sources")
			whole(t, ctx, "#picture .accounts")
			do(t, ctx, press(0, kb.Escape), click("#add"), chromedp.WaitVisible("#adder textarea"))
			shot(t, ctx, tt.name+"-add")
			wide(t, ctx, tt.width)
		})
	}
}

// wide checks that no element is wider than the window.
func wide(t *testing.T, ctx context.Context, width int64) {
	t.Helper()
	if got := ask[string](t, ctx,
		`[...document.querySelectorAll("body, #app, #top, #detail, dialog[open], #picture > *")].filter((e) => e.getClientRects().length > 0
		&& (e.scrollWidth > e.clientWidth + 1 && !["auto", "hidden"].includes(getComputedStyle(e).overflowX) || e.getBoundingClientRect().right > innerWidth + 1))
		.map((e) => e.tagName + "#" + e.id + "." + e.className + " " + e.scrollWidth).join()`); got != "" {
		t.Errorf("at %d px are wider: %s", width, got)
	}
}

// whole checks that every cell of a table is fully visible without scrolling sideways.
func whole(t *testing.T, ctx context.Context, table string) {
	t.Helper()
	if got := ask[string](t, ctx,
		fmt.Sprintf(`(() => { const table = document.querySelector(%q), cells = [...table.querySelectorAll("td, th")].filter((e) => e.getClientRects().length > 0);
		const frames = []; for (let e = table.parentElement; e; e = e.parentElement) if (getComputedStyle(e).overflowX !== "visible") frames.push(e.getBoundingClientRect().left + e.clientLeft + e.clientWidth);
		const right = Math.min(innerWidth, ...frames) + 0.5;
		return cells.length < 8 ? "few cells" : cells.filter((e) => e.getBoundingClientRect().right > right || e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent).join("|"); })()`, table)); got != "" {
		t.Errorf("of %s are cut: %s", table, got)
	}
}
