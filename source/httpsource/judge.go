package httpsource

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"braid/byterange"
	"braid/internal/web"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// judge returns the answer in x, or the reason why x does not answer the current request.
func (c *chain) judge(x *web.Exchange) (source.Answer, error) {
	resp := x.Response
	a := source.Answer{
		Host: source.HostPort(c.trail.URL), URL: c.trail.URL, RTT: x.RTT, End: -1, Size: -1,
		ETag: entityTag(resp.Header), Hops: c.hops, IfMatchFailed: c.failed,
	}
	if t, err := http.ParseTime(single(resp.Header, "Last-Modified")); err == nil {
		a.LastModified = t
		sent, err := http.ParseTime(single(resp.Header, "Date"))
		if err != nil {
			sent = time.Now()
		}
		a.Fleeting = metalink.StrongETag(a.ETag) == "" && sent.Sub(t) < time.Second
	}
	a.Claims, _ = verify.FromHeader(resp.Header, c.channel())
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent { // a 304 has no content
		a.Content = verify.OfContent(resp.Header, c.channel())
	}
	var err error
	switch resp.StatusCode {
	case http.StatusOK:
		err = c.judgeWhole(x, &a)
	case http.StatusPartialContent:
		err = c.judgePart(x, &a)
	case http.StatusNotModified:
		if !c.conditional() {
			return a, c.refused(x)
		}
		a.NotModified, a.End = true, 0
	default:
		return a, c.refused(x)
	}
	// A redirect's field is used whatever size the target has: another host must not be able to remove the digest.
	if last := len(c.hops) - 1; verify.DropLinked(resp.Header, a.Size) {
		verify.DropLinked(c.hops[last].Header, a.Size)
		a.Claims, _ = verify.FromHeader(resp.Header, c.channel())
	}
	return a, err
}

// entityTag returns the ETag in h as sent. It returns "" for an empty tag, which does not identify a version, and for
// several tags.
func entityTag(h http.Header) string {
	tag := single(h, "ETag")
	if strings.TrimPrefix(tag, "W/") == `""` || strings.Count(tag, `"`) > 2 {
		return ""
	}
	return tag
}

// single returns the value of the field called name in h if it occurs once. It returns "" for several values, because
// two servers on the way may each have added one.
func single(h http.Header, name string) string {
	if values := h.Values(name); len(values) == 1 {
		return strings.TrimSpace(values[0])
	}
	return ""
}

// conditional reports whether a 304 answers this request.
func (c *chain) conditional() bool {
	return c.whole && (c.s.opts.IfNoneMatch != "" || !c.s.opts.IfModifiedSince.IsZero())
}

func (c *chain) judgeWhole(x *web.Exchange, a *source.Answer) error {
	if err := identity(x.Header); err != nil && !c.gzipped(x.Header) {
		return c.fail(x, source.FaultProtocol, err)
	}
	if n := x.ContentLength; n >= 0 {
		a.End, a.Size = n, n
	}
	return nil
}

// judgePart compares a 206 with the request (rule 13).
func (c *chain) judgePart(x *web.Exchange, a *source.Answer) error {
	got, err := c.part206(x.Response)
	if err != nil {
		return c.fail(x, source.FaultProtocol, err)
	}
	a.Ranged, a.Start, a.End, a.Size = true, got.Range.Start, got.Range.End, got.Size
	return nil
}

func (c *chain) part206(resp *http.Response) (got byterange.ContentRange, err error) {
	if c.whole {
		return got, errors.New("a part (206) in answer to a request for the whole file")
	}
	if err := identity(resp.Header); err != nil {
		return got, err
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); strings.HasPrefix(kind, "multipart/") {
		return got, errors.New("several parts in answer to a request for one")
	}
	fields := resp.Header.Values("Content-Range")
	if len(fields) != 1 {
		return got, fmt.Errorf("a part with %d Content-Range fields", len(fields))
	}
	if got, err = byterange.ParseContentRange(fields[0]); err != nil {
		return got, err
	}
	want := byterange.Range{Start: c.part.Start, End: min(c.part.End, got.Size)}
	switch n := resp.ContentLength; {
	case got.Size < 0:
		return got, errors.New("a part (206) without the size of the file")
	case got.Range != want:
		return got, fmt.Errorf("bytes %v of %d in answer to a request for %v", got.Range, got.Size, c.part)
	case n >= 0 && n != want.Len():
		return got, fmt.Errorf("Content-Length %d with bytes %v", n, got.Range)
	}
	return got, nil
}

// gzipped reports whether h announces gzip and the caller accepts that (RFC 9110, section 8.4.1.3).
func (c *chain) gzipped(h http.Header) bool {
	v := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ",")))
	return c.s.opts.Gzip && (v == "gzip" || v == "x-gzip")
}

// identity returns an error if h has a content coding that was not requested, because ranges and digests would apply to
// the encoded bytes.
func identity(h http.Header) error {
	for _, v := range h.Values("Content-Encoding") {
		if v != "" && !strings.EqualFold(strings.TrimSpace(v), "identity") {
			return fmt.Errorf("Content-Encoding %.40q, although identity was requested", v)
		}
	}
	return nil
}

// refused returns the error for x, which has a status without a file.
func (c *chain) refused(x *web.Exchange) error {
	status := x.StatusCode
	e := c.fail(x, source.FaultRefused, fmt.Errorf("status %d %s", status, http.StatusText(status)))
	switch status {
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		e.Fault, e.Told = source.FaultAuth, x.Told()
	case http.StatusRequestedRangeNotSatisfiable:
		c.unsatisfied(x, e)
	case http.StatusNotFound, http.StatusGone:
		e.After, _, _ = web.RetryAfter(x.Header, time.Now())
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		now := time.Now()
		if wait, _, ok := web.RetryAfter(x.Header, now); ok && wait > 0 && !c.s.opts.Unheeded {
			c.s.client.pacer().Hold(e.Host, status, wait, now)
		}
		after, problem := retryAfter(x.Header, now)
		e.Retry, e.After = problem == "", after
		if problem != "" {
			e.Err = fmt.Errorf("%w; %s", e.Err, problem)
		}
	}
	return e
}

// unsatisfied sets fault and cause of e, the error for a 416: the server has a different, shorter file (rule 25), or it
// refuses a range of its own file.
func (c *chain) unsatisfied(x *web.Exchange, e *source.Error) {
	if c.whole {
		return
	}
	e.Fault = source.FaultMismatch
	size, err := byterange.ParseUnsatisfied(x.Header.Get("Content-Range"))
	switch {
	case err != nil:
		e.Err = fmt.Errorf("%w: its file does not reach %v", e.Err, c.part)
	case size > c.part.Start:
		e.Fault = source.FaultProtocol
		e.Err = fmt.Errorf("%w, although the file has %d bytes and %v was requested", e.Err, size, c.part)
	default:
		e.Err = fmt.Errorf("%w: its file has %d bytes", e.Err, size)
	}
}
