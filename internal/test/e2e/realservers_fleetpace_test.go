//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fleetHost serves the same file under all names, and notes when it was asked.
type fleetHost struct {
	*httptest.Server
	mu    sync.Mutex
	asked []time.Time
	busy  time.Time // until then the answer is 503
}

func newFleetHost(t *testing.T, size int) *fleetHost {
	h := &fleetHost{}
	body := bytes.Repeat([]byte{7}, size)
	sum := sha256.Sum256(body)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked = append(h.asked, time.Now())
		wait := time.Until(h.busy)
		h.mu.Unlock()
		if wait > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Digest", "sha-256="+base64.StdEncoding.EncodeToString(sum[:]))
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(body))
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *fleetHost) requests() []time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// enqueue puts jobs of a host into the queue.
func (f *fleetRig) enqueue(h *fleetHost, prefix string, n int) {
	f.t.Helper()
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "%s/%s%d\n  out=%s%d\n", h.URL, prefix, i, prefix, i)
	}
	list := filepath.Join(f.dir, prefix+".list")
	if err := os.WriteFile(list, []byte(lines.String()), 0o644); err != nil {
		f.t.Fatal(err)
	}
	f.braid("get", "-q", "-i", list)
}

// placed is how many of the files whose names begin so are in place.
func (f *fleetRig) placed(prefix string) int {
	all, err := filepath.Glob(filepath.Join(f.to, prefix+"*"))
	if err != nil {
		f.t.Fatal(err)
	}
	return len(all)
}

// TestRealFleetPaced: a host with more work than it may be asked for, and one that wants to be left alone, keep no
// others waiting: their jobs wait in the queue, which is no try, and are all done at the pace of the host.
func TestRealFleetPaced(t *testing.T) {
	t.Parallel()
	const rate, slowOnes, others = 4, 60, 20
	f := newFleetRig(t)
	slow, quick, busy := newFleetHost(t, 1000), newFleetHost(t, 1000), newFleetHost(t, 1000)
	busy.busy = time.Now().Add(time.Hour)
	config := fmt.Sprintf("[site.%q]\nhost-rate = %d\n", slow.URL+"/*", rate)
	if err := os.MkdirAll(filepath.Join(f.dir, "braid"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "braid", "config.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	f.worker()
	f.worker()
	began := time.Now()
	busy.mu.Lock()
	busy.busy = began.Add(6 * time.Second)
	busy.mu.Unlock()
	f.enqueue(busy, "busy", 20)
	f.enqueue(slow, "slow", slowOnes)
	f.enqueue(quick, "quick", others)
	took := f.await("those of the other host", func() bool { return f.placed("quick") == others })
	if f.placed("slow") == slowOnes {
		t.Error("all of the slow host came before them")
	}
	t.Logf("the others took %v, while %d came from the slow host and %d from the busy one", took, f.placed("slow"),
		f.placed("busy"))
	f.await("those of the slow host", func() bool { return f.placed("slow") == slowOnes })
	asked := slow.requests()
	t.Logf("the slow host was asked %d times in %v, the busy one %d times", len(asked),
		asked[len(asked)-1].Sub(asked[0]), len(busy.requests()))
	// A request may be late, and others come with it then; none comes too early.
	for i, at := range asked {
		if least := time.Duration(i-2*rate) * time.Second / rate; at.Sub(began) < least {
			t.Errorf("%d requests within %v, at %d a second", i+1, at.Sub(began), rate)
			break
		}
	}
	f.await("those of the busy host", func() bool { return f.placed("busy") == 20 })
	for name, j := range f.jobs() {
		if j.Tries > 1 && !strings.HasPrefix(name, "busy") || j.Tries > 2 {
			t.Errorf("%s took %d tries", name, j.Tries)
		}
	}
}

// TestRealFleetShares: four workers keep together to the bytes a second of a host, and make use of them.
func TestRealFleetShares(t *testing.T) {
	t.Parallel()
	const files, size, most = 24, 512 << 10, 2 << 20
	f := newFleetRig(t)
	h := newFleetHost(t, size)
	f.env = []string{"BRAID_HOST_LIMIT_RATE=2M"}
	for range 4 {
		f.worker()
	}
	f.env = nil
	began := time.Now()
	f.enqueue(h, "file", files)
	f.await("all files", func() bool { return f.placed("file") == files })
	took, least := time.Since(began), time.Duration(files*size/most)*time.Second
	if took < least*9/10 {
		t.Errorf("%d MiB took %v, and need %v", files*size>>20, took, least)
	}
	t.Logf("%d MiB at %d MiB/s took %v", files*size>>20, most>>20, took)
}
