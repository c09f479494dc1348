package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/metalink"
	"braid/verify"
)

// makes returns what is generated for a file: the enabled documents that do not exist beside the file. Nothing is
// generated for a file that is a document, or if the document would contain a name that clients refuse.
func (s *Server) makes(name string) (w wants) {
	if _, ok := documentType(name); ok || metalink.IsOwn(path.Base(name)) {
		return wants{}
	}
	w.pieces = s.meta4 && metalink.CheckPath(path.Base(name)) == nil && !s.beside(name, meta4Suffix)
	w.signature = s.digests.signer != nil && !s.isSigned(name)
	return w
}

// isSigned reports whether a signature is beside the file.
func (s *Server) isSigned(name string) bool {
	return slices.ContainsFunc(documentKinds, func(kind documentKind) bool {
		return isSignature(kind) && s.beside(name, kind.suffix)
	})
}

// isSignature reports whether documents of a kind are signatures.
func isSignature(kind documentKind) bool { return kind.read == nil }

// beside reports whether an entry with that suffix exists beside the file.
func (s *Server) beside(name, suffix string) bool {
	_, err := s.root.Stat(filepath.FromSlash(name + suffix))
	return err == nil
}

// document reports whether w includes documents of that kind.
func (s *Server) document(w wants, kind documentKind) bool {
	return w.pieces && kind.suffix == meta4Suffix || w.signature && s.signs(kind)
}

// signs reports whether documents of that kind are the signatures that s makes.
func (s *Server) signs(kind documentKind) bool {
	return s.digests.signer != nil && kind.suffix == s.digests.signer.Kind().Beside[0]
}

// offers reports whether a document of that kind is generated for v.
func (s *Server) offers(v *version, kind documentKind) bool {
	return s.document(v.makes, kind) && (!s.signs(kind) || v.signature != "")
}

// serveMade answers a request for a document that is not in the folder. The answer is a generated document, if the file
// has one.
func (s *Server) serveMade(res *response, r *http.Request, document string) {
	data, err := s.make(r, document)
	if err != nil {
		s.refuse(res, document, err)
		return
	}
	digest, err := sum(r.Context(), bytes.NewReader(data))
	if err != nil {
		s.refuse(res, document, err)
		return
	}
	identify(res.Header(), document, digest)
	http.ServeContent(res, withRanges(r, int64(len(data))), path.Base(document), time.Time{}, bytes.NewReader(data))
}

// make returns the generated document of that name.
func (s *Server) make(r *http.Request, document string) ([]byte, error) {
	if path.Base(document) == sumsName {
		return s.sums(r.Context(), document)
	}
	i := slices.IndexFunc(documentKinds, func(kind documentKind) bool { return kind.suffix == path.Ext(document) })
	if i < 0 {
		return nil, fs.ErrNotExist
	}
	kind := documentKinds[i]
	name := strings.TrimSuffix(document, kind.suffix)
	if path.Base(name) == sumsName && s.signs(kind) && !s.isFile(name) {
		return s.signSums(r.Context(), name)
	}
	if !s.document(s.makes(name), kind) || !s.isFile(name) {
		return nil, fs.ErrNotExist
	}
	v, err := s.open(r.Context(), name)
	if err != nil {
		return nil, err
	}
	defer v.file.Close()
	switch {
	case !s.offers(v, kind):
		return nil, fs.ErrNotExist
	case s.signs(kind):
		return []byte(v.signature), nil
	}
	mirrors := s.copies(r, name)
	if len(mirrors) == 0 { // RFC 5854, section 4.1.2: "at least one" URL
		return nil, fs.ErrNotExist
	}
	f := metalink.File{Name: path.Base(name), Size: v.info.Size(), Claims: []verify.Claim{{Digest: v.digest}}, Mirrors: mirrors}
	if !v.pieces.IsZero() {
		f.Pieces = []verify.Pieces{v.pieces}
	}
	if sig, ok := s.signature(name, v); ok {
		f.Signatures = []metalink.Signature{sig}
	}
	return metalink.Format(metalink.Document{Generator: "braid", Files: []metalink.File{f}})
}

// isFile reports whether name is a regular file. Opening a pipe would block.
func (s *Server) isFile(name string) bool {
	info, err := s.root.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

// copies returns the locations of the file: at mirrors, at the server that s is a mirror of, and at s itself.
func (s *Server) copies(r *http.Request, name string) (all []metalink.Mirror) {
	self := s.self
	if self == nil {
		self = &url.URL{Scheme: "http", Host: r.Host, Path: prefix(r) + "/"}
		if r.TLS != nil {
			self.Scheme = "https"
		}
	}
	own := Mirror{URL: self}
	for _, m := range s.mirrorsOf(name, self.Host, self.Path+name) {
		if at, ok := m.At(name); ok {
			all = append(all, at)
		}
	}
	if s.mirrorOf != nil {
		if at, ok := (Mirror{URL: s.mirrorOf}).At(name); ok {
			all = append(all, at)
		}
	}
	if at, ok := own.At(name); ok && own.check() == nil {
		all = append(all, at)
	}
	return all
}

// maxArmor is the maximum size of a signature in bytes, enough for signatures by a dozen keys.
const maxArmor = 64 << 10

// signature returns the signature of the file, generated or from beside the file, if documents may contain its text.
func (s *Server) signature(name string, v *version) (sig metalink.Signature, ok bool) {
	if v.signature != "" && v.makes.signature {
		kind := s.digests.signer.Kind()
		return metalink.Signature{Type: kind.Types[0], Text: strings.TrimSpace(v.signature)}, true
	}
	for _, suffix := range []string{armorSuffix, minisignSuffix} {
		if sig, ok = metalink.TextSignature(s.small(name + suffix)); ok {
			return sig, true
		}
	}
	return sig, false
}

// small returns the content of a file of at most maxArmor bytes, or nil.
func (s *Server) small(name string) []byte {
	if !s.isFile(name) {
		return nil
	}
	f, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxArmor+1))
	if err != nil || len(data) > maxArmor {
		return nil
	}
	return data
}

// sumsName is the name of the list of the digests of a folder's files, in the format of sha256sum. The list is generated
// for a folder that has none.
const sumsName = "SHA256SUMS"

const (
	// maxSums is the maximum number of entries of a folder for which a list is generated.
	maxSums = 10_000
	// sumsTime limits how long a request waits for the digests of a list. Clients wait for half a minute and more.
	sumsTime = 20 * time.Second
	// mostSumsTime limits the time that a list may take to be kept, and so how long it is kept (see pages): a file may
	// change without a change of the folder.
	mostSumsTime = time.Second / 2
)

// makesSums reports whether the list of that path is generated: neither the list is in the folder, nor a signature, which
// would be that of another list.
func (s *Server) makesSums(list string) bool { return !s.beside(list, "") && !s.isSigned(list) }

// sums returns the generated list of that path. The files are hashed one after the other, so that a large folder delays
// no requests for files. After sumsTime, the error is context.DeadlineExceeded. A later request continues there.
func (s *Server) sums(ctx context.Context, list string) ([]byte, error) {
	if !s.makesSums(list) {
		return nil, fs.ErrNotExist
	}
	folder, err := s.root.Open(filepath.FromSlash(path.Dir(list)))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return s.pages.of(ctx, list, folder, func() (data []byte, entries int, err error) {
		ctx, cancel := context.WithTimeout(s.digests.ctx, s.sumsTime) // requests of other clients wait for the same list
		defer cancel()
		began := time.Now()
		if data, entries, err = s.makeSums(ctx, path.Dir(list), folder); time.Since(began) > mostSumsTime {
			entries = 0
		}
		return data, entries, err
	})
}

// makeSums returns the list of the files of a folder. It leaves out files that cannot be read or are being changed. The
// names need no escapes, because names with a backslash or a line break are not served.
func (s *Server) makeSums(ctx context.Context, folder string, open *os.File) (data []byte, n int, err error) {
	entries, err := open.ReadDir(maxSums + 1)
	if n = len(entries); n > maxSums || err != nil && err != io.EOF {
		return nil, n, cmp.Or(err, fs.ErrNotExist)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var b bytes.Buffer
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if e.IsDir() || !safeName(e.Name()) || e.Name() == "-" || metalink.IsOwn(e.Name()) { // "-" is standard input
			continue
		}
		info, err := s.root.Stat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		found, err := s.digests.of(ctx, name, info, s.makes(name))
		switch {
		case err == nil:
			fmt.Fprintf(&b, "%s  %s\n", found.digest.Hex(), e.Name())
		case ctx.Err() != nil:
			return nil, n, ctx.Err()
		case errors.Is(err, errClosed) || outOfOrder(err):
			return nil, n, err
		}
	}
	if b.Len() == 0 {
		return nil, n, fs.ErrNotExist
	}
	return b.Bytes(), n, nil
}

// signSums returns the signature of the generated list of that path.
func (s *Server) signSums(ctx context.Context, list string) ([]byte, error) {
	data, err := s.sums(ctx, list)
	if err != nil {
		return nil, err
	}
	signing := s.digests.beginSignature(list)
	if signing == nil {
		return nil, fs.ErrNotExist
	}
	signing.Write(data)
	return signing.Signature()
}
