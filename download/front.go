package download

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/url"
	"path"
	"strings"

	"braid/byterange"
	"braid/metalink/meta4"
	"braid/source"
	"braid/verify"
)

// sniffSize is how much of a file is looked at to find out that it is a document: its root element is there by then.
const sniffSize = 4 << 10

// A front holds back the first bytes of an answer until they show whether a document comes in place of the file.
type front struct {
	held    []byte
	written int64 // bytes of it that are on disk already
	refusal error // what a document means: that it is another file; nil: it may replace the file
}

// frontOf is the front of an answer to a fetch, nil if nothing has to be held back: nobody asked for anything but a document, or
// what came before is not there to be looked at.
func (s *session) frontOf(o *origin, a source.Answer) *front {
	if !s.req.follows() || isXML(s.req.URL) || o.swarm || a.Start >= sniffSize {
		return nil
	}
	f := &front{held: make([]byte, a.Start), written: a.Start}
	if have := s.part.Have(); !have.Contains(byterange.Range{End: a.Start}) {
		return nil
	}
	if _, err := s.part.ReadAt(f.held, 0); a.Start > 0 && err != nil {
		return nil
	}
	if !s.req.mayReplace(a.Hops, s.roleOf(o)) {
		f.refusal = mismatch(o, "%w", errInPlace)
	}
	return f
}

// inPlace reports whether the file of an answer to HEAD begins as a document that may replace it: not every server knows the media
// type. The first bytes are asked for, so that this is for when it makes a difference. A document of more than these is shorter than
// its file, which has size bytes, or -1 if that is not known.
func (r *Request) inPlace(ctx context.Context, hc network, a source.Answer, size int64) bool {
	switch {
	case !r.follows(), isXML(r.URL), a.Size == 0, a.Size > meta4.MaxSize, !r.mayReplace(a.Hops, r.role()):
		return false
	case size >= 0 && (a.Size == size || a.Size > max(size, sniffSize)):
		return false
	}
	m := &memory{most: sniffSize, first: true}
	err := hc.bring(ctx, r.URL, r.lookOptions(condition{}), byterange.Range{End: sniffSize}, m)
	if err != nil && !errors.Is(err, source.ErrEnough) || m.answer.Start > 0 || !r.mayReplace(m.answer.Hops, r.role()) {
		return false
	}
	f := front{held: m.data.Bytes()}
	return f.isDocument()
}

// isXML says that it is XML that was asked for.
func isXML(u *url.URL) bool { return strings.EqualFold(path.Ext(u.Path), ".xml") }

// decided reports whether more bytes would make no difference.
func (f *front) decided() bool {
	return len(f.held) >= sniffSize || len(f.held) >= 4 && !maybeXML(f.held)
}

// isDocument reports whether what is held is the beginning of a document.
func (f *front) isDocument() bool { return maybeXML(f.held) && meta4.Looks(f.held) }

// maybeXML spares most files the XML reader.
func maybeXML(b []byte) bool {
	b = bytes.TrimLeft(b, "\ufeff \t\r\n")
	return len(b) == 0 || b[0] == '<' || b[0] >= 0xfe
}

// hold keeps p back, and releases it with what came before once that is decided, or no more of it is wanted.
func (k *sink) hold(p []byte, off int64) (int, error) {
	k.front.held = append(k.front.held, p...)
	if !k.front.decided() && off+int64(len(p)) < k.limit.Load() {
		return len(p), nil
	}
	if err := k.release(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// release writes what is held, unless it is a document.
func (k *sink) release() error {
	f := k.front
	k.front = nil
	if f.isDocument() {
		k.document = f.refusal == nil
		return cmp.Or(f.refusal, errRefused)
	}
	_, err := k.write(f.held[f.written:], f.written)
	return err
}

// settle releases what is held at the end of a fetch, whose error it returns or replaces.
func (k *sink) settle(err error) error {
	if k.front == nil || int64(len(k.front.held)) == k.front.written || errors.Is(err, context.Canceled) {
		return err
	}
	if problem := k.release(); problem != nil && !errors.Is(problem, source.ErrEnough) {
		return problem
	}
	return err
}

// disowned ends the session if a source that turned out to have a document in place of the file said what its size is.
func (s *session) disowned(o *origin, err error) {
	if errors.Is(err, errInPlace) && s.sizeBy == o {
		s.end(sizeDisowned, err)
	}
}

// disown lets the next session begin with what is known of the file, without that source and what it said.
func (g *getter) disown(s *session) error {
	g.goOn(s)
	g.plan.prior.Size, g.plan.prior.ETag, g.plan.prior.ETagHost = -1, "", ""
	if !verify.Strong(s.claims) {
		g.plan.prior = nil
	}
	if g.plan.said != nil {
		said := *g.plan.said
		said.Size, g.plan.said = -1, &said
	}
	return g.empty()
}
