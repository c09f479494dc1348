// Package lookup finds digests in lists of checksums, in the indexes of folders, and in the answers of forges, for files
// whose servers send no digest. It decides which lists to request, and reads what comes. It sends no requests itself.
//
//	names, err := lookup.Names(folder, page)
//	for _, c := range lookup.Candidates(names, "disk.iso") {
//		claims, err := c.Read("disk.iso", body, verify.HTTPS)
//		...
//	}
package lookup

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"braid/internal/mask"
	"braid/verify"
	"braid/verify/sums"
)

// A Candidate is the name of a list that may have the digest of a file.
type Candidate struct {
	Name string
	// Own reports that the list is named after the file, as disk.iso.sha256 is. Only such a list may have a digest
	// without a name.
	Own bool
}

// Guesses returns the lists to ask for where nothing shows what a folder has.
func Guesses(file string) []Candidate {
	return []Candidate{
		{Name: file + ".sha256", Own: true}, {Name: "SHA256SUMS"}, {Name: "sha256sum.txt"}, {Name: "checksums.txt"},
	}
}

// Candidates returns the names that may be lists with a strong digest of file, the best first: those named after the
// file, then those of the stronger algorithm, then those whose names are more like that of the file, as a folder may
// have a list for each version.
func Candidates(names []string, file string) (all []Candidate) {
	files := map[string]bool{}
	for _, n := range names {
		files[n] = true
	}
	for _, n := range names {
		switch {
		case n == file:
		case isOwn(n, file):
			all = append(all, Candidate{n, true})
		case isList(n) && !isOfOther(n, files):
			all = append(all, Candidate{n, false})
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int {
		if a.Own != b.Own {
			return map[bool]int{true: -1, false: 1}[a.Own]
		}
		return cmp.Or(cmp.Compare(strength(b.Name), strength(a.Name)),
			cmp.Compare(common(b.Name, file), common(a.Name, file)),
			cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(all)
}

// isOwn reports whether name is that of a list of file alone: disk.iso.sha256, disk.iso.SHA512SUM, disk.iso.sha256.txt.
func isOwn(name, file string) bool {
	ending, ok := strings.CutPrefix(name, file+".")
	return ok && isEnding(ending)
}

// isEnding reports whether a list of one file may end so, behind the name of the file and a dot.
func isEnding(s string) bool {
	s = strings.TrimSuffix(strings.ToLower(s), ".txt")
	switch strings.TrimSuffix(strings.TrimSuffix(s, "s"), "sum") {
	case "sha256", "sha512", "sha", "sha-256", "sha-512":
		return true
	}
	return false
}

// isOfOther reports whether a list is named after one of files.
func isOfOther(name string, files map[string]bool) bool {
	for i, c := range name {
		if c == '.' && files[name[:i]] && isEnding(name[i+1:]) {
			return true
		}
	}
	return false
}

// Words in the names of lists and of lists of weak digests, and endings of other files.
var (
	listWords = []string{"checksum", "sha256", "sha512", "shasums", "digests"}
	weakWords = []string{"md5", "sha1", "sha-1", "b2sum", "blake", "sha224", "sha384"}
	noList    = []string{
		".asc", ".sig", ".sign", ".gpg", ".minisig", ".p7s", ".pem", ".crt", ".cert", ".json", ".jsonl", ".sigstore",
		".bundle", ".gz", ".xz", ".bz2", ".zst", ".tgz", ".zip", ".tar", ".7z", ".deb", ".rpm", ".apk", ".exe", ".msi",
		".dmg", ".iso", ".img", ".whl", ".gem", ".jar", ".html", ".htm", ".md", ".rst", ".pdf", ".torrent", ".meta4",
		".metalink", ".go", ".py", ".sh", ".rb", ".old", ".bak", ".orig", ".prev", ".save", "~",
	}
)

// isList reports whether name may be that of a list of strong digests.
func isList(name string) bool {
	s := strings.ToLower(name)
	has := func(word string) bool { return strings.Contains(s, word) }
	ends := func(ending string) bool { return strings.HasSuffix(s, ending) }
	return slices.ContainsFunc(listWords, has) && !slices.ContainsFunc(noList, ends) &&
		(strength(name) > 0 || !slices.ContainsFunc(weakWords, has))
}

// strength returns the rank of the algorithm that the name of a list implies, or 0 if it implies none.
func strength(name string) int {
	s := strings.ReplaceAll(strings.ToLower(name), "sha-", "sha")
	switch {
	case strings.Contains(s, "sha512"), strings.Contains(s, "shasums512"):
		return 2
	case strings.Contains(s, "sha256"), strings.Contains(s, "shasums256"):
		return 1
	}
	return 0
}

// common returns the length of the common prefix of two names, ignoring case.
func common(a, b string) (n int) {
	a, b = strings.ToLower(a), strings.ToLower(b)
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// beside ends the field of a claim, behind the name of the list.
const beside = " beside it"

// Merge returns the claims of several lists. Equal claims are joined, and the field then names all of the lists. Two
// digests of one algorithm are a *verify.ConflictError.
func Merge(lists ...[]verify.Claim) (all []verify.Claim, err error) {
	for _, claims := range lists {
		if err := verify.Agree(all, claims); err != nil {
			return nil, err
		}
		for _, c := range claims {
			same := func(o verify.Claim) bool { return o.Digest == c.Digest && o.Channel == c.Channel && o.By == c.By }
			i := slices.IndexFunc(all, same)
			if i < 0 {
				all = append(all, c)
				continue
			}
			all[i].Field = strings.TrimSuffix(all[i].Field, beside) + " and " + c.Field
		}
	}
	verify.SortClaims(all)
	return all, nil
}

// Why an answer is of no use.
var (
	// ErrNoList is the error of an answer that is no list of checksums in every line.
	ErrNoList = errors.New("no list of checksums")
	// ErrNotInIt is the error of a list without a strong digest of the file.
	ErrNotInIt = errors.New("no digest of this file")
)

// blank reports whether all digits are zeros, as they are where a digest is still to be filled in.
func blank(d verify.Digest) bool { return strings.Trim(d.Hex(), "0") == "" }

// Read returns the strong digests of file in a list that came over a channel. Each line must be a line of a list. The
// field of a claim names the list. The error is ErrNoList, ErrNotInIt or, if the list has two digests of file, a
// *verify.ConflictError.
func (c Candidate) Read(file string, data []byte, over verify.Channel) (claims []verify.Claim, err error) {
	list, err := sums.Read(c.Name, data)
	if err != nil {
		return nil, ErrNoList
	}
	for e, wrong := range list.Lines() {
		if wrong != nil {
			return nil, ErrNoList
		}
		nameless := e.Name == "" || e.Name == "-"
		if strings.TrimPrefix(e.Name, "./") != file && !(nameless && c.Own) || !e.Digest.Algorithm().Strong() ||
			blank(e.Digest) {
			continue
		}
		claim := []verify.Claim{{Digest: e.Digest, Field: mask.Escape(c.Name) + beside, Channel: over}}
		if err := verify.Agree(claims, claim); err != nil {
			return nil, err
		}
		if !slices.Contains(claims, claim[0]) {
			claims = append(claims, claim...)
		}
	}
	if len(claims) == 0 {
		return nil, ErrNotInIt
	}
	verify.SortClaims(claims)
	return claims, nil
}
