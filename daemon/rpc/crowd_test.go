package rpc

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// limited serves a handler with at most most connections.
func limited(t *testing.T, most int) (h *Handler, url string) {
	t.Helper()
	h = New(newEngine(), Options{Root: "/srv/files", Token: secret})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/jsonrpc", h)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- s.Serve(Limit(l, s, most)) }()
	t.Cleanup(func() { s.Close(); <-served })
	return h, "http://" + l.Addr().String() + "/jsonrpc"
}

// TestPlaces_Rule68 checks that the oldest connections without the token are closed for new ones, and those with the
// token are not.
func TestPlaces_Rule68(t *testing.T) {
	_, url := limited(t, 4)
	right := []*client{dial(t, url), dial(t, url)}
	for _, c := range right {
		c.send(object("aria2.getVersion", 1, with()...))
		c.next()
	}
	silent := []*client{dial(t, url), dial(t, url), dial(t, url), dial(t, url)}
	for i, c := range silent[:2] {
		if _, _, err := c.conn.Read(t.Context()); err == nil {
			t.Errorf("silent client %d is open", i)
		}
	}
	right = append(right, silent[2], silent[3])
	for i, c := range right {
		c.send(object("aria2.getVersion", 1, with()...))
		if got, ok := c.next().(map[string]any); !ok || got["result"] == nil {
			t.Errorf("client %d: %v", i, got)
		}
	}
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
		t.Error("there is room for one more than there is")
	}
}

// TestCrowd_Rule68 checks that the memory used by clients without the token is bounded, and that a client with the
// token can send a long request, beside connections that each send 3 MB of wrong calls, silent WebSockets and silent
// connections.
func TestCrowd_Rule68(t *testing.T) {
	const most = 200 << 20                           // mostly garbage
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as in the daemon
	_, url := limited(t, 256)
	old := dial(t, url)
	old.send(object("aria2.getVersion", 1, with()...))
	old.next()
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/jsonrpc")
	calls := make([]any, 19_000)
	for i := range calls {
		calls[i] = inner("aria2.addUri", "token:"+strings.Repeat("0", 64),
			[]string{"http://h/some/file/of/some/length/" + fmt.Sprint(i)})
	}
	body := []byte(object("system.multicall", 1, calls))
	var before runtime.MemStats
	calls = nil
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	defer wg.Wait()
	var open []net.Conn
	connect := func() net.Conn {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		return c
	}
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for range 200 {
		connect()
	}
	for range 128 {
		fmt.Fprintf(connect(), "GET /jsonrpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "+
			"websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	}
	for range 80 {
		c := connect()
		wg.Go(func() {
			fmt.Fprintf(c, "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", len(body))
			c.Write(body) // without a copy, which would count
		})
	}
	peak := uint64(0)
	began := time.Now()
	for i := 0; time.Since(began) < time.Second; i++ {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc)
		c := http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := c.Post(url, "", strings.NewReader(object("aria2.getVersion", 1, with()...)))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("a client with the token, for the %dth time: %v", i, err)
		}
		resp.Body.Close()
		resp, err = c.Post(url, "", strings.NewReader(object("aria2.addUri", 1,
			with([]string{"http://h/" + strings.Repeat("x", 30_000)})...)))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("a long request with the token, for the %dth time: %v", i, err)
		}
		resp.Body.Close()
		old.send(object("aria2.addUri", 1, with([]string{"http://h/" + strings.Repeat("x", 2*short)})...))
		old.next()
	}
	if held := max(peak, before.HeapAlloc) - before.HeapAlloc; held > most {
		t.Errorf("%d MiB are held", held>>20)
	}
}
