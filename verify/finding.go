package verify

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Finding is the result of a search for digests that a server has published beside a file.
type Finding struct {
	Claims []Claim   // strong claims by the asked server
	Weak   []Claim   // weak claims by the forge, which detect accidents and are no evidence
	Places []Place   // in the order of the search
	Date   time.Time // Last-Modified of the newest list that Claims are from; zero: unknown
	Missed bool      // the asked server did not answer whether one of Places has a digest
	// Beside are the URLs of the signatures that exist beside the file, according to its forge or the index of its
	// folder. It is nil if that is unknown, and empty if there are none.
	Beside []*url.URL
	Gone   []string // the Field of the claims of each list or forge that, according to the asked server, does not exist
}

// A Place is a URL that was searched for digests of the file, and the result.
type Place struct {
	URL    string  // masked
	Claims []Claim // about the file
	// By is the host that answered; "" if it is the asked server. If By is set, Claims are no evidence.
	By  string
	Err error // the reason, if Claims is empty
	// Unsigned is the error of the list's signature, if an untrusted key made the signature; otherwise nil.
	Unsigned error
}

// Unsigned returns the first Unsigned error in f.Places, or nil.
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

// Agreeing returns the first list from a mirror that contains one of digests. If no list qualifies, ok is false. The
// list proves nothing, because it is not from the asked server.
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
