package worlds

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"braid/internal/test/oracle"
	"braid/internal/web"
)

const (
	domain      = ".example.net"
	latency     = 5 * time.Millisecond
	headerLimit = 30 * time.Second
	mostAsked   = 1200 // requests of a command
	mostGivenUp = 50_000
	chunk       = 8 << 10
)

// A network is all servers during one command. It makes the requests in place of connections.
type network struct {
	w     *World
	k     int
	began time.Time
	tick  func(event string, n int) // is told of each event
	stop  func(why string)          // ends the command

	mu      sync.Mutex
	answers []*oracle.Answer
	lookups []*oracle.Answer // to requests of lookups
	asked   map[string]int
	given   atomic.Int64 // requests of a context that had ended
	gone    bool         // the program was killed: nobody hears what is asked
}

func (n *network) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = true
}

// log returns the answers that were received, and those to lookups.
func (n *network) log() (all, lookups []oracle.Answer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.answers {
		all = append(all, *a)
	}
	for _, a := range n.lookups {
		lookups = append(lookups, *a)
	}
	return all, lookups
}

// RoundTrip is that of http.RoundTripper.
func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil { // as net/http does, before anything is sent
		if n.given.Add(1) == mostGivenUp {
			n.stop("requests that were given up are made again and again")
		}
		return nil, err
	}
	n.tick("asked", 1)
	name := strings.TrimSuffix(req.URL.Hostname(), domain)
	p := n.w.party(name)
	if p == nil || p.HTTPS != (req.URL.Scheme == "https") {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	n.mu.Lock()
	f, _ := p.face(n.k, n.asked[name])
	n.asked[name]++
	file, known := kindOf(req.URL.Path)
	looked := n.looks(file)
	a := &oracle.Answer{Party: name, Method: req.Method, At: time.Since(n.began), Secret: req.Header.Get("Authorization") != ""}
	if gone := n.gone; gone {
		n.mu.Unlock()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}
	}
	if spec, ok := strings.CutPrefix(req.Header.Get("Range"), "bytes="); ok {
		first, _, _ := strings.Cut(spec, "-")
		a.From, _ = strconv.ParseInt(first, 10, 64)
	}
	if looked {
		a.File, n.lookups = file, append(n.lookups, a)
	} else {
		n.answers = append(n.answers, a)
	}
	if len(n.answers)+len(n.lookups) > mostAsked {
		n.mu.Unlock()
		n.stop("endless requests")
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	number := n.asked[name]
	n.mu.Unlock()
	if err := n.connect(req.Context(), &f); err != nil {
		return nil, err
	}
	made := &answer{network: n, req: req, f: &f, log: a, number: number, name: name}
	switch {
	case file == fileName:
		return made.make(), nil
	case looked:
		return made.found(file), nil
	case !known:
		made.header = http.Header{}
		return made.response(http.StatusNotFound, 0, 0), nil
	}
	return made.beside(file), nil
}

// connect takes its time, and fails if the face is dead.
func (n *network) connect(ctx context.Context, f *Face) error {
	if err := sleep(ctx, latency); err != nil {
		return err
	}
	switch f.Dead {
	case "refused":
		return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case "reset":
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case "tls":
		return &web.HandshakeError{Err: fmt.Errorf("tls: bad certificate")}
	case "silent":
		if err := sleep(ctx, headerLimit); err != nil {
			return err
		}
		return &net.OpError{Op: "read", Net: "tcp", Err: timeout{}}
	}
	return nil
}

type timeout struct{}

func (timeout) Error() string   { return "timeout awaiting response headers" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An answer is one that is being made.
type answer struct {
	*network
	req    *http.Request
	f      *Face
	log    *oracle.Answer
	number int
	name   string
	header http.Header
	data   []byte
	size   int64 // that it gives
	small  bool  // it is a file beside the file
}

func (a *answer) now() string { return time.Now().UTC().Format(http.TimeFormat) }

func (a *answer) make() *http.Response {
	f := a.f
	a.header = http.Header{"Date": {a.now()}}
	head := a.req.Method == "HEAD"
	status := http.StatusOK
	switch {
	case f.Status != 0:
		status = f.Status
	case head && f.Head == "405":
		status = http.StatusMethodNotAllowed
	case f.To != "":
		status = http.StatusFound
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		a.header.Set("Retry-After", "2")
	}
	if status == http.StatusFound {
		a.redirect()
	}
	if status != http.StatusOK {
		return a.response(status, 0, 0)
	}
	a.data = a.w.content(f.has()).data
	a.size = int64(len(a.data))
	switch f.Length {
	case "huge":
		a.size = 1 << 62
	case "more":
		a.size += 3000
	}
	if head && f.Head == "size" {
		a.size += 17
	}
	a.represent("get")
	return a.ranged()
}

// represent says what the file is like.
func (a *answer) represent(where string) {
	f := a.f
	if a.req.Method == "HEAD" && where != "302" {
		where = "head"
	}
	if tag := a.tag(); tag != "" {
		a.header.Set("ETag", tag)
	}
	date := time.Date(2026, 1, 1+int(f.has()[0]-'0'), 0, 0, 0, 0, time.UTC)
	if f.Date == "other" {
		date = date.Add(-90 * time.Hour)
	}
	if a.req.Method == "HEAD" && f.Head == "date" {
		date = date.Add(time.Hour)
	}
	if where != "302" && f.Length != "none" {
		a.log.Size = a.size
	}
	if f.Date != "none" {
		a.log.Date = date.String()
		a.header.Set("Last-Modified", date.Format(http.TimeFormat))
	}
	if f.Digest != "" && (f.On == "" || f.On == where) {
		a.digest()
	}
	if f.Links != "" && (f.LinkOn == "" || f.LinkOn == where) {
		a.log.Links = true
		for i, m := range list(f.Links) {
			a.header.Add("Link", fmt.Sprintf("<%s>; rel=duplicate; pri=%d", a.w.url(m), i+1))
		}
	}
}

func (a *answer) digest() {
	f := a.f
	a.log.Digest = a.w.digest(f.Digest, f.Has)
	raw, _ := hex.DecodeString(a.log.Digest)
	coded := base64.StdEncoding.EncodeToString(raw)
	if f.Digest == "bad" {
		a.log.Garbled = true
		coded = "AAAA"
	}
	switch f.Field {
	case "repr":
		a.header.Set("Repr-Digest", "sha-256=:"+coded+":")
	case "both":
		a.log.Digest, a.log.Garbled = "", true
		a.header.Set("Digest", "SHA-256="+coded)
		a.header.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(make([]byte, 32))+":")
	default:
		a.header.Set("Digest", "SHA-256="+coded)
	}
}

func (a *answer) tag() string {
	f := a.f
	t := ""
	switch f.Tag {
	case "own":
		t = `"` + a.w.content(f.has()).sum[:8] + `"`
	case "one":
		t = `"one"`
	case "host":
		t = `"` + a.name + f.has() + `"`
	case "weak":
		t = `W/"w` + f.has() + `"`
	case "new":
		t = `"n` + strconv.Itoa(a.number) + `"`
	}
	if t != "" && a.req.Method == "HEAD" && f.Head == "tag" {
		t = `"of-head"`
	}
	if !strings.HasPrefix(t, "W/") {
		a.log.Tag = t
	}
	return t
}

func (a *answer) redirect() {
	a.log.To = a.f.To
	a.header.Set("Location", a.w.url(a.f.To))
	if a.f.On == "302" || a.f.LinkOn == "302" || a.f.On == "" {
		a.represent("302")
	}
}

// url is where a party has the file.
func (w *World) url(name string) string {
	scheme := "http"
	if p := w.party(name); p != nil && p.HTTPS {
		scheme = "https"
	}
	return scheme + "://" + name + domain + "/f.bin"
}

// ranged answers conditions and ranges (RFC 9110, sections 13 and 14).
func (a *answer) ranged() *http.Response {
	f, h := a.f, a.req.Header
	tag := a.header.Get("ETag")
	strong := tag != "" && !strings.HasPrefix(tag, "W/")
	if want := h.Get("If-Match"); want != "" && want != "*" && !(strong && strings.Contains(want, tag)) {
		return a.response(http.StatusPreconditionFailed, 0, 0)
	}
	if none := h.Get("If-None-Match"); none != "" {
		if tag != "" && strings.Contains(none, strings.TrimPrefix(tag, "W/")) {
			return a.response(http.StatusNotModified, 0, 0)
		}
	} else if since, err := http.ParseTime(h.Get("If-Modified-Since")); err == nil {
		if date, err := http.ParseTime(a.header.Get("Last-Modified")); err == nil && !date.After(since) {
			return a.response(http.StatusNotModified, 0, 0)
		}
	}
	if !f.NoRanges {
		a.header.Set("Accept-Ranges", "bytes")
	}
	spec, ok := strings.CutPrefix(h.Get("Range"), "bytes=")
	if old := h.Get("If-Range"); old != "" && old != tag && old != a.header.Get("Last-Modified") {
		ok = false
	}
	if !ok || f.NoRanges || a.req.Method == "HEAD" {
		return a.response(http.StatusOK, 0, a.size)
	}
	first, last, _ := strings.Cut(spec, "-")
	start, _ := strconv.ParseInt(first, 10, 64)
	end := a.size
	if n, err := strconv.ParseInt(last, 10, 64); err == nil {
		end = min(end, n+1)
	}
	if start >= end {
		a.header.Set("Content-Range", fmt.Sprintf("bytes */%d", a.size))
		return a.response(http.StatusRequestedRangeNotSatisfiable, 0, 0)
	}
	a.log.Size = a.size // also without a Content-Length
	a.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, end-1, a.size))
	return a.response(http.StatusPartialContent, start, end)
}

// response has the bytes from start to end of the file.
func (a *answer) response(status int, start, end int64) *http.Response {
	a.log.Status = status
	if !a.small && (status == http.StatusOK || status == http.StatusPartialContent) {
		a.log.Content = a.f.has()
	}
	resp := &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Request: a.req, Body: http.NoBody, ContentLength: end - start,
	}
	if status == http.StatusNotModified {
		return resp
	}
	if a.f.Length == "none" && status < 300 && !a.small {
		resp.ContentLength, resp.TransferEncoding = -1, []string{"chunked"}
	} else {
		a.header.Set("Content-Length", strconv.FormatInt(end-start, 10))
	}
	if a.small && a.req.Method != "HEAD" {
		resp.Body = io.NopCloser(bytes.NewReader(a.data))
	} else if end > start && a.req.Method != "HEAD" {
		resp.Body = a.body(start, end)
	}
	return resp
}
