package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Finding has the digests that a server has published beside a file, and the places that were searched.
type Finding struct {
	Claims []Claim   // strong claims by the asked server
	Places []Place   // in the order of the search
	Date   time.Time // of the newest list in Claims, by its Last-Modified; zero: unknown
}

// A Place is a URL that may have had a digest of the file.
type Place struct {
	URL    string  // masked
	Claims []Claim // about the file
	// By is the host that answered, if it is not the asked server. The claims are then no evidence.
	By  string
	Err error // the reason, if Claims is empty
	// Unsigned is why the signature of the list is not accepted, if an untrusted key made it.
	Unsigned error
}

// Unsigned returns the Unsigned of the first place that has one, or nil.
func (f Finding) Unsigned() error {
	for _, p := range f.Places {
		if p.Unsigned != nil {
			return p.Unsigned
		}
	}
	return nil
}

// String returns the URL and the result.
func (p Place) String() string {
	switch {
	case p.Err != nil:
		return fmt.Sprintf("%s: %v", p.URL, p.Err)
	case p.By != "":
		return fmt.Sprintf("%s: a list from %s, a mirror", p.URL, p.By)
	case len(p.Claims) == 0:
		return p.URL + ": an index"
	}
	var names []string
	for _, c := range p.Claims {
		names = append(names, c.Digest.Algorithm().String())
	}
	text := p.URL + ": " + strings.Join(names, ", ")
	if p.Unsigned != nil {
		text += fmt.Sprintf(" (%v)", p.Unsigned)
	}
	return text
}

// Agreeing returns the first list of a mirror that has one of the digests. ok is false without such a list. The list
// proves nothing.
func (f Finding) Agreeing(digests []Digest) (list Place, ok bool) {
	right := func(c Claim) bool { return slices.Contains(digests, c.Digest) }
	for _, p := range f.Places {
		if p.By != "" && slices.ContainsFunc(p.Claims, right) {
			return p, true
		}
	}
	return Place{}, false
}

// Where returns all places and their results on one line.
func (f Finding) Where() string {
	var all []string
	for _, p := range f.Places {
		all = append(all, p.String())
	}
	return strings.Join(all, "; ")
}
