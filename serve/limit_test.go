package serve

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dial opens a connection to a site and writes text.
func (w *site) dial(text string) net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(w.url, "/"), "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, text); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// A body that is announced but not sent is not waited for: the request is answered and the connection closed. The same
// holds for a request with two lengths (RFC 9112, section 6.1), which could be used for request smuggling.
func TestBodies_V9(t *testing.T) {
	w := start(t, map[string]string{"a": content}, Options{})
	for head, status := range map[string]int{
		"GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n":                                                           200,
		"GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n12345":                                                      200,
		"HEAD /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000\r\n\r\n":                                                  200,
		"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n":                                                          405,
		"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n":                                  405,
		"GET /none HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n":                                                404,
		"GET /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe":                                            200,
		"GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x":               200,
		"GET /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n":                     200,
		"GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\nRange: bytes=0-1\r\n\r\n0\r\n\r\n": 206,
	} {
		method, _, _ := strings.Cut(head, " ")
		conn := w.dial(head)
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Errorf("%q: %v", head, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status || !resp.Close || method == "GET" && len(body) == 0 {
			t.Errorf("%q: %d %v, close %v, %q, %v", head, resp.StatusCode, resp.Header, resp.Close, body, err)
		}
		if _, err := in.ReadByte(); err == nil || os.IsTimeout(err) {
			t.Errorf("%q: after the answer: %v", head, err)
		}
	}
	conn := w.dial("GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n")
	in := bufio.NewReader(conn)
	for range 2 { // without a body
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.Close {
			t.Fatalf("%v, %v", resp, err)
		}
		io.Copy(io.Discard, resp.Body)
	}
}

// A client that reads no answers does not keep the connection, even if the answers have no body.
func TestStalledHeads_V9(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	w := open(t, dir, Options{Log: slog.New(slog.DiscardHandler)}, func(s *Server) { s.stall = 200 * time.Millisecond })
	conn := w.dial("")
	request := strings.Repeat("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n", 1000)
	for {
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // many answers fit into the system's buffers
		if _, err := io.WriteString(conn, request); err != nil {
			if os.IsTimeout(err) {
				t.Error("the server waits for a client that takes nothing")
			}
			return
		}
	}
}

// A client must read at a minimum speed, apart from one minute.
func TestDue_V9(t *testing.T) {
	now := time.Now()
	res := &response{began: now.Add(-time.Hour), stall: time.Minute}
	if due := res.due(1 << 10); due.After(now) {
		t.Errorf("after an hour without a byte there are %v left", due.Sub(now))
	}
	res.sent = 3600 * slowest
	if left := res.due(0).Sub(now); left < 59*time.Second || left > 61*time.Second {
		t.Errorf("at the slowest speed there are %v left, want a minute", left)
	}
	res.sent = 1 << 40
	if left := time.Until(res.due(0)); left > time.Minute {
		t.Errorf("who was fast may stall for %v", left)
	}
}

// limitedSite serves a file with a limit of connections.
func limitedSite(t *testing.T, most int) *site {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "a", content)
	w := open(t, dir, Options{}, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := HTTPServer(w.s)
	k := LimitListener(l, web, most, false)
	k.(*limited).extra.patience = time.Minute // a client may be slow on a busy machine
	go web.Serve(k)
	t.Cleanup(func() { web.Close() })
	w.url = "http://" + l.Addr().String()
	return w
}

// soon retries until a connection is free.
func (w *site) soon() {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); w.get("/a").status != 200; {
		if time.Now().After(deadline) {
			w.t.Fatal("there is no room")
		}
	}
}

// The number of connections is limited, and idle ones make room for requests.
func TestLimitListener_V9(t *testing.T) {
	const most = 3
	w := limitedSite(t, most)
	var busy []net.Conn
	for range most {
		busy = append(busy, w.dial("GET /a HTTP/1.1\r\nHost: h\r\n")) // an incomplete header section
	}
	// The three connections are counted before this one, in the order in which they were made.
	w.get("/a").want(t, 503, "too many connections\n")
	fmt.Fprint(busy[0], "\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(busy[0]), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v, %v", resp, err)
	}
	io.Copy(io.Discard, resp.Body)
	w.soon() // after the server has noticed that it is idle
	if _, err := busy[0].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the one that waited: %v", err)
	}
	for _, conn := range busy[1:] { // a connection that ends makes room, too
		conn.Close()
		w.soon()
	}
}

// One address has a quarter, unless it is this machine. An address that has its share makes room only for itself.
func TestLimitOfAnAddress_V9(t *testing.T) {
	k := &limited{most: 8, open: map[*counted]bool{}, by: map[netip.Addr]int{}}
	one, other, here := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("127.0.0.1")
	add := func(by netip.Addr, idle bool, since int) *counted {
		c := &counted{from: k, by: by, idle: idle, since: time.Unix(int64(since), 0)}
		k.open[c] = true
		k.by[by]++
		return c
	}
	add(other, true, 1)
	first := add(one, true, 3)
	add(one, true, 4)
	if !k.full(one) || k.full(other) || k.full(here) || k.longestIdle(one) != first {
		t.Error("an address has more than its share, or another one pays for it")
	}
	k.gone(first)
	k.gone(first)
	if k.full(one) || len(k.open) != 2 || k.by[one] != 1 {
		t.Errorf("%d open, %d of one", len(k.open), k.by[one])
	}
	for range 6 {
		add(here, false, 0)
	}
	if !k.full(here) || k.longestIdle(here) == nil || k.longestIdle(here).by != other {
		t.Error("all are taken, and the one that waits longest is not the one to go")
	}
}

// The least recently used entries are dropped first.
func TestRecent_V9(t *testing.T) {
	m := newRecent[string](10, func(n int) int { return n })
	for key, n := range map[string]int{"a": 3} {
		m.put(key, n)
	}
	m.put("b", 3)
	m.put("c", 3)
	m.get("a")
	m.put("d", 3)
	var keys string
	m.all(func(key string, _ int) { keys += key })
	if _, ok := m.get("b"); ok || keys != "dac" || m.weight != 9 || len(m.at) != 3 {
		t.Errorf("%s, weight %d", keys, m.weight)
	}
	m.put("a", 11) // exceeds the limit alone, and is stored
	if n, ok := m.get("a"); !ok || n != 11 || len(m.at) != 1 || m.order.Len() != 1 || m.weight != 11 {
		t.Errorf("%d, %v, weight %d", n, ok, m.weight)
	}
	m.forget("a")
	m.forget("a")
	if m.weight != 0 || m.order.Len() != 0 {
		t.Errorf("weight %d of nothing", m.weight)
	}
}

// The pieces of a file are dropped with the file.
func TestForgotten_V9(t *testing.T) {
	w := start(t, map[string]string{"a": content}, Options{Meta4: true})
	w.get("/a").want(t, 200, content)
	before := w.s.digests.known.weight
	if (known{}).weight() >= before {
		t.Fatal("no pieces are known")
	}
	if err := os.Remove(filepath.Join(w.dir, "a")); err != nil {
		t.Fatal(err)
	}
	w.get("/a").want(t, 404, "Not Found\n")
	if n := w.s.digests.known.weight; n != (known{}).weight() {
		t.Errorf("the weight is %d, and was %d", n, before)
	}
}

// The files of unfinished downloads are neither listed nor served, and no documents are made for them.
func TestUnfinished_V11(t *testing.T) {
	names := []string{"x.iso.part", "x.iso.part.journal", "x.iso.part.bad", "y.PART", "z.Part.Journal", "d/w.part"}
	files := map[string]string{"x.iso": content, "d/e": "", "part": content, "a.part1.rar": content, "f.part/a": content}
	for _, name := range names {
		files[name] = "secret"
	}
	w := start(t, files, Options{Meta4: true})
	for _, name := range names {
		for _, ending := range []string{"", ".meta4", ".asc"} {
			w.get("/"+name+ending).want(t, 404, "Not Found\n")
		}
	}
	for _, path := range []string{"/x.iso", "/part", "/a.part1.rar", "/f.part/a"} {
		w.get(path).want(t, 200, content)
	}
	list := w.get("/").body + w.get("/d/").body
	for _, word := range []string{"iso.part", "PART", "Part", "w.part"} {
		if strings.Contains(list, word) {
			t.Errorf("%s is listed: %s", word, list)
		}
	}
}
