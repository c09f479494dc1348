//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	smallFiles    = 2000
	smallSize     = 16 << 10
	smallTrip     = 20 * time.Millisecond
	smallLink     = 200e6 / 8 // bytes per second
	smallHeader   = 400       // bytes of a header, about
	smallAtOnce   = "64"
	smallModified = "Fri, 02 Jan 2026 03:04:05 GMT"
)

// small compares programs by lists of small files from a distant server, without proof and with a digest in each
// answer.
func (b *bench) small(ctx context.Context) error {
	for _, digests := range []bool{false, true} {
		if err := b.smallFrom(ctx, digests); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) smallFrom(ctx context.Context, digests bool) error {
	f, err := startFar(digests)
	if err != nil {
		return err
	}
	defer f.stop()
	lists, err := os.MkdirTemp(b.dir, "lists-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(lists)
	urls := f.urls()
	list, config := filepath.Join(lists, "list"), filepath.Join(lists, "curl")
	if err := os.WriteFile(list, []byte(strings.Join(urls, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	lines := "url=" + strings.Join(urls, "\nremote-name\nurl=") + "\nremote-name\n"
	if err := os.WriteFile(config, []byte(lines), 0o600); err != nil {
		return err
	}
	// The time of the others includes a sync of the data that they leave in memory, because that of braid does.
	synced := func(into string, c command) command {
		if b.tmpfs {
			return c
		}
		return command{"sh", "-c", c.String() + " && sync -f " + into}
	}
	contenders := []contender{
		{label: "braid", command: func(into string) command { return command{b.braid, "get", "-q", "-d", into, "-i", list} }},
		{label: "curl -Z", command: func(into string) command {
			return synced(into, command{"curl", "-s", "--create-dirs", "--output-dir", into, "-Z", "--parallel-max", smallAtOnce, "-K", config})
		}},
		{label: "aria2c", command: func(into string) command {
			return synced(into, append(append(command{"aria2c"}, alone(into)...), "-j"+smallAtOnce, "-i", list))
		}},
	}
	what := "no digests"
	if digests {
		what = "a Digest field each"
	}
	fmt.Printf("small: %d files of %s, %s, from one server %v away at %.0f Mbit/s to %s, in turn; the others verify nothing\n",
		smallFiles, kib(smallSize), what, smallTrip, smallLink*8/1e6, b.where())
	if err := b.race(ctx, contenders, urls, smallSize); err != nil {
		return err
	}
	for i := range contenders {
		fmt.Printf("  %-8s processor %.2f ms a file, at most %s\n", contenders[i].label, 1000*median(contenders[i].cpu)/smallFiles, mib(contenders[i].rss))
	}
	ours, best, least := &contenders[0], contenders[1].median(), median(contenders[1].cpu)
	for i := range contenders[2:] {
		best, least = min(best, contenders[2+i].median()), min(least, median(contenders[2+i].cpu))
	}
	fmt.Printf("  time, to the best of the others: %.2f (goal: at most 1)\n", ours.median()/best)
	fmt.Printf("  processor, to the best of the others: %.2f (goal: at most 1.20)\n", median(ours.cpu)/least)
	return nil
}

func kib(n int64) string { return fmt.Sprintf("%d KiB", n>>10) }

// A far server has small files, all with the same bytes. It answers as one at the other end of a long link would: the
// first answer on a connection comes two round trips after the connection began, each other one a round trip after
// its request, and all answers share the rate of the link. A process of its own would cost the same, and so would a
// relay, which is left out for that.
type far struct {
	server http.Server
	addr   string
	body   []byte
	digest string // value of the Digest field; empty for none

	mu   sync.Mutex
	free time.Time // when the link is idle again
}

type freshKey struct{}

func startFar(digests bool) (*far, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &far{addr: l.Addr().String(), body: make([]byte, smallSize)}
	rand.NewChaCha8([32]byte{}).Read(f.body)
	if digests {
		sum := sha256.Sum256(f.body)
		f.digest = "SHA-256=" + base64.StdEncoding.EncodeToString(sum[:])
	}
	f.server.Handler = http.HandlerFunc(f.serve)
	f.server.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		fresh := true
		return context.WithValue(ctx, freshKey{}, &fresh)
	}
	go f.server.Serve(l)
	return f, nil
}

func (f *far) urls() []string {
	urls := make([]string, smallFiles)
	for i := range urls {
		urls[i] = fmt.Sprintf("http://%s/pub/%04d.bin", f.addr, i)
	}
	return urls
}

func (f *far) serve(w http.ResponseWriter, r *http.Request) {
	trips := smallTrip
	if fresh, ok := r.Context().Value(freshKey{}).(*bool); ok && *fresh { // requests of a connection come one by one
		*fresh = false
		trips += smallTrip
	}
	there := strings.HasSuffix(r.URL.Path, ".bin")
	n := smallHeader
	if there && r.Method == http.MethodGet {
		n += smallSize
	}
	time.Sleep(trips)
	time.Sleep(f.take(n))
	if !there {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("ETag", `"small-`+filepath.Base(r.URL.Path)+`"`)
	h.Set("Last-Modified", smallModified)
	h.Set("Content-Type", "application/octet-stream")
	if f.digest != "" {
		h.Set("Digest", f.digest)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

// take returns the time until the link has sent n bytes.
func (f *far) take(n int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if f.free.Before(now.Add(-50 * time.Millisecond)) { // as in a relay
		f.free = now
	}
	f.free = f.free.Add(time.Duration(float64(n) / smallLink * float64(time.Second)))
	return f.free.Sub(now)
}

func (f *far) stop() { f.server.Close() }
