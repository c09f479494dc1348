package serve

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"net/url"
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
	w.signature = s.digests.signer != nil && !slices.ContainsFunc(documentKinds, func(kind documentKind) bool {
		return isSignature(kind) && s.beside(name, kind.suffix)
	})
	return w
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
	i := slices.IndexFunc(documentKinds, func(kind documentKind) bool { return kind.suffix == path.Ext(document) })
	if i < 0 {
		s.refuse(res, document, fs.ErrNotExist)
		return
	}
	data, err := s.make(r, strings.TrimSuffix(document, documentKinds[i].suffix), documentKinds[i])
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

// make returns a generated document of that kind about the file.
func (s *Server) make(r *http.Request, name string, kind documentKind) ([]byte, error) {
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
