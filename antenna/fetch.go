package antenna

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"braid/address"
	"braid/antenna/feed"
	"braid/internal/web"
	"braid/verify"
)

// maxRetryAfter limits the delay that a server can request.
const maxRetryAfter = 24 * time.Hour

// A poller makes requests one at a time for its caller. It is immutable, so several goroutines may use it.
type poller struct {
	web      *web.Client
	agent    string
	agentURL string
	match    *matcher
}

// A task is one request.
type task struct {
	feed *Feed
	// page is the watch whose URL is checked (Watch.CheckEvery), or nil.
	page *watcher
	web.Trail
	// challenges counts the answered authentication challenges.
	challenges int
	// bare omits the token, which the server refused. plain disables preconditions. get uses GET for a page whose server
	// does not support HEAD.
	bare, plain, get bool
	// index is the sitemap index that the requested sitemap belongs to, or nil.
	index *sitemapIndex
	// etag and modified are the validators of the previous response. of is a hash of the URL that sent them.
	etag, modified string
	of             string
	seen           observation
}

// conditional reports whether the request has preconditions. The validators of one server must not be sent to another
// server, for example after a new redirect, because two servers may have equal tags by chance.
func (t *task) conditional() bool {
	return !t.plain && (t.etag != "" || t.modified != "") && (t.feed.Local || t.of == sumOfURL(t.URL))
}

// sumOfURL returns a hash of u, which is stored instead of u because u may be secret.
func sumOfURL(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:8])
}

// An answer is the result of a task. Exactly one of again, unchanged, result and err is set, except that result may be
// set together with err.
type answer struct {
	took   time.Duration
	status int
	bytes  int64
	// again is the request that must follow, for example to the target of a redirect.
	again *task

	unchanged      bool
	result         *result
	etag, modified string
	of             string // hash of the URL that sent etag and modified
	// seen is the observation of a page.
	seen *observation

	err error
	// busy is how long the server asked not to be polled. spent reports that the server's request limit is used up,
	// which is not a failure of the feed. pause is how long the host gets no request, so that the limit is not reached.
	busy, pause time.Duration
	spent       bool
}

// errSilent is the cause of the cancellation of a request without data.
var errSilent = fmt.Errorf("no byte for %v", silence)

// poll makes one request. It does not follow redirects, because the loop decides when a host may get a request.
func (p *poller) poll(ctx context.Context, t task) answer {
	start := time.Now()
	var a answer
	if t.feed.Local {
		a = p.readFile(ctx, &t)
	} else {
		a = p.ask(ctx, &t)
	}
	a.took = time.Since(start)
	return a
}

func (p *poller) ask(ctx context.Context, t *task) answer {
	ctx, stop := context.WithTimeoutCause(ctx, t.feed.Limits.Time, fmt.Errorf("not done within %v", t.feed.Limits.Time))
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pulse := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer pulse.Stop()
	req := p.request(t)
	x, err := p.web.Do(ctx, req)
	if err != nil && t.index != nil {
		return t.index.followed(ctx, t, answer{err: because(ctx, err)})
	}
	if err != nil {
		return answer{err: because(ctx, err)}
	}
	defer x.Close()
	body := &body{ctx: ctx, x: x, pulse: pulse, left: t.feed.Limits.Bytes}
	body.check = web.NewContent(verify.OfContent(x.Header, verify.HTTP), x.Trailer)
	pulse.Reset(silence)
	a := p.judge(t, req, x, body)
	a.status, a.bytes, a.of = x.StatusCode, body.n, sumOfURL(t.URL)
	a.heed(x.Header, time.Now())
	if a.err != nil {
		a.err = because(ctx, a.err)
	}
	if t.index != nil {
		return t.index.followed(ctx, t, a)
	}
	return a
}

// leastReset is the shortest time until the reset of a request limit for which a refused poll waits. Otherwise the poll
// backs off. Some servers always report that the limit was just reset, and would be polled in a busy loop.
const leastReset = time.Minute

// heed sets pause, spent and busy from the request limit that the server reports in h.
func (a *answer) heed(h http.Header, now time.Time) {
	r, ok := web.RateOf(h, now)
	if !ok {
		return
	}
	a.pause = r.Pause()
	refused := a.status == http.StatusForbidden || a.status == http.StatusTooManyRequests
	if a.spent = refused && r.Left == 0 && r.Reset >= leastReset; a.spent {
		a.busy = min(max(a.busy, r.Reset), maxRetryAfter)
	}
}

// because returns why ctx is done, or err if ctx is not done or the feed was rejected.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !isReject(err) {
		return cause
	}
	return err
}

func isReject(err error) bool {
	var reject *feed.RejectError
	return errors.As(err, &reject)
}

// request returns the HTTP request for t. It has no Referer.
func (p *poller) request(t *task) *web.Request {
	r := &web.Request{Method: http.MethodGet, Trail: t.Trail, User: t.feed.credentials(t.bare)}
	r.Header = r.User.Header(&t.Trail)
	r.Header.Set("Accept-Encoding", "gzip")
	if t.isPage() {
		r.Header.Set("Accept-Encoding", "identity")
		if !t.get {
			r.Method = http.MethodHead
		}
	}
	switch {
	case !t.conditional() || r.Method == http.MethodHead:
	case t.etag != "": // without If-Modified-Since: an ETag takes precedence (RFC 9110, section 13.1.3)
		r.Header.Set("If-None-Match", t.etag)
	default:
		r.Header.Set("If-Modified-Since", t.modified)
	}
	return r
}

// credentials returns the user's credentials for the server of the feed, without the token of the feed if bare is set.
func (f *Feed) credentials(bare bool) web.Credentials {
	c := web.Credentials{Fields: f.Header}
	if f.hasToken() && !bare {
		h := http.Header{"Authorization": {"Bearer " + f.Token}}
		maps.Copy(h, f.Header)
		c.Fields = h
	}
	if home, err := url.Parse(f.URL); err == nil && home.User != nil && home.User.String() != "" {
		c.User = home.User
	}
	return c
}

func (t *task) isPage() bool { return t.feed.Kind == Page }

func (p *poller) judge(t *task, req *web.Request, x *web.Exchange, body *body) answer {
	resp := x.Response
	if web.IsRedirect(resp.StatusCode) {
		return redirect(t, x)
	}
	switch resp.StatusCode {
	case http.StatusOK:
		if t.isPage() {
			return p.observe(t, resp)
		}
		return p.fresh(t, resp, body, address.Public|x.From)
	case http.StatusNotModified:
		if !t.conditional() || t.isPage() && !t.get {
			return answer{err: errors.New("status 304 Not Modified without a conditional request")}
		}
		if t.isPage() {
			return p.observe(t, resp)
		}
		return answer{unchanged: true}
	case http.StatusPreconditionFailed:
		if t.conditional() {
			again := *t
			again.plain = true
			return answer{again: &again}
		}
	case http.StatusUnauthorized:
		if t.feed.hasToken() && !t.bare && !t.Away {
			again := *t
			again.bare = true
			return answer{again: &again}
		}
		if p.web.Challenged(req, x, t.challenges) {
			again := *t
			again.challenges++
			return answer{again: &again}
		}
	}
	if t.isPage() && !t.get && isAboutHead(resp.StatusCode) {
		again := *t
		again.get = true
		return answer{again: &again}
	}
	err := fmt.Errorf("status %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	busy, _, _ := web.RetryAfter(resp.Header, time.Now())
	return answer{err: err, busy: min(busy, maxRetryAfter)}
}

// isAboutHead reports whether a server that responds to HEAD with this status may support GET. The server may not know
// HEAD (RFC 9110, section 15.5.6), or a proxy in front of it may respond with another status. Statuses that concern the
// client rather than the request are excluded.
func isAboutHead(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusNotImplemented:
		return true
	}
	return false
}

// fresh reads the feed in a response. near has the kinds of addresses to which the URLs of the feed may lead.
func (p *poller) fresh(t *task, resp *http.Response, body *body, near address.Scope) answer {
	now := time.Now()
	received := now
	if modified, err := http.ParseTime(resp.Header.Get("Last-Modified")); err == nil && modified.Before(now) {
		received = modified
	}
	if encoding := resp.Header.Get("Content-Encoding"); !isPlain(encoding) {
		return answer{err: fmt.Errorf("Content-Encoding %.40q, which was not requested", encoding)}
	}
	k, err := p.read(body.ctx, t, body, feed.At(received), near)
	a := answer{err: err, etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified")}
	if x := k.index; x != nil {
		if x.of = sumOfURL(t.URL); !x.c.undated && !isShared(resp, now) {
			x.etag, x.modified = a.etag, a.modified
		}
		return answer{again: x.next(t)}
	}
	if err == nil || k.partial {
		a.result = &k
	}
	if k.open || isShared(resp, now) {
		a.etag, a.modified = "", ""
	}
	return a
}

// isShared reports whether a later version may have the same validators as resp, or an earlier date. This is so without
// a strong ETag, if Last-Modified is in the same second as the response, or later: a weak ETag may be derived from
// Last-Modified. Only a date that is "at least one second" older is reliable (RFC 9110, section 8.8.2.2).
func isShared(resp *http.Response, now time.Time) bool {
	if etag := resp.Header.Get("ETag"); etag != "" && !strings.HasPrefix(etag, "W/") {
		return false
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		now = date
	}
	modified, err := http.ParseTime(resp.Header.Get("Last-Modified"))
	return err == nil && now.Sub(modified) < time.Second
}

// isPlain reports whether the Content-Encoding is absent or gzip. The reader detects gzip from the content.
func isPlain(encoding string) bool {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity", "gzip", "x-gzip":
		return true
	}
	return false
}

// redirect returns the request to the target of a redirect.
func redirect(t *task, x *web.Exchange) answer {
	next, err := t.Redirect(x, false)
	if err != nil {
		return answer{err: err}
	}
	x.Finish()
	again := *t
	again.Trail, again.challenges = next, 0
	return answer{again: &again}
}

// A body reads a response. It counts and limits the bytes and resets the timeout for silence.
type body struct {
	ctx     context.Context
	x       *web.Exchange
	check   *web.Content
	pulse   *time.Timer
	n, left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	if b.left < 0 {
		return 0, &feed.RejectError{Code: "too-large", Why: fmt.Sprintf("more than %d octets", b.n-1)}
	}
	n, err := b.x.Read(p[:min(int64(len(p)), b.left+1)])
	b.n += int64(n)
	b.left -= int64(n)
	if n > 0 {
		b.pulse.Reset(silence)
	}
	b.check.Write(p[:n])
	if err == io.EOF {
		err = b.end()
	}
	return n, err
}

// end returns io.EOF if the body is complete and matches the digests of the response.
func (b *body) end() error {
	if err := b.x.Complete(b.x.ContentLength >= 0); err != nil {
		return err
	}
	b.check.End(verify.OfContent(b.x.Trailer, verify.HTTP))
	if got, want, wrong := b.check.Wrong(); wrong {
		return fmt.Errorf("the answer has the digest %v, but its %s has %v", got, want.Field, want.Digest)
	}
	return io.EOF
}
