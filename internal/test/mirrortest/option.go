package mirrortest

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/verify"
)

// An Option makes a server misbehave, or behave in some special way. Of options that contradict each other
// the last one holds.
type Option func(*behaviour)

// A behaviour is what a server does about one request.
type behaviour struct {
	req     *http.Request // nil when New asks for name and TLS
	s       *Server
	changed <-chan struct{}

	name, host  string
	tls         bool
	certificate func(*x509.Certificate)

	// Instead of the file.
	raw       func(net.Conn)
	handler   http.Handler
	documents map[string]document
	redirect  string
	status    int

	// The header section.
	latency       time.Duration
	informational int
	etag          string
	modified      time.Time
	header        http.Header
	padding       int
	fields        int
	contentDigest bool
	lengths       []string // of Content-Length, when setLengths
	setLengths    bool
	contentRange  func(byterange.ContentRange) string

	// The body.
	ignoreRange bool
	corrupt     []int64
	longer      int64
	framing     framing
	noLastChunk bool
	pace        *pace
	cut, reset  int64 // -1: not
	stall, die  int64
	budget      *Budget
	noNotify    bool
	closing     bool
}

type framing int

const (
	byLength framing = iota
	byChunks
	byClose
)

// A document is another file on the server.
type document struct {
	kind string
	data []byte
}

func defaults(req *http.Request, s *Server) behaviour {
	return behaviour{
		req: req, s: s, name: "file.bin", header: http.Header{}, documents: map[string]document{},
		cut: -1, reset: -1, stall: -1, die: -1,
	}
}

// When applies options to the requests that match. Name and TLS are no matter of requests.
func When(match func(*http.Request) bool, options ...Option) Option {
	return func(b *behaviour) {
		if b.req == nil || !match(b.req) {
			return
		}
		for _, option := range options {
			option(b)
		}
	}
}

// Choose asks for each request which options apply. It is called under the server's lock, one request at a time, and must not
// ask the server.
func Choose(choose func(*http.Request) []Option) Option {
	return func(b *behaviour) {
		if b.req == nil {
			return
		}
		for _, option := range choose(b.req) {
			option(b)
		}
	}
}

// OnHead applies options to HEAD requests only.
func OnHead(options ...Option) Option {
	return When(func(r *http.Request) bool { return r.Method == http.MethodHead }, options...)
}

// Times applies options to the next n requests only. The value counts: use it for one server.
func Times(n int, options ...Option) Option {
	seen := map[*http.Request]bool{} // guarded by the server's lock: options run under it
	return When(func(r *http.Request) bool {
		if !seen[r] && len(seen) < n {
			seen[r] = true
		}
		return seen[r]
	}, options...)
}

// Once applies options to the next request only.
func Once(options ...Option) Option { return Times(1, options...) }

// At makes it listen at another address of this machine than 127.0.0.1.
func At(host string) Option { return func(b *behaviour) { b.host = host } }

// Name makes s the last segment of the file's URL, and what may be before it. If not given, it is "file.bin".
func Name(s string) Option { return func(b *behaviour) { b.name = s } }

// TLS makes it an https server with a certificate for its address, which is its own authority: see
// Server.CertPEM and Pool. What edit changes, if not nil, makes it a bad one.
func TLS(edit func(*x509.Certificate)) Option {
	return func(b *behaviour) { b.tls, b.certificate = true, edit }
}

// NoCloseNotify ends TLS connections without close_notify, as somebody on the way would.
func NoCloseNotify() Option { return func(b *behaviour) { b.noNotify = true } }

// Raw lets f answer each request, which has been read, with bytes of its own. The connection is then closed.
func Raw(f func(net.Conn)) Option { return func(b *behaviour) { b.raw = f } }

// RawString answers each request with these bytes and closes the connection.
func RawString(answer string) Option {
	return Raw(func(c net.Conn) { c.Write([]byte(answer)) }) // a client that left needs no answer
}

// Handler answers all requests instead of the file. Its answer is sent when it is complete.
func Handler(h http.Handler) Option { return func(b *behaviour) { b.handler = h } }

// Document puts another file on the server, at path: a metalink, a signature.
func Document(path, kind string, data []byte) Option {
	return func(b *behaviour) { b.documents[path] = document{kind, data} }
}

// Redirect answers 302 with this Location.
func Redirect(to string) Option {
	return func(b *behaviour) { b.status, b.redirect = http.StatusFound, to }
}

// Status answers with this status and no file, whatever was asked for. Zero means that no status is forced.
func Status(code int) Option { return func(b *behaviour) { b.status = code } }

// RetryAfter is a Header.
func RetryAfter(value string) Option { return Header("Retry-After", value) }

// Header adds a field to every answer. It takes the place of one that the server would send by itself.
func Header(name, value string) Option {
	return func(b *behaviour) { b.header.Add(name, value) }
}

// Link adds Link fields, as they are.
func Link(values ...string) Option {
	return func(b *behaviour) {
		for _, v := range values {
			b.header.Add("Link", v)
		}
	}
}

// Mirrors adds a Link for each URL, the first one with the best priority (RFC 6249, section 3).
func Mirrors(urls ...string) Option {
	return func(b *behaviour) {
		for i, u := range urls {
			b.header.Add("Link", fmt.Sprintf("<%s>; rel=duplicate; pri=%d", u, i+1))
		}
	}
}

// Digest adds the Digest field (RFC 3230): that of the file if ds is empty, else ds, which may be lies; none for the zero digest.
func Digest(ds ...verify.Digest) Option {
	return func(b *behaviour) {
		switch {
		case len(ds) == 0:
			b.header.Set("Digest", verify.Field(b.s.Digest()))
			return
		case ds[0].IsZero():
			b.header.Del("Digest")
			return
		}
		b.header.Set("Digest", verify.Field(ds...))
	}
}

// ContentDigest adds the Content-Digest field (RFC 9530, section 2) to answers with a file or a part of it: that of
// what should come.
func ContentDigest() Option { return func(b *behaviour) { b.contentDigest = true } }

// ETag sets the validator, with its quotes, and makes the server heed it.
func ETag(value string) Option { return func(b *behaviour) { b.etag = value } }

// Modified sets the date of the file.
func Modified(t time.Time) Option { return func(b *behaviour) { b.modified = t } }

// Latency waits before each answer.
func Latency(d time.Duration) Option { return func(b *behaviour) { b.latency = d } }

// IgnoreRange answers ranges with the whole file.
func IgnoreRange() Option { return func(b *behaviour) { b.ignoreRange = true } }

// ContentRange changes that field of a 206. An empty value leaves it out.
func ContentRange(f func(byterange.ContentRange) string) Option {
	return func(b *behaviour) { b.contentRange = f }
}

// ContentEncoding claims a coding that is not there.
func ContentEncoding(value string) Option { return Header("Content-Encoding", value) }

// ContentLength sends these Content-Length lines, or none, whatever the body is.
func ContentLength(values ...string) Option {
	return func(b *behaviour) { b.lengths, b.setLengths = values, true }
}

// Chunked sends the body in chunks, without Content-Length.
func Chunked() Option { return func(b *behaviour) { b.framing = byChunks } }

// NoLastChunk sends the body in chunks and closes the connection before the last, empty one.
func NoLastChunk() Option {
	return func(b *behaviour) { b.framing, b.noLastChunk = byChunks, true }
}

// UntilClose sends the body without any length; it ends with the connection.
func UntilClose() Option { return func(b *behaviour) { b.framing = byClose } }

// Close ends the connection after each answer.
func Close() Option { return func(b *behaviour) { b.closing = true } }

// HugeHeader adds fields of n bytes in all.
func HugeHeader(n int) Option { return func(b *behaviour) { b.padding = n } }

// ManyFields adds n short fields.
func ManyFields(n int) Option { return func(b *behaviour) { b.fields = n } }

// Informational sends n answers of status 103 before each answer.
func Informational(n int) Option { return func(b *behaviour) { b.informational = n } }

// Corrupt inverts the bytes of the file at these offsets.
func Corrupt(offsets ...int64) Option { return func(b *behaviour) { b.corrupt = offsets } }

// BodyLonger sends n bytes more than it announced.
func BodyLonger(n int64) Option { return func(b *behaviour) { b.longer = n } }

// CutAfter closes the connection after n bytes of the body. -1 does not.
func CutAfter(n int64) Option { return func(b *behaviour) { b.cut = n } }

// ResetAfter resets the connection after n bytes of the body; the client may not get the last of them.
func ResetAfter(n int64) Option { return func(b *behaviour) { b.reset = n } }

// StallAfter sends nothing after n bytes of the body and keeps the connection. -1 goes on.
func StallAfter(n int64) Option { return func(b *behaviour) { b.stall = n } }

// DieAfter makes the server Die when the bodies of all its answers reached n bytes.
func DieAfter(n int64) Option { return func(b *behaviour) { b.die = n } }

// A Budget is how many bytes of bodies servers may send in all, until it is lifted. Then it is none any more.
type Budget struct {
	left   atomic.Int64
	lifted chan struct{}
	lift   sync.Once
}

// NewBudget makes one of so many bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{lifted: make(chan struct{})}
	b.left.Store(bytes)
	return b
}

// Lift lets servers go on that have spent it.
func (b *Budget) Lift() { b.lift.Do(func() { close(b.lifted) }) }

// room is how many of n bytes may be sent.
func (b *Budget) room(n int64) int64 {
	select {
	case <-b.lifted:
		return n
	default:
		return max(0, min(n, b.left.Load()))
	}
}

// Within keeps the bodies of a server within a budget: what is more waits until it is lifted, with the connection open.
func Within(b *Budget) Option { return func(s *behaviour) { s.budget = b } }

// Rate limits the body bytes a second. Given to several servers, one value is one link that they share.
// Zero sends nothing.
func Rate(bytes int64) Option { return RateFunc(func(time.Duration) int64 { return bytes }) }

// RateFunc is a Rate that changes with the time since the first byte.
func RateFunc(rate func(elapsed time.Duration) int64) Option {
	p := &pace{rate: rate}
	return func(b *behaviour) { b.pace = p }
}

// Unlimited lifts a Rate.
func Unlimited() Option { return func(b *behaviour) { b.pace = nil } }

// pad adds the fields of HugeHeader and ManyFields.
func (b *behaviour) pad(h http.Header) {
	const line = 1000
	for i := 0; i*line < b.padding; i++ {
		h.Add("X-Padding", strings.Repeat("x", line-len("X-Padding: \r\n")))
	}
	for i := range b.fields {
		h.Add("X-Field", strconv.Itoa(i))
	}
}
