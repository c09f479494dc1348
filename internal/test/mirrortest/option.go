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

// Option makes a server misbehave, or behave in a special way. If options contradict each other, the last one applies.
type Option func(*behaviour)

// behaviour is the result of applying the options to one request.
type behaviour struct {
	req     *http.Request // nil while New determines name and TLS
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
	lengths       []string // values of Content-Length, if setLengths is set
	setLengths    bool
	contentRange  func(byterange.ContentRange) string

	// The body.
	ignoreRange bool
	corrupt     []int64
	longer      int64
	framing     framing
	noLastChunk bool
	pace        *pace
	cut, reset  int64 // -1 for never
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

// document is another file on the server.
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

// When applies options to the requests that match. Name and TLS do not depend on requests and cannot be used.
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

// Choose applies the options that choose returns for each request. choose is called with the server's lock held, so it
// must not call methods of the server.
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

// Times applies options to the next n requests only. The returned Option holds the counter, so it must be used for one
// server only.
func Times(n int, options ...Option) Option {
	seen := map[*http.Request]bool{} // guarded by the server's lock, which is held while options are applied
	return When(func(r *http.Request) bool {
		if !seen[r] && len(seen) < n {
			seen[r] = true
		}
		return seen[r]
	}, options...)
}

// Once applies options to the next request only.
func Once(options ...Option) Option { return Times(1, options...) }

// At makes the server listen on another address of this machine than 127.0.0.1.
func At(host string) Option { return func(b *behaviour) { b.host = host } }

// Name sets the path of the file's URL, without the leading slash. The default is "file.bin".
func Name(s string) Option { return func(b *behaviour) { b.name = s } }

// TLS makes the server an https server with a self-signed certificate for its address; see Server.CertPEM and Pool. If
// edit is not nil, it may change the certificate to make it invalid.
func TLS(edit func(*x509.Certificate)) Option {
	return func(b *behaviour) { b.tls, b.certificate = true, edit }
}

// NoCloseNotify ends TLS connections without close_notify, as an attacker on the network would.
func NoCloseNotify() Option { return func(b *behaviour) { b.noNotify = true } }

// Raw calls f to answer each request, after the request was read. The connection is then closed.
func Raw(f func(net.Conn)) Option { return func(b *behaviour) { b.raw = f } }

// RawString answers each request with these bytes and closes the connection.
func RawString(answer string) Option {
	return Raw(func(c net.Conn) { c.Write([]byte(answer)) }) // an error means that the client has left
}

// Handler answers all requests with h instead of the file. The answer is sent when it is complete.
func Handler(h http.Handler) Option { return func(b *behaviour) { b.handler = h } }

// Document adds another file to the server, such as a Metalink document or a signature.
func Document(path, kind string, data []byte) Option {
	return func(b *behaviour) { b.documents[path] = document{kind, data} }
}

// Redirect answers 302 with this Location.
func Redirect(to string) Option {
	return func(b *behaviour) { b.status, b.redirect = http.StatusFound, to }
}

// Status answers all requests with this status and no file. Zero removes the status.
func Status(code int) Option { return func(b *behaviour) { b.status = code } }

// RetryAfter adds a Retry-After field.
func RetryAfter(value string) Option { return Header("Retry-After", value) }

// Header adds a field to every answer. It replaces a field that the server would send by itself.
func Header(name, value string) Option {
	return func(b *behaviour) { b.header.Add(name, value) }
}

// Link adds Link fields with these values.
func Link(values ...string) Option {
	return func(b *behaviour) {
		for _, v := range values {
			b.header.Add("Link", v)
		}
	}
}

// Mirrors adds a Link field for each URL, with descending priority (RFC 6249, section 3).
func Mirrors(urls ...string) Option {
	return func(b *behaviour) {
		for i, u := range urls {
			b.header.Add("Link", fmt.Sprintf("<%s>; rel=duplicate; pri=%d", u, i+1))
		}
	}
}

// Digest adds the Digest field (RFC 3230): the digest of the file if ds is empty, otherwise ds, which may be wrong. The
// zero digest removes the field.
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

// ContentDigest adds the Content-Digest field (RFC 9530, section 2) to answers with the file or a part of it. The
// digest is that of the intended content, even if the options change it.
func ContentDigest() Option { return func(b *behaviour) { b.contentDigest = true } }

// ETag sets the entity tag, with its quotes, and makes the server evaluate it in conditional requests.
func ETag(value string) Option { return func(b *behaviour) { b.etag = value } }

// Modified sets the modification time of the file.
func Modified(t time.Time) Option { return func(b *behaviour) { b.modified = t } }

// Latency waits before each answer.
func Latency(d time.Duration) Option { return func(b *behaviour) { b.latency = d } }

// IgnoreRange answers range requests with the whole file.
func IgnoreRange() Option { return func(b *behaviour) { b.ignoreRange = true } }

// ContentRange changes the Content-Range field of a 206. An empty value removes it.
func ContentRange(f func(byterange.ContentRange) string) Option {
	return func(b *behaviour) { b.contentRange = f }
}

// ContentEncoding adds a Content-Encoding field without encoding the content.
func ContentEncoding(value string) Option { return Header("Content-Encoding", value) }

// ContentLength sends these values of Content-Length, or none, regardless of the body.
func ContentLength(values ...string) Option {
	return func(b *behaviour) { b.lengths, b.setLengths = values, true }
}

// Chunked sends the body in chunks, without Content-Length.
func Chunked() Option { return func(b *behaviour) { b.framing = byChunks } }

// NoLastChunk sends the body in chunks and closes the connection before the last, empty one.
func NoLastChunk() Option {
	return func(b *behaviour) { b.framing, b.noLastChunk = byChunks, true }
}

// UntilClose sends the body without a length; it ends with the connection.
func UntilClose() Option { return func(b *behaviour) { b.framing = byClose } }

// Close closes the connection after each answer.
func Close() Option { return func(b *behaviour) { b.closing = true } }

// HugeHeader adds header fields of n bytes in total.
func HugeHeader(n int) Option { return func(b *behaviour) { b.padding = n } }

// ManyFields adds n short header fields.
func ManyFields(n int) Option { return func(b *behaviour) { b.fields = n } }

// Informational sends n answers with status 103 before each answer.
func Informational(n int) Option { return func(b *behaviour) { b.informational = n } }

// Corrupt inverts the bytes of the file at these offsets.
func Corrupt(offsets ...int64) Option { return func(b *behaviour) { b.corrupt = offsets } }

// BodyLonger sends n bytes more than announced.
func BodyLonger(n int64) Option { return func(b *behaviour) { b.longer = n } }

// CutAfter closes the connection after n bytes of the body; -1 means never.
func CutAfter(n int64) Option { return func(b *behaviour) { b.cut = n } }

// ResetAfter resets the connection after n bytes of the body. The client may not receive the last of them.
func ResetAfter(n int64) Option { return func(b *behaviour) { b.reset = n } }

// StallAfter stops sending after n bytes of the body and keeps the connection open; -1 means never.
func StallAfter(n int64) Option { return func(b *behaviour) { b.stall = n } }

// DieAfter calls Die when the bodies of all answers have n bytes in total.
func DieAfter(n int64) Option { return func(b *behaviour) { b.die = n } }

// Budget is the number of body bytes that servers may send in total. After Lift there is no limit.
type Budget struct {
	left   atomic.Int64
	lifted chan struct{}
	lift   sync.Once
}

// NewBudget returns a Budget of the given size.
func NewBudget(bytes int64) *Budget {
	b := &Budget{lifted: make(chan struct{})}
	b.left.Store(bytes)
	return b
}

// Lift removes the limit, so that blocked answers continue.
func (b *Budget) Lift() { b.lift.Do(func() { close(b.lifted) }) }

// room returns how many of n bytes may be sent.
func (b *Budget) room(n int64) int64 {
	select {
	case <-b.lifted:
		return n
	default:
		return max(0, min(n, b.left.Load()))
	}
}

// Within limits the bodies of a server to a budget. When the budget is spent, answers block with the connection open
// until it is lifted.
func Within(b *Budget) Option { return func(s *behaviour) { s.budget = b } }

// Rate limits the body bytes a second. If the same Option is given to several servers, they share the rate like a
// common link. Zero sends nothing.
func Rate(bytes int64) Option { return RateFunc(func(time.Duration) int64 { return bytes }) }

// RateFunc is a Rate that depends on the time since the first byte.
func RateFunc(rate func(elapsed time.Duration) int64) Option {
	p := &pace{rate: rate}
	return func(b *behaviour) { b.pace = p }
}

// Unlimited removes a Rate.
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
