// Package lookup finds digests in lists of checksums, in the indexes of folders, and in the answers of forges, for
// files whose servers send no digest. It decides which lists to request, and reads the answers. It sends no requests
// itself.
//
//	names, err := lookup.Names(folder, page)
//	for _, c := range lookup.NewIndex(names).Candidates("disk.iso") {
//		list, err := c.Read(body)
//		...
//		claims, err := list.Claims("disk.iso", verify.HTTPS)
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

// Guesses returns the lists to request if the names in the folder of file are not known.
func Guesses(file string) []Candidate {
	return []Candidate{
		{Name: file + ".sha256", Own: true}, {Name: "SHA256SUMS"}, {Name: "sha256sum.txt"}, {Name: "checksums.txt"},
	}
}

// An Index has the names of the files in a folder. It finds the lists for one file without looking at all names,
// because a batch asks about each file of a folder.
type Index struct {
	has   map[string]bool
	own   map[string][]string // names of lists by the file after which they are named
	lists []string            // names of other lists
}

// NewIndex returns the index of a folder with these names.
func NewIndex(names []string) *Index {
	x := &Index{has: make(map[string]bool, len(names)), own: map[string][]string{}}
	for _, n := range names {
		x.has[n] = true
	}
	for _, n := range names {
		ofOther := false
		for i, c := range n {
			if c == '.' && isEnding(n[i+1:]) {
				x.own[n[:i]] = append(x.own[n[:i]], n)
				ofOther = ofOther || x.has[n[:i]]
			}
		}
		if !ofOther && (isList(n) || x.isSignedList(n)) {
			x.lists = append(x.lists, n)
		}
	}
	return x
}

// isSignedList reports whether name, such as SHA256SUMS.asc, may be that of a list with a signature around it. If the
// folder also has SHA256SUMS, name is that of a signature alone.
func (x *Index) isSignedList(name string) bool {
	plain, ok := strings.CutSuffix(name, ".asc")
	if !ok || x.has[plain] || !isList(plain) {
		return false
	}
	for i, c := range plain {
		if c == '.' && isEnding(plain[i+1:]) { // name is that of a list of one file
			return false
		}
	}
	return true
}

// Has reports whether the folder has a file of that name.
func (x *Index) Has(file string) bool { return x.has[file] }

// Candidates returns the names of files that may be lists with a strong digest of file, the best first. Lists named
// after file come first. The others are ordered by the strength of their algorithm, and then by the length of the
// prefix that they share with file, because a folder may have one list per version. Lists named after other files are
// omitted.
func (x *Index) Candidates(file string) (all []Candidate) {
	for _, n := range x.own[file] {
		all = append(all, Candidate{n, true})
	}
	for _, n := range x.lists {
		if n != file && !isOwn(n, file) {
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

// isOwn reports whether name is the name of a list of file alone: disk.iso.sha256, disk.iso.SHA512SUM,
// disk.iso.sha256.txt.
func isOwn(name, file string) bool {
	ending, ok := strings.CutPrefix(name, file+".")
	return ok && isEnding(ending)
}

// isEnding reports whether the name of a list of one file may consist of the name of the file, a dot and s.
func isEnding(s string) bool {
	if len(s) > len("sha-256sums.txt") { // a name may have thousands of dots
		return false
	}
	s = strings.TrimSuffix(strings.ToLower(s), ".txt")
	switch strings.TrimSuffix(strings.TrimSuffix(s, "s"), "sum") {
	case "sha256", "sha512", "sha", "sha-256", "sha-512":
		return true
	}
	return false
}

// listWords are in the names of lists, and weakWords in those of lists of weak digests. noList has the endings of other
// files.
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

// isList reports whether name may be the name of a list of strong digests.
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

// beside ends the field of a claim, after the names of the lists.
const (
	beside = " beside it"
	and    = " and " // between the names of several lists
)

// Field returns the field of the claims in the list c.
func (c Candidate) Field() string { return mask.Escape(c.Name) + beside }

// Named returns the list called name as a candidate for file.
func Named(name, file string) Candidate { return Candidate{name, isOwn(name, file)} }

// Lists returns the names of the lists beside the file that have the claims.
func Lists(claims []verify.Claim) (names []string) {
	for _, c := range claims {
		for _, f := range Fields(c.Field) {
			if name, ok := strings.CutSuffix(f, beside); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ofFeed begins the field of a claim that a feed published.
const ofFeed = "the feed "

// FieldOfFeed returns the field of the claims that the feed called name published.
func FieldOfFeed(name string) string { return ofFeed + name }

// IsOfFeed reports whether field is that of the claims of a feed.
func IsOfFeed(field string) bool { return strings.HasPrefix(field, ofFeed) }

// Fields returns the fields of the lists, or of the forge, that have a claim. field is that of the claim.
func Fields(field string) []string {
	names, ok := strings.CutSuffix(field, beside)
	if !ok {
		return []string{field}
	}
	all := strings.Split(names, and)
	for i := range all {
		all[i] += beside
	}
	return all
}

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
			all[i].Field = strings.TrimSuffix(all[i].Field, beside) + and + c.Field
		}
	}
	verify.SortClaims(all)
	return all, nil
}

// Reasons why an answer is of no use.
var (
	// ErrNoList is the error of an answer with a line that no list of checksums has, or without a line.
	ErrNoList = errors.New("no list of checksums")
	// ErrNotInIt is the error of a list without a strong digest of the file.
	ErrNotInIt = errors.New("no digest of this file")
)

// blank reports whether all digits are zeros, as in a list with a digest that is still to be filled in.
func blank(d verify.Digest) bool { return strings.Trim(d.Hex(), "0") == "" }

// A List has the strong digests of a list of checksums by the names of their files. It does not change, and is safe for
// concurrent use.
type List struct {
	of      Candidate
	first   map[string]int32 // index in entries of the first digest of a file
	entries []entry
}

// An entry is a digest of a file.
type entry struct {
	digest verify.Digest
	next   int32 // index in entries of another digest of the same file, or -1
}

// Read parses the data of a list. If a line cannot be a line of a list, or there is none, the error is ErrNoList.
func (c Candidate) Read(data []byte) (*List, error) {
	list, err := sums.Read(c.Name, data)
	if err != nil {
		return nil, ErrNoList
	}
	l, empty := &List{of: c, first: map[string]int32{}}, true
	for e, wrong := range list.Lines() {
		empty = false
		if wrong != nil {
			return nil, ErrNoList
		}
		if !e.Digest.Algorithm().Strong() || blank(e.Digest) {
			continue
		}
		name := strings.TrimPrefix(e.Name, "./")
		next, ok := l.first[name]
		if !ok {
			next = -1
		}
		l.first[name], l.entries = int32(len(l.entries)), append(l.entries, entry{e.Digest, next})
	}
	if empty {
		return nil, ErrNoList
	}
	return l, nil
}

// Size returns about how many bytes of memory the list needs in addition to its text.
func (l *List) Size() int { return 150 * len(l.entries) }

// Claims returns the strong digests of file in a list that came over a channel. The field of a claim names the list. The
// error is ErrNotInIt or, if the list has two digests of file, a *verify.ConflictError.
func (l *List) Claims(file string, over verify.Channel) (claims []verify.Claim, err error) {
	names := []string{file}
	if l.of.Own {
		names = append(names, "", "-") // a list named after its file may omit the name
	}
	for _, name := range names {
		i, ok := l.first[name]
		for ; ok && i >= 0; i = l.entries[i].next {
			claim := []verify.Claim{{Digest: l.entries[i].digest, Field: l.of.Field(), Channel: over}}
			if err := verify.Agree(claims, claim); err != nil {
				return nil, err
			}
			if !slices.Contains(claims, claim[0]) {
				claims = append(claims, claim...)
			}
		}
	}
	if len(claims) == 0 {
		return nil, ErrNotInIt
	}
	verify.SortClaims(claims)
	return claims, nil
}
