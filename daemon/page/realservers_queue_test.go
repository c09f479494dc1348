//go:build realservers

package page_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"braid/daemon/queue"
	"braid/internal/test/ports"
)

// A house runs the built command as a daemon. Its address stays the same when it is restarted.
type house struct {
	t     *testing.T
	home  string
	port  string
	token string
	run   *exec.Cmd
}

func newHouse(t *testing.T) *house {
	_, port, err := net.SplitHostPort(ports.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, home: t.TempDir(), port: port}
	word, err := h.braid("token").Output()
	if err != nil {
		t.Fatal(err)
	}
	h.token = strings.TrimSpace(string(word))
	h.start()
	t.Cleanup(h.kill)
	return h
}

func (h *house) braid(args ...string) *exec.Cmd {
	c := exec.Command(built, append([]string{"daemon", "--state", filepath.Join(h.home, "state")}, args...)...)
	c.Env = append(os.Environ(), "HOME="+h.home, "XDG_CONFIG_HOME="+h.home, "XDG_STATE_HOME="+h.home)
	return c
}

func (h *house) start() {
	h.t.Helper()
	h.run = h.braid("-d", filepath.Join(h.home, "files"), "-j", "3", "--rpc-listen-port", h.port)
	log, err := h.run.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.run.Start(); err != nil {
		h.t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "page=http://127.0.0.1:"+h.port+"/") {
			go io.Copy(io.Discard, log)
			return
		}
	}
	h.t.Fatal("the daemon is not ready")
}

// kill kills the daemon without giving it time to save anything, like a loss of power.
func (h *house) kill() {
	h.run.Process.Kill()
	h.run.Wait()
}

// mirror starts a server of a file of 4 MiB. If hold is not nil, it sends the second half only after hold is closed. It
// sends no digest of /bare.iso and has no /absent.iso.
func mirror(t *testing.T, hold chan struct{}) *httptest.Server {
	body := bytes.Repeat([]byte("braid!!\n"), 4*mib/8)
	sum := sha256.Sum256(body)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/absent.iso" {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path != "/bare.iso" {
			w.Header().Set("Digest", "sha-256="+base64.StdEncoding.EncodeToString(sum[:]))
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(&holding{w, r, hold, len(body) / 2}, r, "", time.Time{}, bytes.NewReader(body))
	}))
	t.Cleanup(s.Close)
	return s
}

type holding struct {
	http.ResponseWriter
	r    *http.Request
	hold chan struct{}
	left int
}

func (w *holding) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 && w.hold != nil {
		w.ResponseWriter.(http.Flusher).Flush()
		select {
		case <-w.hold:
		case <-w.r.Context().Done():
			return 0, context.Canceled
		}
	}
	return w.ResponseWriter.Write(b)
}

// row returns an expression that is true if the first row with the name satisfies condition.
func row(name, condition string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".item")].some((e) => e.querySelector(".name").textContent === %q && (%s))`, name, condition)
}

const hasState, hasProof = `e.querySelector(".state").textContent.includes(%q)`,
	`e.querySelector(".proof").textContent.includes(%q)`

// TestRealLife checks the whole life of a download: it is added, paused, resumed after the daemon was killed and
// restarted, and verified. The page reports when it has lost the daemon.
func TestRealLife(t *testing.T) {
	h := newHouse(t)
	hold := make(chan struct{})
	m := mirror(t, hold)
	ctx := open(t, "http://127.0.0.1:"+h.port, h.token, 1440, 860)
	do(t, ctx, chromedp.WaitVisible("#empty"), click("#add"), chromedp.WaitVisible("#adder textarea"),
		chromedp.SendKeys("#adder textarea", m.URL+"/disk.iso\n"+m.URL+"/absent.iso"), click("#adder button.main"),
		chromedp.WaitNotVisible("#adder"),
		until(row("disk.iso", `e.querySelector(".progress").textContent === "50 %" && e.classList.contains("active")`)),
		until(row("absent.iso", fmt.Sprintf(hasState, "404"))))
	shot(t, ctx, "life")
	do(t, ctx, click(`.item.active .name`), chromedp.WaitVisible("#picture"),
		until(`document.querySelector("#picture .headline")?.textContent.length > 20`),
		click(`#detail [data-act="pause"]`), until(row("disk.iso", `e.classList.contains("paused")`)))
	h.kill()
	do(t, ctx, chromedp.WaitVisible("#lost"))
	shot(t, ctx, "lost")
	h.start()
	do(t, ctx, chromedp.WaitNotVisible("#lost"), until(row("disk.iso", `e.classList.contains("paused")`)))
	close(hold)
	do(t, ctx, click(`#detail [data-act="resume"]`),
		until(row("disk.iso", `e.classList.contains("complete") && `+fmt.Sprintf(hasProof, "sha-256"))),
		until(`document.querySelector("#picture .headline")?.textContent.includes("proof: ")`))
	shot(t, ctx, "life-end")
	do(t, ctx, press(0, kb.Escape), click(`#actions [name="tidy"]`), until(`document.querySelectorAll(".item").length === 1`))
	if got := ask[string](t, ctx, `document.querySelector("#toasts").textContent`); strings.Contains(got, "fail") {
		t.Error(got)
	}
}

// TestRealToken checks that the page refuses a wrong token, keeps the right one across a reload, and stores it neither
// in the address nor on disk.
func TestRealToken(t *testing.T) {
	e := newEngine()
	e.add(t, "https://example.org/a.iso", nil)
	s := site(t, e)
	ctx := tab(t, s.URL, 800, 600)
	do(t, ctx, chromedp.WaitVisible("#token"))
	shot(t, ctx, "door")
	do(t, ctx, chromedp.SendKeys("#token", "wrong"+kb.Enter),
		until(`document.querySelector("#refused").textContent === "This is not the token."`),
		chromedp.SendKeys("#token", token+kb.Enter), chromedp.WaitVisible(".item"), chromedp.Reload(),
		chromedp.WaitVisible(".item"))
	if got := ask[string](t, ctx,
		`location.href + JSON.stringify(localStorage) + document.cookie`); strings.Contains(got, token) {
		t.Errorf("the token stands in %s", got)
	}
	do(t, ctx, click(".item"), chromedp.WaitVisible("#detail"))
	other := tab(t, s.URL, 800, 600)
	do(t, other, chromedp.WaitVisible("#token"))
	if !ask[bool](t, other, `document.querySelector("#app").hidden`) {
		t.Error("another tab has the token, too")
	}
}

// TestRealTenThousand checks that the document has only the visible rows of a long list, and that search, selection and
// commands apply to all entries.
func TestRealTenThousand(t *testing.T) {
	e := newEngine()
	e.do(func(q *queue.Queue) {
		for i := range 10_000 {
			q.Add(time.Now(), queue.Entry{URIs: []string{fmt.Sprintf("https://example.org/file-%05d.iso", i)}}, -1)
		}
	})
	ctx := desk(t, e)
	few := `document.querySelectorAll(".item").length > 10 && document.querySelectorAll(".item").length < 40 && document.querySelectorAll("*").length < 800`
	last := `[...document.querySelectorAll(".item .name")].some((e) => e.textContent === "file-09999.iso")`
	do(t, ctx, until(few+` && document.querySelector('#filters [name="all"] b').textContent === "10,000"`))
	do(t, ctx, press(0, kb.End), until(last+" && "+few), press(0, kb.Home), until("!("+last+") && "+few))
	do(t, ctx, chromedp.SendKeys("#search", "9 777"), until(`document.querySelectorAll(".item").length === 2`)) // 07779 and 09777
	shot(t, ctx, "search")
	do(t, ctx, press(0, kb.Escape), press(chromedp.ModifierCtrl, "a"),
		until(`document.querySelector("#actions").textContent.startsWith("10,000 selected")`),
		click(`#actions [name="pause"]`), until(`document.querySelectorAll(".item.paused").length > 10`))
	paused := func() (n int) {
		e.do(func(q *queue.Queue) {
			for _, entry := range q.Waiting(0, 10_000) {
				if entry.Status == queue.Paused {
					n++
				}
			}
		})
		return n
	}
	for paused() < 10_000 { // the page sends several requests, and shows what each has done
		do(t, ctx, until("true"))
	}
	if most := ask[int](t, ctx, `(async () => {
		const box = document.querySelector("#list");
		let most = 0;
		for (let i = 0; i < 60; i++) { box.scrollTop = i * 5000; await new Promise(requestAnimationFrame); most = Math.max(most, document.querySelectorAll(".item").length); }
		return most;
	})()`); most >= 40 {
		t.Errorf("%d rows are in the document while it is scrolled", most)
	}
}
