//go:build realservers

package page_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"braid/daemon/queue"
)

// browse opens the page in a real browser, in a window of some size, and gives the token.
func browse(t *testing.T, e *engine, width, height int, dark bool) (context.Context, string) {
	t.Helper()
	s := site(t, e)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("/usr/bin/chromium"), chromedp.NoSandbox, chromedp.WindowSize(width, height),
		chromedp.Flag("hide-scrollbars", false))
	if dark {
		options = append(options, chromedp.Flag("blink-settings", "preferredColorScheme=0"))
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	do(t, ctx, chromedp.EmulateViewport(int64(width), int64(height)), chromedp.Navigate(s.URL), chromedp.WaitVisible("#token"),
		chromedp.SendKeys("#token", token+"\r"), chromedp.WaitVisible("#list"))
	return ctx, s.URL
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		shot(t, ctx, "failed-"+strings.ReplaceAll(t.Name(), "/", "-"))
		t.Fatal(err)
	}
}

// shot keeps a picture of the page where BRAID_SHOTS says.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	folder := os.Getenv("BRAID_SHOTS")
	if folder == "" {
		return
	}
	chromedp.Do(ctx, chromedp.Sleep(600*time.Millisecond)) // until what moves has come to rest
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Log(err)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o600); err != nil {
		t.Error(err)
	}
}

// until waits until an expression is true in the page.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(10*time.Second))
}

// busy is a queue with something of everything.
func busy(t *testing.T) *engine {
	e := newEngine()
	disk := e.add(t, "https://origin.example.org/pub/debian-13.2.0-amd64-DVD-1.iso", func(q *queue.Entry) {
		q.URIs = append(q.URIs, "https://mirror.uni.example/pub/disk.iso", "https://ftp.slow.example/pub/disk.iso", "https://gone.example.net/pub/disk.iso")
	})
	kernel := e.add(t, "https://cdn.example.org/linux-6.18.tar.xz", nil)
	e.do(func(q *queue.Queue) { q.Start(time.Now()); q.Start(time.Now()) })
	e.play(t, disk, 4<<30, 8*time.Second)
	e.do(func(q *queue.Queue) {
		q.Progress(kernel, queue.Live{Done: 61 * mib, Size: 149 * mib, Speed: 3 * mib, Connections: 2})
	})
	e.add(t, "https://example.org/photos-2026.tar.zst", nil)
	e.add(t, "https://example.org/paused.img.xz", func(q *queue.Entry) { q.Status = queue.Paused })
	for i := range 6 {
		e.add(t, fmt.Sprintf("https://dl.example.com/podcast/episode-%03d.opus", i+100), nil)
	}
	for _, done := range []struct {
		url  string
		size int64
		o    queue.Outcome
	}{
		{"https://example.org/verified.iso", 812 * mib, queue.Outcome{Verified: "SHA-256 from Digest over https"}},
		{"https://example.org/braid_1.0.0_amd64.deb", 11 * mib, queue.Outcome{Verified: "OpenPGP by 385A 62B1 90C7 44E1"}},
		{"http://plain.example.com/setup.bin", 77 * mib, queue.Outcome{}},
		{"https://example.org/wrong.iso", 90 * mib, queue.Outcome{
			Kind: "mismatch", Message: "download https://example.org/wrong.iso: wrong digest (sha-256 b794f3c0..., want b953aa01...)", Hint: "give another mirror, or the right digest with --sha256",
		}},
		{"https://down.example.org/away.zip", -1, queue.Outcome{Kind: "network", Message: "download https://down.example.org/away.zip: connection refused", Hint: "try again later"}},
	} {
		e.end(t, e.add(t, done.url, nil), done.size, done.o)
	}
	return e
}

func TestRealPage(t *testing.T) {
	e := busy(t)
	for _, tt := range []struct {
		name          string
		width, height int
		dark          bool
	}{{"wide", 1440, 860, false}, {"dark", 1440, 860, true}, {"phone", 360, 740, false}} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, _ := browse(t, e, tt.width, tt.height, tt.dark)
			do(t, ctx, until(`document.querySelectorAll(".item").length >= 10`))
			shot(t, ctx, tt.name)
			do(t, ctx, chromedp.Click(".item .name"), chromedp.WaitVisible("#detail"))
			shot(t, ctx, tt.name+"-detail")
			do(t, ctx, chromedp.KeyEvent("\x1b"), chromedp.KeyEvent("a"), chromedp.WaitVisible("#adder textarea"))
			shot(t, ctx, tt.name+"-add")
		})
	}
}
