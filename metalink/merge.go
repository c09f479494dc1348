package metalink

import (
	"fmt"
	"path"
	"slices"

	"braid/verify"
)

// claimField is what claims of a document are said to be from.
const claimField = "metalink"

// An OtherFileError says that a document and the server speak of different files: a document that was
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

// Merge adds what a document says of a file to what header fields say. If both give a digest by one algorithm, or a
// size, they must be equal; else the error is an *OtherFileError. Mirrors are united, those of the header first among
// equals, pieces and signatures taken. Of one digest the most trusted claim counts. Neither argument is changed.
func Merge(header, document File) (File, error) {
	if err := verify.Agree(header.Claims, document.Claims); err != nil {
		return File{}, &OtherFileError{Name: document.Name, Err: err}
	}
	if header.Size >= 0 && document.Size >= 0 && header.Size != document.Size {
		err := fmt.Errorf("it has %d bytes here and %d there", document.Size, header.Size)
		return File{}, &OtherFileError{Name: document.Name, Err: err}
	}
	m := header
	if m.Size < 0 {
		m.Size = document.Size
	}
	m.Claims = unite(header.Claims, document.Claims)
	m.Pieces, m.Signatures = document.Pieces, slices.Concat(header.Signatures, document.Signatures)
	m.Add(document.Mirrors...)
	m.addDocuments(document.Documents)
	m.Ignored = append(slices.Clip(m.Ignored), document.Ignored...)
	m.Ignored = m.Ignored[:min(len(m.Ignored), maxIgnored)]
	m.IgnoredCount += document.IgnoredCount
	m.NoDigest = !verify.Strong(m.Claims) && (header.NoDigest || len(m.Mirrors) > 0)
	return m, nil
}

// unite is the claims of both, the strongest first, of each digest the most trusted.
func unite(a, b []verify.Claim) []verify.Claim {
	all := slices.Concat(a, b)
	verify.SortClaims(all)
	return slices.CompactFunc(all, func(a, b verify.Claim) bool { return a.Digest == b.Digest })
}

// Select returns the indices of the files that one of the patterns names, as package path has them: the whole name, or
// its last part. Without patterns they are those of all files.
func Select(names, patterns []string) (chosen []int, err error) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("%s is not a pattern: %w", quote(p), err)
		}
	}
	for i, name := range names {
		named := func(p string) bool {
			whole, _ := path.Match(p, name)
			base, _ := path.Match(p, path.Base(name))
			return whole || base
		}
		if len(patterns) == 0 || slices.ContainsFunc(patterns, named) {
			chosen = append(chosen, i)
		}
	}
	return chosen, nil
}
