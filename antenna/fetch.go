package antenna

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"braid/address"
	"braid/antenna/feed"
	"braid/internal/web"
	"braid/verify"
)

// maxRetryAfter bounds what a server may ask for: a day.
const maxRetryAfter = 24 * time.Hour

// A poller makes single requests. It does not change, and is used by all workers at once.
type poller struct {
	web      *web.Client
	agent    string
	agentURL string
	match    *matcher
}

// A task is one request.
type task struct {
	feed *Feed
	// page is the watch whose URL is checked, if it is that.
	page *watcher
	web.Trail
	// challenges were answered.
	challenges int
	// plain has no preconditions, and get is GET for a page whose server knows no HEAD.
	plain, get bool
	// index is what the request is for one of; nil: it is for the feed itself.
	index *sitemapIndex
	// What is known from before, and of which URL the validators are.
	etag, modified string
	of             string
	seen           observation
}

// conditional reports whether the task asks only for what is new. What one server calls its feed says nothing about
// that of another one, to which it may have redirected since: tags of two hosts may be the same by chance.
func (t *task) conditional() bool {
	return !t.plain && (t.etag != "" || t.modified != "") && (t.feed.Local || t.of == sumOfURL(t.URL))
}

// sumOfURL stands for a URL in the store: it may be secret.
func sumOfURL(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:8])
}

// An answer is what became of a task. One of again, unchanged, kept and err is set.
type answer struct {
	took   time.Duration
	status int
	bytes  int64
	// again is the request to make next: a redirect, or the same without preconditions.
	again *task

	unchanged      bool
	result         *result
	etag, modified string
	of             string // the URL that etag and modified are of
	// seen is what a page said.
	seen *observation

	err error
	// busy: the server asks to be left alone for that long.
	busy time.Duration
}

// errSilent is the cause of a request that was cancelled for want of bytes.
var errSilent = fmt.Errorf("no byte for %v", silence)

// poll makes one request. Redirects are not followed: the host that they lead to may be busy, and the loop knows when it is free.
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

// ask is poll over http.
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
	if a.err != nil {
		a.err = because(ctx, a.err)
	}
	if t.index != nil {
		return t.index.followed(ctx, t, a)
	}
	return a
}

// because returns why ctx ended, if that is why there is an error.
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

// request makes the request. It has no Referer.
func (p *poller) request(t *task) *web.Request {
	r := &web.Request{Method: http.MethodGet, Trail: t.Trail, User: t.feed.credentials()}
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
	case t.etag != "": // alone: it is the stronger one (RFC 9110, section 13.1.3)
		r.Header.Set("If-None-Match", t.etag)
	default:
		r.Header.Set("If-Modified-Since", t.modified)
	}
	return r
}

// credentials are what the user gave for the server of the feed.
func (f *Feed) credentials() web.Credentials {
	c := web.Credentials{Fields: f.Header}
	if home, err := url.Parse(f.URL); err == nil && home.User != nil && home.User.String() != "" {
		c.User = home.User
	}
	return c
}

func (t *task) isPage() bool { return t.feed.Kind == Page }

// judge says what an answer is worth.
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
			return answer{err: errors.New("status 304 Not Modified, which was not asked for")}
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

// isAboutHead reports whether a server may refuse HEAD with that status and answer GET: it does not know the method, as
// it should say (RFC 9110, section 15.5.6), or what is in front of it knows GET only and says something else. What is
// said of the client and not of the request is not meant.
func isAboutHead(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusNotImplemented:
		return true
	}
	return false
}

// fresh reads a feed that is new. Near is to where URLs may lead that it names.
func (p *poller) fresh(t *task, resp *http.Response, body *body, near address.Scope) answer {
	now := time.Now()
	received := now
	if modified, err := http.ParseTime(resp.Header.Get("Last-Modified")); err == nil && modified.Before(now) {
		received = modified
	}
	if encoding := resp.Header.Get("Content-Encoding"); !isPlain(encoding) {
		return answer{err: fmt.Errorf("Content-Encoding %.40q, which was not asked for", encoding)}
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

// isShared reports whether what is asked for next time by the validators of an answer may be another version that has
// the same ones: a date, or a weak tag that is made from it, of the very second of the answer. Only a date that is "at
// least one second" older can be relied on (RFC 9110, section 8.8.2.2).
func isShared(resp *http.Response, now time.Time) bool {
	if etag := resp.Header.Get("ETag"); etag != "" && !strings.HasPrefix(etag, "W/") {
		return false
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		now = date
	}
	modified, err := http.ParseTime(resp.Header.Get("Last-Modified"))
	return err == nil && now.Sub(modified).Abs() < time.Second
}

// isPlain reports whether an encoding is none, or gzip, which is told by what it looks like.
func isPlain(encoding string) bool {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity", "gzip", "x-gzip":
		return true
	}
	return false
}

// redirect follows a redirect.
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

// A body counts and bounds what is read, and tells with each byte that the server is alive.
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

// end is io.EOF if what came is all, and what the answer says of it.
func (b *body) end() error {
	if err := b.x.Complete(b.x.ContentLength >= 0); err != nil {
		return err
	}
	b.check.End(verify.OfContent(b.x.Trailer, verify.HTTP))
	if got, want, wrong := b.check.Wrong(); wrong {
		return fmt.Errorf("the answer has %v, and its %s says %v", got, want.Field, want.Digest)
	}
	return io.EOF
}
