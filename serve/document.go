package serve

import (
	"encoding/xml"
	"io"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"braid/verify"
)

// A documentKind is a kind of document about a file: its name is the file's with suffix appended.
type documentKind struct {
	suffix, media string
	// read finds out which files a document describes; nil if it does not name files.
	read func(io.Reader) ([]described, error)
}

var documentKinds = []documentKind{
	{".meta4", "application/metalink4+xml", readMeta4},
	{".torrent", "application/x-bittorrent", readTorrent},
	{".asc", "application/pgp-signature", nil},
	{".p7m", "application/pkcs7-mime", nil},
	{".p7s", "application/pkcs7-signature", nil},
}

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
	read map[string]verdict // by path of the document
}

// A verdict is what one version of a document says of one version of a file.
type verdict struct {
	document stamp
	file     verify.Digest
	name     string // what the document calls the file; "": it does not say
	ok       bool   // it may be about the file
}

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
	seen := s.documents.read[document]
	if seen.document == stampOf(info) && seen.file == v.digest {
		return seen.name, seen.ok
	}
	seen = verdict{document: stampOf(info), file: v.digest}
	seen.name, seen.ok = s.judge(document, kind, path.Base(name), v)
	if s.documents.read == nil {
		s.documents.read = map[string]verdict{}
	}
	s.documents.read[document] = seen
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

// readMeta4 reads names, sizes and digests of files in a Metalink document (RFC 5854, section 4). The digests
// of pieces, which are deeper inside, are left alone.
func readMeta4(r io.Reader) ([]described, error) {
	var document struct {
		XMLName xml.Name `xml:"urn:ietf:params:xml:ns:metalink metalink"`
		Files   []struct {
			Name   string `xml:"name,attr"`
			Size   *int64 `xml:"size"`
			Hashes []struct {
				Type  string `xml:"type,attr"`
				Value string `xml:",chardata"`
			} `xml:"hash"`
		} `xml:"file"`
	}
	if err := xml.NewDecoder(r).Decode(&document); err != nil {
		return nil, err
	}
	var files []described
	for _, f := range document.Files {
		d := described{name: f.Name, size: -1}
		if f.Size != nil {
			d.size = *f.Size
		}
		for _, h := range f.Hashes {
			if h.Type != "sha-256" {
				continue
			}
			var err error
			if d.digest, err = verify.ParseHex(verify.SHA256, strings.TrimSpace(h.Value)); err != nil {
				return nil, err
			}
		}
		files = append(files, d)
	}
	return files, nil
}
