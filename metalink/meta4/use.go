package meta4

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"braid/metalink"
	"braid/verify"
)

// claimField is what claims of a document are said to be from.
const claimField = "metalink"

// Claims are the digests of the whole file as the word of the document, which came over that channel: the
// strongest first.
func (f File) Claims(over verify.Channel) []verify.Claim {
	var claims []verify.Claim
	for _, d := range f.Hashes {
		claims = append(claims, verify.Claim{Digest: d, Field: claimField, Channel: over})
	}
	return claims
}

// Metalink is f as a download takes it: the best metalink.MaxMirrors mirrors in order, each once (S5), and torrents
// as documents. NoDigest says that there are mirrors and no digest of SHA-256 or better: nothing ties the mirrors
// to each other (rule 43, as rule 30).
func (f File) Metalink(over verify.Channel) metalink.File {
	m := metalink.File{
		Size: f.Size, Claims: f.Claims(over), Pieces: f.BestPieces(), Signatures: slices.Clone(f.Signatures),
		Ignored: slices.Clone(f.Ignored), IgnoredCount: f.IgnoredCount,
	}
	mirrors := slices.Clone(f.Mirrors)
	metalink.Sort(mirrors)
	m.Add(mirrors...)
	addDocuments(&m, f.documents())
	m.NoDigest = len(m.Mirrors) > 0 && !verify.Strong(m.Claims)
	return m
}

// documents are the meta URLs as metalink has them, the best first.
func (f File) documents() (documents []metalink.Document) {
	byPriority := func(a, b MetaURL) int {
		return cmp.Compare(cmp.Or(a.Priority, NoPriority), cmp.Or(b.Priority, NoPriority))
	}
	for _, m := range slices.SortedStableFunc(slices.Values(f.MetaURLs), byPriority) {
		d := metalink.Document{URL: m.URL, Type: m.Type, Name: m.Name, By: m.By}
		if d.Type == Torrent {
			d.Type = torrentType
		}
		documents = append(documents, d)
	}
	return documents
}

// addDocuments takes those that m has not.
func addDocuments(m *metalink.File, more []metalink.Document) {
	m.Documents = slices.Clone(m.Documents)
	for _, d := range more {
		same := func(o metalink.Document) bool {
			return o.Type == d.Type && o.Name == d.Name && o.URL.String() == d.URL.String()
		}
		switch {
		case slices.ContainsFunc(m.Documents, same):
			m.Ignore(d.URL.String(), "listed before")
		case len(m.Documents) >= metalink.MaxDocuments:
			m.Ignore(d.URL.String(), "beyond the first 50 documents")
		default:
			m.Documents = append(m.Documents, d)
		}
	}
}

// An OtherFileError says that a document and the server speak of different files (rule 46): a document that was
// only linked is then ignored, one that the user gave is an error.
type OtherFileError struct {
	Name string // of the file in the document
	Err  error  // a *verify.ConflictError, or what the sizes are
}

func (e *OtherFileError) Error() string {
	return fmt.Sprintf("metalink document, file %s: not the file of the server: %v", quote(e.Name), e.Err)
}

// Unwrap gives what differs.
func (e *OtherFileError) Unwrap() error { return e.Err }

// Merge adds what a document says, which came over that channel, to what header fields say of a file. If both give
// a digest by one algorithm, or a size, they must be equal; else the error is an *OtherFileError. Mirrors are
// united, those of the header first among equals, pieces and signatures taken. Of one digest the most trusted claim
// counts (rule 64). Neither argument is changed.
func Merge(header metalink.File, f File, over verify.Channel) (metalink.File, error) {
	if err := verify.Agree(header.Claims, f.Claims(over)); err != nil {
		return metalink.File{}, &OtherFileError{Name: f.Name, Err: err}
	}
	if header.Size >= 0 && f.Size >= 0 && header.Size != f.Size {
		err := fmt.Errorf("it has %d bytes here and %d there", f.Size, header.Size)
		return metalink.File{}, &OtherFileError{Name: f.Name, Err: err}
	}
	d := f.Metalink(over)
	m := header
	if m.Size < 0 {
		m.Size = d.Size
	}
	m.Claims = unite(header.Claims, d.Claims)
	m.Pieces, m.Signatures = d.Pieces, slices.Concat(header.Signatures, d.Signatures)
	m.Add(d.Mirrors...)
	addDocuments(&m, d.Documents)
	m.Ignored = append(slices.Clip(m.Ignored), d.Ignored...)
	m.Ignored = m.Ignored[:min(len(m.Ignored), metalink.MaxIgnored)]
	m.IgnoredCount += d.IgnoredCount
	m.NoDigest = !verify.Strong(m.Claims) && (header.NoDigest || len(m.Mirrors) > 0)
	return m, nil
}

// unite is the claims of both, the strongest first, of each digest the most trusted.
func unite(a, b []verify.Claim) []verify.Claim {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b verify.Claim) int {
		return cmp.Or(cmp.Compare(b.Digest.Algorithm(), a.Digest.Algorithm()), cmp.Compare(b.Channel, a.Channel))
	})
	return slices.CompactFunc(all, func(a, b verify.Claim) bool { return a.Digest == b.Digest })
}

// Select is the files that one of the patterns names, as package path has them: the whole name, or its last part.
// Without patterns it is all files.
func Select(files []File, patterns []string) ([]File, error) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("%s is not a pattern: %w", quote(p), err)
		}
	}
	if len(patterns) == 0 {
		return files, nil
	}
	var chosen []File
	for _, f := range files {
		named := func(p string) bool {
			whole, _ := path.Match(p, f.Name)
			base, _ := path.Match(p, path.Base(f.Name))
			return whole || base
		}
		if slices.ContainsFunc(patterns, named) {
			chosen = append(chosen, f)
		}
	}
	return chosen, nil
}
