package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Finding is what was found where the server of a file may have published its digests without saying so.
type Finding struct {
	Claims []Claim   // strong ones, by the asked server
	Places []Place   // in the order in which they were looked at
	Date   time.Time // of the newest list in Claims, by its Last-Modified; zero: unknown
}

// A Place is where a digest of the file was looked for, and its answer.
type Place struct {
	URL    string  // masked
	Claims []Claim // about the file
	// By is the host that answered, if it is not the asked server. Its claims are then no evidence.
	By  string
	Err error // why there are no claims
}

// String says what became of a place, in a few words.
func (p Place) String() string {
	switch {
	case p.Err != nil:
		return fmt.Sprintf("%s: %v", p.URL, p.Err)
	case p.By != "":
		return fmt.Sprintf("%s: a list that %s answered with, a mirror's own", p.URL, p.By)
	case len(p.Claims) == 0:
		return p.URL + ": an index"
	}
	var names []string
	for _, c := range p.Claims {
		names = append(names, c.Digest.Algorithm().String())
	}
	return p.URL + ": " + strings.Join(names, ", ")
}

// Agreeing returns the list of a mirror that says of the file what its digests are; it reports false if there is
// none. That proves nothing.
func (f Finding) Agreeing(digests []Digest) (list Place, ok bool) {
	right := func(c Claim) bool { return slices.Contains(digests, c.Digest) }
	for _, p := range f.Places {
		if p.By != "" && slices.ContainsFunc(p.Claims, right) {
			return p, true
		}
	}
	return Place{}, false
}

// Where returns the places and what each has, for an error.
func (f Finding) Where() string {
	var all []string
	for _, p := range f.Places {
		all = append(all, p.String())
	}
	return strings.Join(all, "; ")
}
