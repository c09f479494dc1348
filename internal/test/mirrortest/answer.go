package mirrortest

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/byterange"
	"braid/verify"
)

// reply is an answer before it is sent: a status, a header section and a part of a content.
type reply struct {
	status int
	header http.Header
	body   Content
	part   byterange.Range // of body
}

// answer generates and sends the answer to req.
func (c *conn) answer(req *http.Request, r *Request) ending {
	b := c.s.behave(req)
	sleep(c.ctx, b.latency)
	if b.raw != nil {
		b.raw(c.stream)
		c.s.finish(r, 0, false)
		return b.close()
	}
	reply := b.reply()
	if b.contentDigest && (reply.status == http.StatusOK || reply.status == http.StatusPartialContent) {
		reply.describe()
	}
	send := sender{c: c, out: bufio.NewWriterSize(c.stream, 2*maxPiece), b: b, r: r}
	end := send.reply(reply)
	c.s.finish(r, reply.status, send.done)
	return end
}

// describe adds the Content-Digest field.
func (r reply) describe() {
	h := verify.SHA256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r.body, r.part.Start, r.part.Len())); err != nil {
		panic(err) // a Content does not fail
	}
	d, err := verify.NewDigest(verify.SHA256, h.Sum(nil))
	if err != nil {
		panic(err)
	}
	r.header.Set("Content-Digest", verify.ReprField(d))
}

// close returns how this server closes a connection.
func (b *behaviour) close() ending {
	if b.noNotify {
		return endRudely
	}
	return endPolitely
}

// reply returns the answer to the request.
func (b *behaviour) reply() reply {
	doc, found := b.documents[b.req.URL.Path]
	switch {
	case b.handler != nil:
		return b.handled()
	case found:
		return b.whole(http.StatusOK, http.Header{"Content-Type": {doc.kind}}, ContentOf(doc.data))
	case b.req.URL.Path != b.s.path:
		return b.note(http.StatusNotFound, nil)
	case b.redirect != "" && b.status == http.StatusFound:
		return b.note(b.status, http.Header{"Location": {b.redirect}})
	case b.status != 0:
		return b.note(b.status, nil)
	}
	return b.file()
}

// file returns an answer with the file or a part of it, or a status that a precondition demands (RFC 9110, section
// 13.2.2).
func (b *behaviour) file() reply {
	size := b.s.Content.Size()
	h := http.Header{"Content-Type": {"application/octet-stream"}}
	if b.etag != "" {
		h.Set("ETag", b.etag)
	}
	if !b.modified.IsZero() {
		h.Set("Last-Modified", b.modified.UTC().Format(http.TimeFormat))
	}
	if status := b.precondition(); status != 0 {
		return b.note(status, h)
	}
	if b.ignoreRange {
		return b.whole(http.StatusOK, h, b.s.Content)
	}
	h.Set("Accept-Ranges", "bytes")
	ranges, err := byterange.ParseRange(b.req.Header.Get("Range"), size)
	switch {
	case err == byterange.ErrUnsatisfiable:
		h.Set("Content-Range", byterange.ContentRange{Size: size}.String())
		return b.note(http.StatusRequestedRangeNotSatisfiable, h)
	case err != nil || len(ranges) != 1 || b.otherVersion():
		return b.whole(http.StatusOK, h, b.s.Content)
	}
	field := byterange.ContentRange{Range: ranges[0], Size: size}
	value := field.String()
	if b.contentRange != nil {
		value = b.contentRange(field)
	}
	if value != "" {
		h.Set("Content-Range", value)
	}
	reply := b.whole(http.StatusPartialContent, h, b.s.Content)
	reply.part = ranges[0]
	return reply
}

// precondition evaluates If-Match, If-None-Match and If-Modified-Since. It returns 0 if the file is to be sent.
func (b *behaviour) precondition() int {
	get := b.req.Header.Get
	strong := b.etag != "" && !strings.HasPrefix(b.etag, "W/")
	if v := get("If-Match"); v != "" && v != "*" && !(strong && listed(v, b.etag)) {
		return http.StatusPreconditionFailed
	}
	if v := get("If-None-Match"); v != "" {
		if v == "*" || b.etag != "" && listed(v, b.etag) {
			return http.StatusNotModified
		}
		return 0
	}
	since, err := http.ParseTime(get("If-Modified-Since"))
	if err == nil && !b.modified.IsZero() && !b.modified.Truncate(time.Second).After(since) {
		return http.StatusNotModified
	}
	return 0
}

// listed reports whether etag is in a list. The entity tags of tests contain no commas.
func listed(list, etag string) bool {
	for v := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(v) == etag {
			return true
		}
	}
	return false
}

// otherVersion reports whether If-Range names another version (RFC 9110, section 13.1.5).
func (b *behaviour) otherVersion() bool {
	v := b.req.Header.Get("If-Range")
	return v != "" && v != b.etag && v != b.modified.UTC().Format(http.TimeFormat)
}

// note returns an answer with a short text as its body, or without a body if the status does not allow one.
func (b *behaviour) note(status int, h http.Header) reply {
	text := []byte(fmt.Sprintf("%d %s\n", status, http.StatusText(status)))
	if status == http.StatusNoContent || status == http.StatusNotModified {
		text = nil
	}
	return b.whole(status, h, ContentOf(text))
}

func (b *behaviour) whole(status int, h http.Header, body Content) reply {
	if h == nil {
		h = http.Header{}
	}
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	maps.Copy(h, b.header)
	b.pad(h)
	return reply{status: status, header: h, body: body, part: byterange.Range{End: body.Size()}}
}

func (b *behaviour) handled() reply {
	rec := httptest.NewRecorder()
	b.handler.ServeHTTP(rec, b.req)
	h := rec.Header().Clone()
	h.Del("Content-Length")
	return b.whole(rec.Code, h, ContentOf(rec.Body.Bytes()))
}

// head writes the status line and the header section.
func (b *behaviour) head(w io.Writer, r reply) {
	for range b.informational {
		io.WriteString(w, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
	}
	fmt.Fprintf(w, "HTTP/1.1 %d %s\r\n", r.status, http.StatusText(r.status))
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		for _, value := range r.header[name] {
			fmt.Fprintf(w, "%s: %s\r\n", name, value)
		}
	}
	for _, value := range b.announced(r) {
		fmt.Fprintf(w, "Content-Length: %s\r\n", value)
	}
	if b.framing == byChunks {
		io.WriteString(w, "Transfer-Encoding: chunked\r\n")
	}
	if b.closing || b.framing == byClose {
		io.WriteString(w, "Connection: close\r\n")
	}
	io.WriteString(w, "\r\n")
}

// announced returns the values of Content-Length.
func (b *behaviour) announced(r reply) []string {
	switch {
	case b.setLengths:
		return b.lengths
	case b.framing != byLength || r.status == http.StatusNoContent || r.status == http.StatusNotModified:
		return nil
	}
	return []string{strconv.FormatInt(r.part.Len(), 10)}
}
