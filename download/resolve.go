package download

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"braid/internal/small"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// This file decides what the file is, from the request and the chain of answers to it. The order of trust is
// the user, the asked server, and what that server names. A mirror's own claims are compared with these and
// are never evidence.
//
// The asked server is the host of the URL that the user typed, where http may become https on the default
// ports, or the Metalink server (RFC 6249, section 2) if no redirect before it carried a Link or a Digest. A
// host that a Link, a document or a redirect with a digest names is a mirror.

// A role is how the first server of a chain of answers counts.
type role uint8

const (
	asOrigin role = iota // its URL is that of the request
	asMirror             // a Link, a document or the user named it, also if it stands in for a failed server
)

// role returns the role of the request's own URL. The places of a document are mirrors.
func (r *Request) role() role {
	if r.Described != nil {
		return asMirror
	}
	return asOrigin
}

// A nature is the kind of content of an answer.
type nature uint8

const (
	theFile     nature = iota
	aDocument          // a Metalink document or a torrent that describes the file
	anotherFile        // a document in place of the file, from a server that must not replace the file
)

// A resolution holds the statements of a chain of answers about the file.
type resolution struct {
	nature nature
	// file is the asked server's description. Its claims are evidence. See metalink.FromHops.
	file metalink.File
	// own is what the host of the URL itself says, without the servers that it leads to.
	own metalink.File
	// asked are the digests that this host states, also in its answer to HEAD.
	asked []verify.Claim
	// mirror is the index of the first answer of a mirror, or the number of answers if none is.
	mirror  int
	answers int  // number of answers
	spoken  bool // see footing
	// wrong is why the last answer is of another file than the asked server describes. Its description counts
	// all the same.
	wrong error
}

// errInPlace refuses a document that must not replace the file.
var errInPlace = errors.New("it answers with a Metalink document in place of the file, " +
	"which is accepted only from the server of the requested URL")

// A footing is what is known of the file before an answer is read.
type footing struct {
	digest bool // a strong digest is known, so links without one count (RFC 6249, section 6)
	spoken bool // the URL's host stated a digest in this run: no server it redirects to is the Metalink server (C2)
}

// footing returns what is known before the first answer.
func (r *Request) footing() footing { return footing{digest: verify.Strong(r.Trust.Claims)} }

// resolve reads a chain of answers. The error is a contradiction in the asked server's own fields.
func (r *Request) resolve(hops []metalink.Hop, as role, on footing) (resolution, error) {
	x := resolution{mirror: ownAnswers(hops, as, on.spoken), answers: len(hops), spoken: on.spoken}
	x.nature = r.natureOf(hops, as)
	file, err := metalink.FromHops(hops[:x.mirror], on.digest)
	if err != nil && file.Server == nil { // the asked server contradicts itself
		return x, err
	}
	x.file, x.wrong = file, err
	if as == asOrigin {
		x.own, _ = metalink.FromHops(hops[:metalink.First(hops)], on.digest)
		x.asked = x.own.Claims
	}
	if r.NoMetalink {
		x.file.Mirrors, x.file.Documents = nil, nil
	}
	if x.nature == anotherFile {
		x.wrong = errInPlace
	}
	for i := x.mirror; i < len(hops) && x.wrong == nil && as != asMirror; i++ {
		x.wrong = agrees(x.file.Claims, hops[i])
	}
	// What the asked server stated counts, whatever a mirror that it led to answers.
	if x.wrong != nil && x.nature != anotherFile && file.Server == nil && !verify.Strong(file.Claims) {
		return x, x.wrong
	}
	return x, nil
}

// agrees compares a mirror's digests with those of the asked server (RFC 6249, section 7).
func agrees(claims []verify.Claim, h metalink.Hop) error {
	if h.Status >= 400 { // its fields are of an error page
		return nil
	}
	own, malformed, err := verify.ReadHeader(h.Header, verify.HTTP)
	malformed = slices.DeleteFunc(malformed, func(m *verify.DigestError) bool { return m.Note })
	if err == nil && len(malformed) > 0 && !verify.Strong(own) && !verify.Strong(claims) {
		err = malformed[0]
	}
	if err == nil {
		err = verify.Agree(claims, own)
	}
	return err
}

// ownAnswers returns how many answers at the beginning of a chain are the asked server's. For spoken, see footing.
func ownAnswers(hops []metalink.Hop, as role, spoken bool) int {
	switch {
	case as == asMirror:
		return 0
	case spoken:
		return metalink.First(hops)
	}
	return metalink.Own(hops)
}

// natureOf returns what the last answer of a chain contains, by its header.
func (r *Request) natureOf(hops []metalink.Hop, as role) nature {
	switch {
	case len(hops) == 0 || !r.follows():
		return theFile
	case as == asOrigin && r.namesDocument(hops):
		return aDocument
	case !announcesDocument(hops[len(hops)-1]):
		return theFile
	case r.mayReplace(hops, as):
		return aDocument
	}
	return anotherFile
}

// mayReplace reports whether the last answer of a chain may be a document in place of the file: if the
// request's URL or first answer names one, or the asked server itself sent it and no redirect carried a
// digest.
func (r *Request) mayReplace(hops []metalink.Hop, as role) bool {
	if as != asOrigin || len(hops) == 0 {
		return false
	}
	last := len(hops) - 1
	return r.namesDocument(hops) || metalink.AskedAt(hops, last) && !slices.ContainsFunc(hops[:last], strongly)
}

// namesDocument reports whether the URL of the request, or the media type of its first answer, is a
// document's.
func (r *Request) namesDocument(hops []metalink.Hop) bool {
	return IsDocument(r.URL.Path) || announcesDocument(hops[0])
}

// follows reports whether a document in place of the file is followed.
func (r *Request) follows() bool { return !r.NoMetalink && r.Described == nil && isWeb(r.URL) }

// announcesDocument reports whether the media type of an answer is that of a document or a torrent.
func announcesDocument(h metalink.Hop) bool {
	kind := http.Header(h.Header).Get("Content-Type")
	plain, _, _ := strings.Cut(kind, ";")
	return h.Status < 400 && (metalink.IsMediaType(kind) || strings.EqualFold(strings.TrimSpace(plain), metalink.Torrent))
}

// strongly reports whether an answer carries a strong digest.
func strongly(h metalink.Hop) bool {
	claims, _ := verify.FromHeader(h.Header, verify.HTTP)
	return verify.Strong(claims)
}

// decides reports whether the asked server gave a strong digest, in this answer or before, and a mirror answered. The
// digest then identifies the version; the mirror's date, ETag or 304 does not.
func (x resolution) decides() bool {
	return x.mirror < x.answers && (x.spoken || verify.Strong(x.file.Claims))
}

// without returns a without the fields that describe another file.
func (x resolution) without(a source.Answer) source.Answer {
	if x.wrong != nil {
		a.Size, a.ETag, a.LastModified = -1, "", time.Time{}
	}
	return a
}

// otherDigests returns the digests of an answer on the way to a document that do not match the document.
func otherDigests(hops []metalink.Hop, at int, data []byte) (claims []verify.Claim, err error) {
	if hops[at].Status >= 400 {
		return nil, nil
	}
	all, _ := verify.FromHeader(hops[at].Header, channelOf(source.Answer{Hops: hops[:at+1]}))
	for _, c := range all {
		sum := c.Digest.Algorithm().New()
		sum.Write(data)
		got, wrong := verify.NewDigest(c.Digest.Algorithm(), sum.Sum(nil))
		if wrong != nil || got == c.Digest {
			continue
		}
		claims, err = append(claims, c), cmp.Or(err, error(&verify.MismatchError{Claim: c, Got: got}))
	}
	return claims, err
}

// An inquiry holds the asked server's statements about the file before its bytes are fetched.
type inquiry struct {
	resolution
	answer source.Answer // without the fields of another file
}

// statement returns what the asked server states before bytes are fetched. The size is its own unless a
// mirror answered.
func (x inquiry) statement() statement {
	st := x.stated(x.answer, byServer, nil)
	st.pin, st.asked = pinOf(x.own), x.asked
	return st
}

// An asker asks the server of a request for the header of its answer: look, glance or head.
type asker func(context.Context, network, *Request, condition) (source.Answer, error)

// inquire asks the server what the file is. A contradiction in the answer becomes wrong, and the error.
func (r *Request) inquire(ctx context.Context, hc network, ask asker, c condition) (x inquiry, err error) {
	if x.answer, err = ask(ctx, hc, r, c); err != nil {
		return x, err
	}
	x.resolution, err = r.resolve(x.answer.Hops, r.role(), r.footing())
	switch {
	case x.nature == aDocument:
		return x, nil
	case err != nil:
		x.wrong = err
		return x, err
	}
	x.answer = x.without(x.answer)
	x.file.Size = x.answer.Size
	return x, nil
}

// onTheWay returns the server's statements in redirects to a target without an answer, if they include a
// strong digest. Otherwise it returns x and err.
func (r *Request) onTheWay(x inquiry, err error) (inquiry, error) {
	var e *source.Error
	if !errors.As(err, &e) || len(e.Hops) == 0 || r.role() != asOrigin {
		return x, err
	}
	y, wrong := r.resolve(e.Hops, asOrigin, r.footing())
	if wrong != nil || y.nature != theFile || !verify.Strong(y.file.Claims) {
		return x, err
	}
	y.mirror = min(y.mirror, len(e.Hops)-1) // no size counts as the server's
	return inquiry{resolution: y, answer: source.Answer{Hops: e.Hops, Host: e.Host, Size: -1, End: -1}}, nil
}

// inPlace reports whether the file of an answer to HEAD begins as a document that may replace it: not every
// server knows the media type. It asks for the first bytes if the header does not decide. Beyond sniffSize, a
// document is taken to be shorter than its file, which has size bytes (-1: unknown).
func (r *Request) inPlace(ctx context.Context, hc network, a source.Answer, size int64) bool {
	switch {
	case !r.follows(), isXML(r.URL), a.Size == 0, a.Size > metalink.MaxSize, !r.mayReplace(a.Hops, r.role()):
		return false
	case size >= 0 && (a.Size == size || a.Size > max(size, sniffSize)):
		return false
	}
	src := hc.Source(r.URL, r.lookOptions(condition{}))
	data, sniffed, err := small.First(ctx, src, r.URL, hc.patience(), sniffSize)
	if err != nil || sniffed.Start > 0 || !r.mayReplace(sniffed.Hops, r.role()) {
		return false
	}
	f := front{held: data}
	return f.isDocument()
}

// sniffSize is how much of a file is examined to find out that it is a document. Its root element is within.
const sniffSize = 4 << 10

// A front holds back the first bytes of an answer until they show whether a document replaces the file.
type front struct {
	held    []byte
	written int64 // bytes of it that are on disk already
	refusal error // the error if it is a document; nil: the document may replace the file
}

// isXML reports whether the URL asks for XML.
func isXML(u *url.URL) bool { return strings.EqualFold(path.Ext(u.Path), ".xml") }

// read reads the bytes that are already on disk. If that fails, nothing is held back.
func (f *front) read(part io.ReaderAt) *front {
	if f == nil || f.written == 0 {
		return f
	}
	if _, err := part.ReadAt(f.held, 0); err != nil {
		return nil
	}
	return f
}

// decided reports whether more bytes would make no difference.
func (f *front) decided() bool {
	return len(f.held) >= sniffSize || len(f.held) >= 4 && !maybeXML(f.held)
}

// isDocument reports whether the held bytes are the beginning of a document.
func (f *front) isDocument() bool { return maybeXML(f.held) && metalink.Looks(f.held) }

// maybeXML reports whether b may be XML. It spares most files the XML reader.
func maybeXML(b []byte) bool {
	b = bytes.TrimLeft(b, "\ufeff \t\r\n")
	return len(b) == 0 || b[0] == '<' || b[0] >= 0xfe
}

// hold keeps p back. It releases the held bytes once they are decided, or no more are wanted.
func (k *sink) hold(p []byte, off int64) (int, error) {
	f, before := k.front, k.front.held
	if f.held = p; len(before) > 0 {
		f.held = append(before, p...)
	}
	if !f.decided() && off+int64(len(p)) < k.limit.Load() {
		f.held = append(before, p...)
		return len(p), nil
	}
	if err := k.release(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// release writes the held bytes, unless they are a document.
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

// settle releases the held bytes at the end of a fetch. It returns the error of the fetch, or a replacement.
func (k *sink) settle(err error) error {
	if k.front == nil || int64(len(k.front.held)) == k.front.written || errors.Is(err, context.Canceled) {
		return err
	}
	if problem := k.release(); problem != nil && !errors.Is(problem, source.ErrEnough) {
		return problem
	}
	return err
}
