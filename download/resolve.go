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

	"braid/byterange"
	"braid/internal/partfile"
	"braid/internal/small"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// This file decides what the requested file is, from the request and the chain of answers. The order of trust is the
// user, the asked server, and the documents that this server names. The claims of a mirror are compared with these
// claims and are never evidence.
//
// The asked server is the host of the URL that the user typed, where http may become https on the default
// ports, or the Metalink server (RFC 6249, section 2) if no redirect before it carried a Link or a Digest. A
// host that a Link, a document or a redirect with a digest names is a mirror.

// A role is the role of the first server in a chain of answers.
type role uint8

const (
	asOrigin role = iota // the server of the request's URL
	asMirror             // a server that a Link, a document or the user named, also if it stands in for the origin
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
	// file is the asked server's description of the file. The claims in file are evidence. See metalink.FromHops.
	file metalink.File
	// own is the description by the host of the URL itself, without the servers to which it redirects.
	own metalink.File
	// asked are the digests that the host of the URL itself states, also in its answer to HEAD.
	asked []verify.Claim
	// mirror is the index of the first answer from a mirror, or the number of answers if no answer is.
	mirror  int
	answers int   // number of answers
	spoken  spoke // see footing
	// wrong is the reason why the last answer is about another file than the asked server describes. The description by
	// the asked server counts nevertheless.
	wrong error
}

// errInPlace refuses a document that must not replace the file.
var errInPlace = errors.New("it sends a Metalink document in place of the file, which is accepted only from the server " +
	"of the requested URL")

// A footing has the facts about the file that are known before an answer is read.
type footing struct {
	digest bool  // a strong digest is known, so links count without a digest in the answer (RFC 6249, section 6)
	spoken spoke // the URL's host stated a digest in this run, so no target of its redirects is the Metalink server (C2)
}

// footing returns the footing before the first answer.
func (t *Trust) footing() footing { return footing{digest: verify.Strong(t.Claims)} }

// resolve reads hops, the answers of a request and its redirects. The error is a contradiction in the fields of the
// asked server, or that a mirror has another file and the asked server sent neither a strong digest nor usable links.
func (r *Request) resolve(hops []metalink.Hop, as role, on footing) (resolution, error) {
	x := resolution{mirror: ownAnswers(hops, as, on.spoken), answers: len(hops), spoken: on.spoken}
	x.nature = r.natureOf(hops, as)
	file, err := metalink.FromHops(hops[:x.mirror], on.digest)
	if err != nil && (file.Server == nil || asksAgain(hops, err)) { // the asked server contradicts itself
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
	// The description by the asked server counts, whatever the target of its redirect answers.
	if x.wrong != nil && x.nature != anotherFile && file.Server == nil && !verify.Strong(file.Claims) {
		return x, x.wrong
	}
	return x, nil
}

// asksAgain reports whether the answer that err is about is to the URL of the first answer. That URL is requested again
// with GET if its server does not support HEAD.
func asksAgain(hops []metalink.Hop, err error) bool {
	e, ok := errors.AsType[*metalink.HopError](err)
	return ok && e.Hop > 0 && hops[e.Hop].URL != nil && hops[e.Hop].URL.String() == hops[0].URL.String()
}

// contradiction returns an error if the digests in hops, the answers of one server, contradict each other.
func contradiction(hops []metalink.Hop) error {
	if _, err := metalink.FromHops(hops, true); is[*verify.ConflictError](err) {
		return err
	}
	return nil
}

// agrees returns an error if a mirror's digests contradict claims, the digests of the asked server (RFC 6249, section 7).
func agrees(claims []verify.Claim, h metalink.Hop) error {
	if h.Status >= 400 { // the fields are about an error page
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

// ownAnswers returns how many answers at the beginning of hops are from the asked server. For spoken, see footing.
func ownAnswers(hops []metalink.Hop, as role, said spoke) int {
	switch {
	case as == asMirror:
		return 0
	case said != neverSpoke:
		return metalink.First(hops)
	}
	return metalink.Own(hops)
}

// natureOf returns the nature of the last answer in hops, according to its header.
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

// mayReplace reports whether the last answer in hops may be a document in place of the file: r.URL or the first answer
// names a document, or the last answer is from the asked server itself and no redirect had a digest.
func (r *Request) mayReplace(hops []metalink.Hop, as role) bool {
	if as != asOrigin || len(hops) == 0 {
		return false
	}
	last := len(hops) - 1
	return r.namesDocument(hops) || metalink.AskedAt(hops, last) && !slices.ContainsFunc(hops[:last], strongly)
}

// namesDocument reports whether r.URL or the media type of the first answer is that of a document.
func (r *Request) namesDocument(hops []metalink.Hop) bool {
	return IsDocument(r.URL.Path) || announcesDocument(hops[0])
}

// follows reports whether a document that comes in place of the file is read, and the file that it describes is downloaded.
func (r *Request) follows() bool { return !r.NoMetalink && r.Described == nil && isWeb(r.URL) }

// announcesDocument reports whether the media type of h is that of a document or a torrent.
func announcesDocument(h metalink.Hop) bool {
	kind := http.Header(h.Header).Get("Content-Type")
	plain, _, _ := strings.Cut(kind, ";")
	return h.Status < 400 && (metalink.IsMediaType(kind) || strings.EqualFold(strings.TrimSpace(plain), metalink.Torrent))
}

// strongly reports whether h carries a strong digest.
func strongly(h metalink.Hop) bool {
	claims, _ := verify.FromHeader(h.Header, verify.HTTP)
	return verify.Strong(claims)
}

// decides reports whether the asked server gave a strong digest, in this answer or before, and the last answer is from
// a mirror. The digest then identifies the version. The mirror's date, ETag or 304 does not.
func (x resolution) decides() bool {
	return x.mirror < x.answers && (x.spoken == spokeNow || verify.Strong(x.file.Claims))
}

// without returns a. If a is about another file, size and validators are removed.
func (x resolution) without(a source.Answer) source.Answer {
	if x.wrong != nil {
		a.Size, a.ETag, a.LastModified = -1, "", time.Time{}
	}
	return a
}

// otherDigests returns the digests in hops[at] that do not match data, the document to which hops led, and an error if any.
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

// An inquiry has the asked server's statements about the file, from a request before bytes are fetched.
type inquiry struct {
	resolution
	answer source.Answer // without fields about another file
}

// statement returns the statement of the asked server. The size has a lower rank if a mirror answered.
func (x inquiry) statement() statement {
	st := x.stated(x.answer, byServer, nil)
	st.pin, st.asked = pinOf(x.own), x.asked
	return st
}

// An asker asks the server of a request for the header of its answer: look, glance or head.
type asker func(context.Context, network, *Request, condition) (source.Answer, error)

// inquire asks the server what the file is. If the answer contradicts itself, err and x.wrong are that contradiction. For
// spoken, see footing.
func inquire(ctx context.Context, hc network, r *Request, ask asker, c condition, said spoke) (x inquiry, err error) {
	x.spoken = said
	if x.answer, err = ask(ctx, hc, r, c); err != nil {
		return x, err
	}
	x.resolution, err = r.resolve(x.answer.Hops, r.role(), footing{verify.Strong(r.Trust.Claims), said})
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

// onTheWay returns the server's statements in the redirects before a failed answer, if these statements have a strong
// digest. Otherwise it returns x and err.
func onTheWay(r *Request, x inquiry, err error) (inquiry, error) {
	var e *source.Error
	if !errors.As(err, &e) || len(e.Hops) == 0 || r.role() != asOrigin {
		return x, err
	}
	y, wrong := r.resolve(e.Hops, asOrigin, footing{verify.Strong(r.Trust.Claims), x.spoken})
	if wrong != nil || y.nature != theFile || !verify.Strong(y.file.Claims) {
		return x, err
	}
	y.mirror = min(y.mirror, len(e.Hops)-1) // so that no size counts as that of the server
	return inquiry{resolution: y, answer: source.Answer{Hops: e.Hops, Host: e.Host, Size: -1, End: -1}}, nil
}

// inPlace reports whether a is the answer to HEAD for a document in place of the file. Not every server knows the media
// type, so inPlace fetches the first bytes if the header does not decide. size is the known size of the file (-1:
// unknown). A document of more than sniffSize bytes is assumed to be shorter than the file.
func inPlace(ctx context.Context, hc network, r *Request, a source.Answer, size int64) bool {
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

// sniffSize is the number of bytes of a file that are examined. The root element of a document begins within them.
const sniffSize = 4 << 10

// A front holds back the first bytes of an answer until they show whether the answer is the file or a document.
type front struct {
	held    []byte
	written int64 // number of held bytes that are on disk already
	refusal error // the error if the answer is a document; nil if a document may replace the file
}

// frontOf returns the front of an answer that may be a document, or nil if no bytes must, or can, be held back.
func frontOf(c *call, part *partfile.File, o *origin, a source.Answer) *front {
	if !c.req.follows() || isXML(c.req.URL) || o.swarm || a.Start >= sniffSize {
		return nil
	}
	f := &front{held: make([]byte, a.Start), written: a.Start}
	if have := part.Have(); !have.Contains(byterange.Range{End: a.Start}) {
		return nil
	}
	if !c.req.mayReplace(a.Hops, c.roleOf(o)) {
		f.refusal = mismatch(o, "%w", errInPlace)
	}
	return f
}

// isXML reports whether the path of u ends in .xml.
func isXML(u *url.URL) bool { return strings.EqualFold(path.Ext(u.Path), ".xml") }

// read reads into f the bytes of part that are already on disk. If that fails, it returns nil, and nothing is held back.
func (f *front) read(part io.ReaderAt) *front {
	if f == nil || f.written == 0 {
		return f
	}
	if _, err := part.ReadAt(f.held, 0); err != nil {
		return nil
	}
	return f
}

// decided reports whether the held bytes suffice for isDocument.
func (f *front) decided() bool {
	return len(f.held) >= sniffSize || len(f.held) >= 4 && !maybeXML(f.held)
}

// isDocument reports whether the held bytes are the beginning of a document.
func (f *front) isDocument() bool { return maybeXML(f.held) && metalink.Looks(f.held) }

// maybeXML reports whether b may be XML, so that the XML reader is not needed for most files.
func maybeXML(b []byte) bool {
	b = bytes.TrimLeft(b, "\ufeff \t\r\n")
	return len(b) == 0 || b[0] == '<' || b[0] >= 0xfe
}

// hold holds p back. It releases the held bytes once they suffice to decide, or if no more bytes are wanted.
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

// release writes the held bytes. If they are a document, it returns an error instead.
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

// settle releases the held bytes at the end of a fetch. It returns the error of release, or err, that of the fetch.
func (k *sink) settle(err error) error {
	if k.front == nil || int64(len(k.front.held)) == k.front.written || errors.Is(err, context.Canceled) {
		return err
	}
	if problem := k.release(); problem != nil && !errors.Is(problem, source.ErrEnough) {
		return problem
	}
	return err
}
