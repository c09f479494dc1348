package serve

import (
	"io"
	"path"
	"path/filepath"
	"sync"

	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/verify"
	"braid/verify/signatures"
)

// documentKind is a kind of document about a file. A document has the name of the file, with suffix appended.
type documentKind struct {
	suffix, media string
	// read returns the files that a document describes. It is nil for a kind whose documents do not name files.
	read func(io.Reader) ([]described, error)
}

var documentKinds = append([]documentKind{
	{meta4Suffix, metalink.MediaType4, readMeta4},
	{".torrent", metalink.Torrent, readTorrent},
}, signatureKinds()...)

// signatureKinds returns the kinds of documents that are signatures, one for each file name extension.
func signatureKinds() (kinds []documentKind) {
	for _, kind := range signatures.All() {
		for _, f := range kind.Served {
			kinds = append(kinds, documentKind{f.Ending, f.Type, nil})
		}
	}
	return kinds
}

// meta4Suffix is the suffix of Metalink documents. They may be generated for files that have none.
const meta4Suffix = ".meta4"

// armorSuffix and minisignSuffix are the suffixes of signatures in text form, which a Metalink document can contain.
const (
	armorSuffix    = ".asc"
	minisignSuffix = ".minisig"
)

// documentType returns the media type of a file that is a document.
func documentType(name string) (string, bool) {
	for _, kind := range documentKinds {
		if path.Ext(name) == kind.suffix {
			return kind.media, true
		}
	}
	return "", false
}

// described is a file as described by a document.
type described struct {
	name   string
	size   int64         // -1 if not stated
	digest verify.Digest // SHA-256; zero if not stated
}

// contradicts reports whether d cannot be a description of v.
func (d described) contradicts(v *version) bool {
	return d.size >= 0 && d.size != v.info.Size() || !d.digest.IsZero() && d.digest != v.digest
}

// documents caches the descriptions of files in documents, so that the documents are not read for each request.
type documents struct {
	mu   sync.Mutex
	read *recent[string, verdict] // by path of the document; nil before first use
}

// verdict is what one version of a document states about one version of a file.
type verdict struct {
	document stamp
	file     verify.Digest
	name     string // name of the file in the document; "" if not stated
	ok       bool   // the document may describe the file
}

// maxVerdicts is the maximum number of cached verdicts.
const maxVerdicts = 50_000

// maxDocument is the maximum size of a document that is read (rule 41). A larger document is truncated and therefore
// invalid.
const maxDocument = 8 << 20

// described reports whether a document of this kind about the file exists, and returns the name of the file in it.
func (s *Server) described(name string, kind documentKind, v *version) (string, bool) {
	document := name + kind.suffix
	info, err := s.root.Stat(filepath.FromSlash(document))
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	if kind.read == nil {
		return "", true
	}
	s.documents.mu.Lock()
	defer s.documents.mu.Unlock()
	if s.documents.read == nil {
		s.documents.read = newRecent[string](maxVerdicts, func(verdict) int { return 1 })
	}
	seen, _ := s.documents.read.get(document)
	if seen.document == stampOf(info) && seen.file == v.digest {
		return seen.name, seen.ok
	}
	seen = verdict{document: stampOf(info), file: v.digest}
	seen.name, seen.ok = s.judge(document, kind, path.Base(name), v)
	s.documents.read.put(document, seen)
	return seen.name, seen.ok
}

// judge reads a document, and returns the name of the file in it and whether responses link to it. They link to a
// document that cannot be parsed, because clients may understand it and need not trust it. They do not link to a
// document about other bytes, which was left behind when the file was replaced.
func (s *Server) judge(document string, kind documentKind, base string, v *version) (string, bool) {
	files, err := s.readDocument(document, kind)
	if err != nil {
		s.warn(document, "document cannot be read: "+err.Error())
		return "", true
	}
	name, ok := choose(files, base, v)
	if !ok {
		s.warn(document, "the document describes another version of the file, so it is not offered")
	}
	return name, ok
}

func (s *Server) readDocument(document string, kind documentKind) ([]described, error) {
	f, err := s.root.Open(filepath.FromSlash(document))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return kind.read(io.LimitReader(f, maxDocument))
}

// choose returns the name of the file in a document: from the description with the digest of v, or else from the
// description with the name base, or else from the only description that fits v. It reports false if the document
// describes only other files. The name is empty if the document describes no files.
func choose(files []described, base string, v *version) (string, bool) {
	var fitting []described
	for _, f := range files {
		if f.contradicts(v) {
			continue
		}
		if f.digest == v.digest {
			return f.name, true
		}
		fitting = append(fitting, f)
	}
	for _, f := range fitting {
		if path.Base(f.name) == base {
			return f.name, true
		}
	}
	if len(fitting) == 1 {
		return fitting[0].name, true
	}
	return "", len(files) == 0
}

// readMeta4 returns the names, sizes and digests of files in a Metalink document (RFC 5854, section 4). Documents that
// package metalink refuses are refused by clients, too.
func readMeta4(r io.Reader) ([]described, error) {
	document, err := metalink.Parse(r)
	if err != nil {
		return nil, err
	}
	var files []described
	for _, f := range document.Files {
		d := described{name: f.Name, size: f.Size}
		for _, c := range f.Claims {
			if c.Digest.Algorithm() == verify.SHA256 {
				d.digest = c.Digest
			}
		}
		files = append(files, d)
	}
	return files, nil
}

// readTorrent returns the names and sizes of files in a torrent. Torrents that package metainfo refuses are refused by
// clients, too.
func readTorrent(r io.Reader) ([]described, error) {
	torrent, err := metainfo.Parse(r)
	if err != nil {
		return nil, err
	}
	var files []described
	for _, f := range torrent.Files {
		files = append(files, described{name: f.Path(), size: f.Size})
	}
	return files, nil
}
