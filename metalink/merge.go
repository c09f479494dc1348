package metalink

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"braid/verify"
)

// claimField is the Field of a claim that comes from a document.
const claimField = "metalink"

// An OtherFileError reports that a document and the server describe different files. If a server linked the document,
// the document is then ignored. If the user gave it, the download fails.
type OtherFileError struct {
	Name string // name of the file in the document
	Err  error  // a *verify.ConflictError, or a description of the sizes
}

func (e *OtherFileError) Error() string {
	return fmt.Sprintf("metalink document, file %s: not the file of the server: %v", quote(e.Name), e.Err)
}

// Unwrap returns the underlying error.
func (e *OtherFileError) Unwrap() error { return e.Err }

// Merge combines the description of a file in header fields with the description in a document. If both have a digest
// of the same algorithm, or both have a size, the two values must be equal. Otherwise the error is an *OtherFileError.
// Among equal mirrors, those of the header come first. Pieces are taken from the document, and signatures from both. If
// several claims have the same digest, the most trusted is kept. The arguments are not modified.
func Merge(header, document File) (File, error) {
	if err := verify.Agree(header.Claims, document.Claims); err != nil {
		return File{}, &OtherFileError{Name: document.Name, Err: err}
	}
	if header.Size >= 0 && document.Size >= 0 && header.Size != document.Size {
		err := fmt.Errorf("it has %d bytes in the document and %d at the server", document.Size, header.Size)
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

// unite returns the claims of a and b, strongest first. If several claims have the same digest, the most trusted is
// kept.
func unite(a, b []verify.Claim) []verify.Claim {
	all := slices.Concat(a, b)
	verify.SortClaims(all)
	return slices.CompactFunc(all, func(a, b verify.Claim) bool { return a.Digest == b.Digest })
}

// Select returns the indices of the names that match one of the patterns, with the syntax of [path.Match]. A pattern
// matches the whole name or its last element. A pattern that begins with a slash matches the whole name only. Without
// patterns, all indices are returned.
func Select(names, patterns []string) (chosen []int, err error) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("%s is not a pattern: %w", quote(p), err)
		}
	}
	for i, name := range names {
		named := func(p string) bool {
			if anchored, ok := strings.CutPrefix(p, "/"); ok {
				whole, _ := path.Match(anchored, name)
				return whole
			}
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
