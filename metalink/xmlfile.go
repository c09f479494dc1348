package metalink

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"braid/verify"
)

// A fileReader reads one file of a document.
type fileReader struct {
	*parser
	file  File
	begin int // line of the start tag
	urls  int
	lists []pieceList

	mirrors   []Mirror  // in document order
	documents []MetaURL // in document order
	malformed []*Error  // errors of malformed hashes
}

// file reads a file element. It calls inside for each child.
func (p *parser) file(e xml.StartElement, inside func(*fileReader, xml.StartElement) error) error {
	if p.files++; p.files > maxFiles {
		return fault(TooMuch, "it describes more than %d files", maxFiles)
	}
	f := &fileReader{parser: p, file: File{Name: attr(e, "name"), Size: -1}, begin: p.line}
	err := p.children(func(e xml.StartElement) error { return inside(f, e) })
	if err == nil {
		err = f.finish()
	}
	if e, ok := err.(*Error); ok && e.Kind != TooMuch {
		e.File = f.file.Name
	}
	return err
}

// judgeMalformed warns of malformed hashes. If no strong hash is valid, it sets File.Malformed to the error of the
// first malformed hash (rule 31).
func (f *fileReader) judgeMalformed() {
	strong := verify.Strong(f.file.Claims)
	for i, e := range f.malformed {
		if e.File = f.file.Name; i == 0 && !strong {
			f.file.Malformed = e
		}
		f.line = e.Line
		f.warn("hash of " + quote(f.file.Name) + " ignored: " + e.Why)
	}
}

// finish checks the file and passes it to take.
func (f *fileReader) finish() error {
	if err := f.finishPieces(); err != nil {
		return err
	}
	f.judgeMalformed()
	file := &f.file
	if err := CheckPath(file.Name); err != nil {
		f.doc.Refused = append(f.doc.Refused, Refused{Line: f.begin, Name: short(file.Name), Reason: err.Error()})
		return nil
	}
	if line, twice := f.lines[file.Name]; twice {
		return fault(Conflict, "a file of this name is already described in line %d", line)
	}
	f.lines[file.Name] = f.begin
	verify.SortClaims(file.Claims)
	slices.SortStableFunc(file.Pieces, strongestPieces)
	Sort(f.mirrors) // so that the better of two entries with one URL is kept
	file.Add(f.mirrors...)
	file.addDocuments(f.documents)
	file.NoDigest = len(file.Mirrors) > 0 && !verify.Strong(file.Claims)
	f.take(*file)
	return nil
}

func strongestPieces(a, b verify.Pieces) int {
	return cmp.Or(cmp.Compare(b.Algorithm(), a.Algorithm()), cmp.Compare(a.Length(), b.Length()))
}

// in4 reads a child of a file element (RFC 5854, section 4.1.2).
func (f *fileReader) in4(e xml.StartElement) error {
	if e.Name.Space != namespace4 {
		return f.skip()
	}
	switch e.Name.Local {
	case "hash":
		return f.hash(e)
	case "pieces":
		return f.pieces(e, namespace4)
	case "signature":
		return f.signature(attr(e, "mediatype"))
	case "url":
		return f.url(attr(e, "location"), priority4(e))
	case "metaurl":
		return f.metaURL(attr(e, "mediatype"), attr(e, "name"), priority4(e))
	case "size":
		return f.size()
	}
	return f.skip()
}

// in3 reads a child of a file element of Metalink 3.
func (f *fileReader) in3(e xml.StartElement) error {
	if e.Name.Space != namespace3 {
		return f.skip() // such as mm0:alternates, with older versions of the file
	}
	switch e.Name.Local {
	case "verification":
		return f.children(f.inVerification)
	case "resources":
		return f.children(f.inResources)
	case "size":
		return f.size()
	}
	return f.skip()
}

func (f *fileReader) inVerification(e xml.StartElement) error {
	if e.Name.Space != namespace3 {
		return f.skip()
	}
	switch e.Name.Local {
	case "hash":
		return f.hash(e)
	case "pieces":
		return f.pieces(e, namespace3)
	case "signature":
		media := attr(e, "type")
		if trim(strings.ToLower(media)) == "pgp" {
			media = "application/pgp-signature"
		}
		return f.signature(media)
	}
	return f.skip()
}

func (f *fileReader) inResources(e xml.StartElement) error {
	if e.Name.Space != namespace3 || e.Name.Local != "url" {
		return f.skip()
	}
	if trim(strings.ToLower(attr(e, "type"))) == "bittorrent" {
		return f.metaURL(torrentWord, "", priority3(e))
	}
	return f.url(attr(e, "location"), priority3(e))
}

// size reads the size of the file in bytes (rule 42).
func (f *fileReader) size() error {
	text, err := f.text()
	if err != nil {
		return err
	}
	n, err := number(text)
	switch {
	case err != nil:
		return fault(Invalid, "its size %s is not a number of bytes below 2^63", quote(text))
	case f.file.Size >= 0 && f.file.Size != n:
		return fault(Conflict, "it has two different sizes, %d and %d", f.file.Size, n)
	}
	f.file.Size = n
	return nil
}

// number parses a decimal number without a sign.
func number(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63) // ParseUint accepts no sign
	return int64(n), err
}

// hash reads a digest of the whole file (rule 43). A digest of an unknown algorithm is ignored.
func (f *fileReader) hash(e xml.StartElement) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	alg, ok := verify.ParseAlgorithm(trim(attr(e, "type")))
	if !ok {
		if trim(attr(e, "type")) == "" {
			f.warn("hash ignored: it has no type, which names its algorithm")
		}
		return nil
	}
	d, err := verify.ParseHex(alg, text)
	if err != nil {
		f.malformed = append(f.malformed,
			&Error{Line: f.line, Kind: Invalid, Why: "its hash " + quote(text) + ": " + err.Error(), Err: err})
		return nil
	}
	for _, have := range f.file.Claims {
		switch {
		case have.Digest == d:
			return nil
		case have.Digest.Algorithm() == alg:
			return fault(Conflict, "it has two different %v digests, %s and %s", alg, have.Digest.Hex(), d.Hex())
		}
	}
	f.file.Claims = append(f.file.Claims, verify.Claim{Digest: d, Field: claimField})
	return nil
}

// signature reads a signature of the given media type (RFC 5854, section 4.2.13).
func (f *fileReader) signature(media string) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	if media = mediaType(media); media == "" || text == "" {
		f.warn("signature ignored: it has no media type or no content")
		return nil
	}
	f.file.Signatures = append(f.file.Signatures, Signature{Type: media, Text: text})
	return nil
}

// url reads a URL of the file.
func (f *fileReader) url(location string, priority int) error {
	target, err := f.target()
	if err != nil {
		return err
	}
	u, reason := resolve(target)
	if reason != "" {
		f.file.ignore(target, reason)
		return nil
	}
	f.mirrors = append(f.mirrors, Mirror{URL: u, Pri: priority, Geo: country(location)})
	return nil
}

// metaURL reads the URL of a document about the file. Its URL and name must be as valid as those of a file (rule 45).
func (f *fileReader) metaURL(media, name string, priority int) error {
	target, err := f.target()
	if err != nil {
		return err
	}
	m := MetaURL{Type: mediaType(media), Name: name, Pri: priority}
	if m.Type == torrentWord {
		m.Type = Torrent
	}
	u, reason := resolve(target)
	if m.URL = u; reason == "" && m.Type == "" {
		reason = "a document without a type"
	}
	if reason == "" && name != "" && CheckPath(name) != nil {
		reason = "its file name is not safe"
	}
	if reason != "" {
		f.file.ignore(target, reason)
		return nil
	}
	f.documents = append(f.documents, m)
	return nil
}

// target reads a URL and counts it (rule 41).
func (f *fileReader) target() (string, error) {
	if f.urls++; f.urls > maxURLs {
		return "", &Error{Kind: TooMuch, File: f.file.Name, Why: fmt.Sprintf("it has more than %d URLs", maxURLs)}
	}
	return f.text()
}

// priority4 returns the priority of an element (RFC 5854, section 4.2.16.2).
func priority4(e xml.StartElement) int {
	n, err := number(trim(attr(e, "priority")))
	if err != nil || n < 1 || n > NoPriority {
		return NoPriority
	}
	return int(n)
}

// priority3 returns the priority for the preference of e in Metalink 3. Preferences are 100 to 1, the highest first.
func priority3(e xml.StartElement) int {
	n, err := number(trim(attr(e, "preference")))
	if err != nil || n < 1 || n > 100 {
		return NoPriority
	}
	return 101 - int(n)
}

// country returns location as an ISO 3166-1 code in capitals, or "" if location is not two letters.
func country(location string) string {
	location = strings.ToUpper(trim(location))
	if len(location) != 2 || strings.Trim(location, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	return location
}

// mediaType returns a media type in lower case without parameters, or "" if s is not valid.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s = strings.ToLower(trim(s))
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789!#$&-^_.+/") != "" {
		return ""
	}
	return s
}
