package download

import (
	"context"
	"errors"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"braid/address"
	"braid/internal/small"
	"braid/source"
	"braid/verify"
	"braid/verify/sums"
)

// A List is a checksum file: a list of digests of files.
type List struct {
	sums.List
	Name string                 // for messages: masked and printable
	URL  *url.URL               // nil if it was a local file
	Over verify.Channel         // the channel over which the list came, or Signed after a good signature
	By   verify.SignatureResult // the signature, if Over is Signed
	came verify.Channel         // Over without the signature
	data []byte                 // as received, because a signature covers exactly these bytes
	away bool                   // see Client.ListElsewhere

	found bool // found by a lookup: no user, server or document named the list (rule 77)
}

// ReadList reads a list that the user gave from r. The claims of the list count as the user's. The error is an *Error.
func ReadList(r io.Reader, name string) (*List, error) {
	data, err := io.ReadAll(io.LimitReader(r, sums.MaxSize+1))
	if err == nil {
		var l *List
		if l, err = newList(path.Base(name), data, verify.User); err == nil {
			return l, nil
		}
	}
	return nil, fail(kindOf(err), "read", source.Escape(name), err, "")
}

// fetchList implements Client.List and, if away, Client.ListElsewhere.
func fetchList(ctx context.Context, hc network, req *Request, away bool) (*List, error) {
	o := req.ownOptions(false)
	o.Apart = away
	data, a, err := hc.small(ctx, req.URL, o, sums.MaxSize)
	var long *small.LongError
	if errors.As(err, &long) {
		err = &sums.LimitError{Most: sums.MaxSize, Unit: "bytes"}
	}
	var l *List
	if err == nil {
		name, _ := nameFrom(req.URL) // the name of a list may contain the algorithm
		l, err = newList(name, data, channelOf(a))
	}
	if err != nil {
		return nil, wrap(err, "read", req)
	}
	l.URL, l.away = req.URL, away
	return l, nil
}

func newList(name string, data []byte, over verify.Channel) (*List, error) {
	l, err := sums.Read(name, data)
	if name == "" {
		name = "the list"
	}
	return &List{List: l, Name: source.Escape(name), Over: over, came: over, data: data}, err
}

// Unsigned returns the list without its signature, for a request with other anchors than those of CheckSigned.
func (l *List) Unsigned() *List {
	u := *l
	u.Over, u.By = l.came, verify.SignatureResult{}
	return &u
}

// Vouch adds the list's claims about the file of r to r. The error is an *Error: of kind NoEvidence if the list has no
// claims about the file, and of kind Protocol if the list contradicts itself or the claims of r.
func (l *List) Vouch(r *Request) error {
	claims, malformed, err := l.find(r)
	if err == nil && len(malformed) > 0 && !verify.Strong(claims) && !verify.Strong(r.Trust.Claims) {
		err = malformed[0]
	}
	if err == nil {
		err = verify.Agree(r.Trust.Claims, claims)
	}
	if err != nil {
		hint := Hint("")
		if kindOf(err) == NoEvidence {
			hint = HintListed
		}
		what := "verify"
		if _, malformed := errors.AsType[*sums.Error](err); malformed {
			what = "read"
		}
		return fail(kindOf(err), what, l.Name, err, hint)
	}
	for i := range claims {
		claims[i].By = l.By
	}
	for _, m := range malformed {
		r.unreadable = append(slices.Clip(r.unreadable), l.Name+": "+m.Error()+"; ignored")
	}
	r.Trust.Claims = join(r.Trust.Claims, claims)
	return nil
}

// Has reports whether c is from the list.
func (l *List) Has(c verify.Claim) bool { return strings.HasSuffix(c.Field, " of "+l.Name) }

// find looks for the file under the names that its server or document uses, and then under the name that r gives it.
// A list in a folder above that of the file, on the same server, has files of the same name in other folders, too. So a
// line with folders must then end in the path of the file below the folder of the list, or be an end of that path.
func (l *List) find(r *Request) ([]verify.Claim, []*sums.Error, error) {
	names := namesOf(r)
	below := l.below(r)
	for i, name := range names {
		if len(name) < len(below) {
			names[i] = "./" + name
		}
	}
	if r.Name == "" {
		return l.Find(names, l.Name, l.Over)
	}
	own := []string{path.Base(r.Name)}
	switch {
	case strings.Contains(below, "/"):
		own[0] = "./" + own[0]
	case len(names) == 0:
		own = endsOf(filepath.ToSlash(filepath.Join(r.Dir, r.Name)))
	}
	claims, malformed, err := l.Find(append(names, own...), l.Name, l.Over)
	if none := (*sums.NotFoundError)(nil); len(names) > 0 && errors.As(err, &none) && len(none.Only) == 0 {
		return l.Find(names, l.Name, l.Over) // its error lists names similar to those on the server
	}
	return claims, malformed, err
}

// below returns the path of the URL of r below the folder of the list. It is empty if that folder does not contain the
// URL, or if a document describes the file of r.
func (l *List) below(r *Request) string {
	if l.URL == nil || r.URL == nil || r.Described != nil ||
		!address.SameServer(l.URL, r.URL) && !address.SameServer(r.URL, l.URL) {
		return ""
	}
	folder := strings.TrimSuffix(path.Dir(path.Clean("/"+l.URL.Path)), "/") + "/"
	below, ok := strings.CutPrefix(path.Clean("/"+r.URL.Path), folder)
	if !ok {
		return ""
	}
	return below
}

// namesOf returns the names that a list may use for the file of r: the name in a document, or the path of the URL and
// its ends (endsOf).
func namesOf(r *Request) []string {
	if r.Described != nil {
		return []string{r.Described.Name}
	}
	if r.URL == nil {
		return nil
	}
	if _, err := nameFrom(r.URL); err != nil {
		return nil
	}
	return endsOf(r.URL.Path)
}

// endsOf returns the path p, and p without its first folder, first two folders and so on.
func endsOf(p string) (ends []string) {
	folders := strings.Split(strings.Trim(path.Dir(p), "/"), "/")
	for i := range folders {
		ends = append(ends, path.Join(path.Join(folders[i:]...), path.Base(p)))
	}
	return append(ends, path.Base(p))
}
