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

// A documentKind is a kind of document about a file: its name is the file's with suffix appended.
type documentKind struct {
	suffix, media string
	// read finds out which files a document describes; nil if it does not name files.
	read func(io.Reader) ([]described, error)
}

var documentKinds = append([]documentKind{
	{meta4Suffix, metalink.MediaType4, readMeta4},
	{".torrent", metalink.Torrent, readTorrent},
}, signatureKinds()...)

// signatureKinds are the documents that are signatures.
func signatureKinds() (kinds []documentKind) {
	for _, kind := range signatures.All() {
		for _, f := range kind.Served {
			kinds = append(kinds, documentKind{f.Ending, f.Type, nil})
		}
	}
	return kinds
}

// What is made for files that have none.
const (
	meta4Suffix = ".meta4"
	armorSuffix = ".asc"
	pgpType     = "application/pgp-signature" // RFC 3156, section 5
)

// documentType is the media type of a file that is itself a document.
func documentType(name string) (string, bool) {
	for _, kind := range documentKinds {
		if path.Ext(name) == kind.suffix {
			return kind.media, true
		}
	}
	return "", false
}

// described is a file as a document describes it.
type described struct {
	name   string
	size   int64         // -1: not said
	digest verify.Digest // SHA-256; zero: not said
}

// contradicts says that d is not the file v.
func (d described) contradicts(v *version) bool {
	return d.size >= 0 && d.size != v.info.Size() || !d.digest.IsZero() && d.digest != v.digest
}

// documents remembers what documents say of files, so that they are not read for each request.
type documents struct {
	mu   sync.Mutex
	read *recent[string, verdict] // by path of the document; nil: nothing yet
}

// A verdict is what one version of a document says of one version of a file.
type verdict struct {
	document stamp
	file     verify.Digest
	name     string // what the document calls the file; "": it does not say
	ok       bool   // it may be about the file
}

// maxVerdicts is of how many documents it is remembered what they say.
const maxVerdicts = 50_000

// maxDocument is how much of a document is read (rule 41). What is larger is cut off and cannot be read.
const maxDocument = 8 << 20

// described says whether there is a document of this kind about the file, and what it calls the file.
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

// judge reads a document. One that cannot be read is named all the same: clients may understand it, and
// none has to believe it. One that is about other bytes, left behind when the file was replaced, is not.
func (s *Server) judge(document string, kind documentKind, base string, v *version) (string, bool) {
	files, err := s.readDocument(document, kind)
	if err != nil {
		s.warn(document, "document cannot be read: "+err.Error())
		return "", true
	}
	name, ok := choose(files, base, v)
	if !ok {
		s.warn(document, "document is not about this version of the file and is not named")
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

// choose finds the file among those of a document: the one with its digest, else the one with its name, else
// the only one. The name is "" if the document describes nothing that it could be mistaken for.
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

// readMeta4 reads names, sizes and digests of files in a Metalink document (RFC 5854, section 4). What package
// metalink refuses clients refuse too.
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

// readTorrent reads names and sizes of files in a torrent. What package metainfo refuses clients refuse too.
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
