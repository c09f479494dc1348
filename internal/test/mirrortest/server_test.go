package mirrortest_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"braid/byterange"
	"braid/internal/test/leaktest"
	"braid/internal/test/mirrortest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var content = mirrortest.Generate(300_000, 7)

// get makes a request on a connection of its own and reads the whole answer.
func get(t *testing.T, url string, fields ...string) (*http.Response, []byte, error) {
	t.Helper()
	return do(t, &http.Transport{DisableKeepAlives: true, DisableCompression: true}, http.MethodGet, url, fields...)
}

func do(t *testing.T, transport *http.Transport, method, url string, fields ...string) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

func TestContent(t *testing.T) {
	whole := content.Bytes()
	if int64(len(whole)) != content.Size() {
		t.Fatalf("%d bytes, want %d", len(whole), content.Size())
	}
	for _, at := range []struct{ off, n int }{{0, 8}, {1, 3}, {5, 20}, {8, 8}, {299_990, 10}, {12_345, 100_000}} {
		p := make([]byte, at.n)
		if n, err := content.ReadAt(p, int64(at.off)); n != at.n || err != nil || !bytes.Equal(p, whole[at.off:at.off+at.n]) {
			t.Errorf("ReadAt(%d, %d) differs: %d, %v", at.n, at.off, n, err)
		}
	}
	if n, err := content.ReadAt(make([]byte, 20), content.Size()-5); n != 5 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := content.ReadAt(make([]byte, 1), content.Size()+5); n != 0 || err != io.EOF {
		t.Errorf("beyond the end: %d, %v", n, err)
	}
	if sum := sha256.Sum256(whole); content.Digest().Hex() != fmt.Sprintf("%x", sum) {
		t.Errorf("digest is %v", content.Digest())
	}
	if bytes.Equal(whole, mirrortest.Generate(300_000, 8).Bytes()) {
		t.Error("another seed gives the same bytes")
	}
	huge := mirrortest.Generate(8<<30, 1)
	if n, err := huge.ReadAt(make([]byte, 100), 8<<30-100); n != 100 || err != nil {
		t.Errorf("8 GiB: %d, %v", n, err)
	}
}

func TestGoodMirror(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.Name("a/b.iso"), mirrortest.ETag(`"x"`), mirrortest.Digest())
	if !strings.HasSuffix(s.URL, s.Addr+"/a/b.iso") {
		t.Errorf("URL is %s", s.URL)
	}
	resp, body, err := get(t, s.URL)
	if err != nil || resp.StatusCode != 200 || !bytes.Equal(body, content.Bytes()) || resp.ContentLength != content.Size() {
		t.Fatalf("%v, %d bytes, %v", resp, len(body), err)
	}
	if resp.Header.Get("Etag") != `"x"` || !strings.HasPrefix(resp.Header.Get("Digest"), "SHA-256=") {
		t.Errorf("header is %v", resp.Header)
	}
	resp, body, err = get(t, s.URL, "Range", "bytes=10-19")
	if err != nil || resp.StatusCode != 206 || !bytes.Equal(body, content.Bytes()[10:20]) ||
		resp.Header.Get("Content-Range") != "bytes 10-19/300000" {
		t.Errorf("%v, %q, %v", resp, body, err)
	}
	for _, tt := range []struct {
		name, value string
		status      int
	}{
		{"Range", "bytes=300000-", 416}, {"Range", "nonsense", 200}, {"Range", "bytes=1-2,5-6", 200},
		{"If-Match", `"y"`, 412}, {"If-Match", `"x"`, 200}, {"If-None-Match", `"x"`, 304}, {"If-None-Match", `"y"`, 200},
	} {
		if resp, _, err = get(t, s.URL, tt.name, tt.value); err != nil || resp.StatusCode != tt.status {
			t.Errorf("%s: %s gives %v, %v, want %d", tt.name, tt.value, resp, err, tt.status)
		}
	}
	if resp, _, err = get(t, s.URL+"x"); err != nil || resp.StatusCode != 404 {
		t.Errorf("another path: %v, %v", resp, err)
	}
	if resp, _, err = get(t, s.URL, "Range", "bytes=1-2", "If-Range", `"old"`); err != nil || resp.StatusCode != 200 {
		t.Errorf("If-Range: %v, %v", resp, err)
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	s := mirrortest.New(t, content)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	do(t, transport, http.MethodGet, s.URL, "Range", "bytes=5-14", "X", "y")
	do(t, transport, http.MethodHead, s.URL+"?q=1")
	do(t, transport, http.MethodGet, s.URL)
	requests := s.Requests()
	if len(requests) != 3 || s.Connections() != 1 || s.MaxConcurrent() != 1 {
		t.Fatalf("%d requests on %d connections, %d at a time", len(requests), s.Connections(), s.MaxConcurrent())
	}
	r := requests[0]
	if r.Range != (byterange.Range{Start: 5, End: 15}) || !r.Ranged || r.Header.Get("X") != "y" || r.Sent != 10 ||
		r.Status != 206 || !r.Done || r.End.Before(r.Start) {
		t.Errorf("first is %+v", r)
	}
	if r = requests[1]; r.Method != "HEAD" || r.Path != "/file.bin?q=1" || r.Sent != 0 || r.Ranged {
		t.Errorf("second is %+v", r)
	}
	if requests[2].Sent != content.Size() || s.Sent() != content.Size()+10 || requests[2].Conn != 1 {
		t.Errorf("third is %+v, %d bytes in all", requests[2], s.Sent())
	}
}

// One client that opens a second request before the first has ended is seen; one that closes first is not.
func TestMaxConcurrent_C7(t *testing.T) {
	for _, closeFirst := range []bool{true, false} {
		s := mirrortest.New(t, content, mirrortest.StallAfter(100))
		for range 5 {
			conn, err := net.Dial("tcp", s.Addr)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "GET /file.bin HTTP/1.1\r\nHost: x\r\n\r\n")
			if _, err := io.ReadFull(conn, make([]byte, 200)); err != nil {
				t.Fatal(err)
			}
			if closeFirst {
				conn.Close()
			} else {
				defer conn.Close()
			}
		}
		if got := s.MaxConcurrent(); closeFirst && got != 1 || !closeFirst && got != 5 {
			t.Errorf("closed first: %v; %d at a time", closeFirst, got)
		}
	}
}

func TestMisbehaviour(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options []mirrortest.Option
		status  int // 0: no answer at all
		body    int64
		broken  bool
	}{
		{"ignore range", []mirrortest.Option{mirrortest.IgnoreRange()}, 200, 300_000, false},
		{"cut", []mirrortest.Option{mirrortest.CutAfter(1000)}, 206, 1000, true},
		{"cut at once", []mirrortest.Option{mirrortest.CutAfter(0)}, 206, 0, true},
		{"cut chunks", []mirrortest.Option{mirrortest.Chunked(), mirrortest.CutAfter(1000)}, 206, 1000, true},
		{"chunked", []mirrortest.Option{mirrortest.Chunked()}, 206, 200_000, false},
		{"no last chunk", []mirrortest.Option{mirrortest.NoLastChunk()}, 206, 200_000, true},
		{"until close", []mirrortest.Option{mirrortest.UntilClose()}, 206, 200_000, false},
		{"status", []mirrortest.Option{mirrortest.Status(503), mirrortest.RetryAfter("1")}, 503, 24, false},
		{"redirect", []mirrortest.Option{mirrortest.Redirect("http://x.example/")}, 302, 10, false},
		{"two lengths", []mirrortest.Option{mirrortest.ContentLength("1", "2")}, 0, 0, true},
		{"raw", []mirrortest.Option{mirrortest.RawString("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")}, 200, 2, false},
		{"longer", []mirrortest.Option{mirrortest.BodyLonger(5), mirrortest.ContentLength()}, 206, 200_005, false},
		{"closing", []mirrortest.Option{mirrortest.Close()}, 206, 200_000, false},
		{"many fields", []mirrortest.Option{mirrortest.ManyFields(100)}, 206, 200_000, false},
		{"informational", []mirrortest.Option{mirrortest.Informational(3)}, 206, 200_000, false},
		{"document", []mirrortest.Option{mirrortest.Document("/file.bin", "text/plain", []byte("abc"))}, 200, 3, false},
		{"handler", []mirrortest.Option{mirrortest.Handler(http.NotFoundHandler())}, 404, 19, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mirrortest.New(t, content, tt.options...)
			resp, body, err := get(t, s.URL, "Range", "bytes=100000-")
			if (err != nil) != tt.broken {
				t.Errorf("error is %v", err)
			}
			if resp == nil != (tt.status == 0) || resp != nil && (resp.StatusCode != tt.status || int64(len(body)) != tt.body) {
				t.Errorf("%v with %d bytes, want %d with %d", resp, len(body), tt.status, tt.body)
			}
		})
	}
}

func TestCorrupt(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.Corrupt(5, 70_000))
	_, body, err := get(t, s.URL, "Range", "bytes=3-")
	if err != nil {
		t.Fatal(err)
	}
	var wrong []int
	for i, b := range content.Bytes()[3:] {
		if b != body[i] {
			wrong = append(wrong, i+3)
		}
	}
	if len(wrong) != 2 || wrong[0] != 5 || wrong[1] != 70_000 {
		t.Errorf("wrong bytes at %v", wrong)
	}
}

func TestWhenOnceAndHead(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.Once(mirrortest.Status(503)), mirrortest.OnHead(mirrortest.Digest()))
	for i, want := range []int{503, 200, 200} {
		if resp, _, err := get(t, s.URL); err != nil || resp.StatusCode != want {
			t.Errorf("request %d: %v, %v", i, resp, err)
		}
	}
	resp, _, err := do(t, &http.Transport{DisableKeepAlives: true}, http.MethodHead, s.URL)
	if err != nil || resp.Header.Get("Digest") == "" {
		t.Errorf("HEAD: %v, %v", resp, err)
	}
	if resp, _, err = get(t, s.URL); err != nil || resp.Header.Get("Digest") != "" {
		t.Errorf("GET: %v, %v", resp, err)
	}
}

// A rate is even: no second half is faster than the first, and the whole takes what it should.
func TestRateIsSmooth(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.Rate(1_000_000))
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begun := time.Now()
	fmt.Fprintf(conn, "GET /file.bin HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	var most int64
	buf := make([]byte, 1<<20)
	for n, total := 0, int64(0); total < content.Size(); {
		if n, err = resp.Body.Read(buf); n == 0 {
			t.Fatal(err)
		}
		total += int64(n)
		// Never ahead of the schedule by more than a few beats.
		most = max(most, total-int64(time.Since(begun).Seconds()*1_000_000))
	}
	if took := time.Since(begun); took < 280*time.Millisecond {
		t.Errorf("took %v, want 300 ms", took)
	}
	if most > 20_000 {
		t.Errorf("%d bytes ahead of the rate", most)
	}
}

// One Rate is one link, whoever sends through it.
func TestRateIsShared(t *testing.T) {
	link := mirrortest.Rate(2_000_000)
	a, b := mirrortest.New(t, content, link), mirrortest.New(t, content, link)
	begun := time.Now()
	done := make(chan error)
	for _, s := range []*mirrortest.Server{a, b} {
		go func() {
			_, _, err := get(t, s.URL)
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took < 280*time.Millisecond {
		t.Errorf("took %v, want 300 ms", took)
	}
}

// What Set changes holds for answers under way.
func TestSetWhileRunning(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.StallAfter(1000))
	resp, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if s.Sent() != 1000 {
		t.Errorf("%d bytes were sent in a stall after 1000", s.Sent())
	}
	s.Set(mirrortest.StallAfter(-1), mirrortest.Rate(0))
	s.Set(mirrortest.Unlimited())
	if rest, err := io.ReadAll(resp.Body); err != nil || int64(len(rest)) != content.Size()-1000 {
		t.Errorf("%d more bytes, %v", len(rest), err)
	}
}

func TestDieAndRevive(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.DieAfter(100_000))
	if _, body, err := get(t, s.URL); err == nil || len(body) > 200_000 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if _, _, err := get(t, s.URL); err == nil {
		t.Error("a dead server answers")
	}
	s.Reset()
	s.Revive()
	if _, body, err := get(t, s.URL); err != nil || int64(len(body)) != content.Size() {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

func TestTLS(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.TLS(nil))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: mirrortest.Pool(s)}, DisableKeepAlives: true}
	if _, body, err := do(t, transport, http.MethodGet, s.URL); err != nil || !bytes.Equal(body, content.Bytes()) {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if _, _, err := get(t, s.URL); err == nil {
		t.Error("trusted by everybody")
	}
}

// A client that leaves ends the answer, whatever the server was waiting for.
func TestClientLeaves(t *testing.T) {
	s := mirrortest.New(t, content, mirrortest.Latency(time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(req); err == nil {
		t.Error("an answer came")
	}
}

// TestBudget: servers send what they may together, and the rest when the budget is lifted.
func TestBudget(t *testing.T) {
	b := mirrortest.NewBudget(100_000)
	one, two := mirrortest.New(t, content.Bytes()[:40_000], mirrortest.Within(b)), mirrortest.New(t, content,
		mirrortest.Within(b))
	if _, body, err := get(t, one.URL); err != nil || len(body) != 40_000 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, two.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begin := make([]byte, 60_000)
	if _, err := io.ReadFull(resp.Body, begin); err != nil || two.Sent() != 60_000 {
		t.Errorf("%d bytes were sent, %v", two.Sent(), err)
	}
	b.Lift()
	if rest, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(append(begin, rest...), content.Bytes()) {
		t.Errorf("%d bytes more, %v", len(rest), err)
	}
}
