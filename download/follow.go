package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"braid/address"
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
	"braid/verify/sums"
)

// IsDocument reports whether name, a URL or a path, has the ending of a Metalink document or a torrent.
func IsDocument(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".meta4", ".metalink", ".torrent":
		return true
	}
	return false
}

// fileFor returns the file of the document that a request means: of the files that req.Select chooses, the file with
// the name in the URL, or the only file.
func (d *Document) fileFor(req Request) (metalink.File, error) {
	chosen, err := d.Choose(req.Select)
	if err != nil {
		return metalink.File{}, err
	}
	if asked, err := nameFrom(req.URL); err == nil {
		named := func(i int) bool { return path.Base(d.Files.Name(i)) == asked }
		if i := slices.IndexFunc(chosen, named); i >= 0 && !slices.ContainsFunc(chosen[i+1:], named) {
			return d.Files.At(chosen[i]), nil
		}
	}
	switch {
	case len(chosen) == 1:
		return d.Files.At(chosen[0]), nil
	case len(chosen) == 0:
		r := d.Refused[0]
		return metalink.File{}, fail(Local, "document", d.Name+", file "+source.Escape(r.Name), errors.New(r.Reason), "")
	}
	return metalink.File{}, fail(Usage, "download", source.Mask(req.URL), &SeveralError{d}, HintSelect)
}

// FileAt returns the file of the document that lies at the path file on disk: the file with the longest name that is an
// end of the path, else the only file with the same last segment, else the only file. The error is an *Error.
func (d *Document) FileAt(file string) (metalink.File, error) {
	at := "/" + filepath.ToSlash(filepath.Clean(file))
	var whole, last []string // names that the path ends with; names with the same last segment
	for _, name := range d.Files.Names() {
		if strings.HasSuffix(at, "/"+name) {
			whole = append(whole, name)
		}
		if strings.HasSuffix(at, "/"+path.Base(name)) {
			last = append(last, name)
		}
	}
	switch {
	case len(whole) > 0:
		last = []string{slices.MaxFunc(whole, func(a, b string) int { return cmp.Compare(len(a), len(b)) })}
	case len(last) == 0 && d.Files.Len() == 1:
		return d.Files.At(0), nil
	case len(last) == 0:
		return metalink.File{}, fail(NoEvidence, "verify", d.Name, d.selecting([]string{path.Base(at)}), "")
	}
	if len(last) == 1 {
		f, _ := d.fileNamed(last[0])
		return f, nil
	}
	e := &sums.AmbiguousError{Name: path.Base(at), Paths: last[:min(len(last), mostNames)]}
	return metalink.File{}, fail(NoEvidence, "verify",
		d.Name, e, "put the files into the folders that the document names, to tell them apart")
}

// A SeveralError is the error of a document with several files if the request does not show which of them is meant.
type SeveralError struct{ Document *Document }

func (e *SeveralError) Error() string {
	if e.Document.Torrent {
		return fmt.Sprintf("the answer is a torrent of %d files", e.Document.Files.Len())
	}
	return fmt.Sprintf("the answer is a Metalink document of %d files", e.Document.Files.Len())
}

// Choose returns the indices of the files that patterns match, or of all files if patterns is empty. Files with unsafe
// names are omitted without an error; see RefusedOf. The error is an *Error, with a *SelectError if nothing matches.
func (d *Document) Choose(patterns []string) ([]int, error) {
	chosen, err := metalink.Select(d.Files.Names(), patterns)
	if err != nil {
		return nil, fail(Usage, "select", "", err, "")
	}
	if len(chosen)+len(d.RefusedOf(patterns)) > 0 {
		return chosen, nil
	}
	return nil, fail(Usage, "select", "", d.selecting(patterns), "")
}

func (d *Document) selecting(patterns []string) *SelectError {
	return &SelectError{Patterns: patterns, Names: d.Files.Names()}
}

// RefusedOf returns the files that patterns match and whose names are not safe.
func (d *Document) RefusedOf(patterns []string) (refused []metalink.Refused) {
	for _, r := range d.Refused {
		chosen, err := metalink.Select([]string{r.Name}, patterns)
		if err == nil && len(chosen) > 0 {
			refused = append(refused, r)
		}
	}
	return refused
}

// A SelectError is the error of patterns that match no file of a document.
type SelectError struct{ Patterns, Names []string }

const mostNames = 5

// Error lists the names that are most similar to the patterns.
func (e *SelectError) Error() string {
	names := slices.Clone(e.Names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(e.likeness(b), e.likeness(a)) })
	var near []string
	for _, n := range names[:min(len(names), mostNames)] {
		near = append(near, source.Escape(n))
	}
	if more := len(names) - len(near); more > 0 {
		near = append(near, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s matches no file of the document; the document has %s", source.Escape(strings.Join(e.Patterns, ", ")),
		strings.Join(near, ", "))
}

// likeness returns how many triples of letters a name has in common with the patterns.
func (e *SelectError) likeness(name string) (n int) {
	name = strings.ToLower(name)
	for _, p := range e.Patterns {
		p = strings.ToLower(p)
		for i := 0; i+3 <= len(p); i++ {
			if strings.Contains(name, p[i:i+3]) {
				n++
			}
		}
	}
	return n
}

// renew implements Client.Renew.
func (d *Document) renew(ctx context.Context, hc network, own httpsource.Options) {
	u := d.Origin
	if !d.Dynamic || u == nil || !isWeb(u) || d.URL != nil && d.URL.String() == u.String() {
		return
	}
	o := httpsource.Options{Mirror: true, Not: own.Not, Header: own.Header, HeaderTo: own.HeaderTo,
		Secure: d.URL != nil && d.URL.Scheme == "https"}
	if d.URL != nil && sameServer(u, d.URL) {
		o = own
	}
	o.Named = address.Public | d.by
	newer, _, err := fetchDocument(ctx, hc, u, o)
	switch {
	case err == nil && newer.Torrent:
		d.note("%s, which may have a newer document, is a torrent: not used", source.Mask(u))
	case err != nil:
		d.note("%s, which may have a newer document, is not used: %v", source.Mask(u), err)
	case newer.Over >= d.Over: // d named newer, so newer is not trusted more than d
		newer.Name, newer.URL, newer.Notes, newer.Over = d.Name, d.URL, d.Notes, d.Over
		newer.redirectDigests, newer.originDigests = slices.Concat(d.redirectDigests, newer.redirectDigests),
			slices.Concat(d.originDigests, within(newer.originDigests, d.Over))
		*d = *newer
		d.note("the newer document at %s is used", source.Mask(u))
	default:
		d.extend(newer)
	}
}

// extend adds places, and missing sizes and pieces, from newer, a less trusted version of the document.
func (d *Document) extend(newer *Document) {
	for i := range d.Files.Len() {
		f := d.Files.At(i)
		o, ok := newer.fileNamed(f.Name)
		if !ok {
			continue
		}
		own, now := f.Claims, o.Claims
		if err := verify.Agree(own, now); err != nil || !verify.Strong(common(own, now)) || differs(f.Size, o.Size) {
			d.note("%s at %s is a different version: not used", source.Escape(f.Name), source.Mask(d.Origin))
			continue
		}
		both := slices.Concat(f.Mirrors, o.Mirrors)
		metalink.Sort(both)
		f.Mirrors = nil
		f.Add(both...)
		if f.Size < 0 {
			f.Size = o.Size
		}
		if len(f.Pieces) == 0 {
			f.Pieces = o.Pieces
		}
		d.Files.Set(i, f)
		d.note("%s lists %d more mirrors of %s", source.Mask(d.Origin), len(o.Mirrors), source.Escape(f.Name))
	}
}

func (d *Document) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// sameServer reports whether a and b have the same scheme, host and port.
func sameServer(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && source.HostPort(a) == source.HostPort(b)
}
