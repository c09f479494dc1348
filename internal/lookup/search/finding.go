package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"braid/source"
	"braid/verify"
)

// A Finding is what a search brought: digests of the file that its asked server has published beside it.
type Finding struct {
	Claims []verify.Claim // strong ones, by the asked server
	Places []Place        // in the order in which they were looked at
	Date   time.Time      // of the newest list in Claims, by its Last-Modified; zero: unknown
}

// A Place is where a digest of the file was looked for, and its answer.
type Place struct {
	URL    string         // masked
	Claims []verify.Claim // about the file
	// By is the host that answered, if it is not the asked server. Its claims are then no evidence.
	By  string
	Err error // why there are no claims
}

// String says what became of a place, in a few words.
func (p Place) String() string {
	switch {
	case p.Err != nil:
		err := p.Err
		if e, ok := errors.AsType[*source.Error](err); ok {
			err = &source.Error{Err: e.Err, Status: e.Status, Fault: e.Fault} // the host is in the URL
		}
		return fmt.Sprintf("%s: %v", p.URL, err)
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
func (f Finding) Agreeing(digests []verify.Digest) (list Place, ok bool) {
	right := func(c verify.Claim) bool { return slices.Contains(digests, c.Digest) }
	for _, p := range f.Places {
		if p.By != "" && slices.ContainsFunc(p.Claims, right) {
			return p, true
		}
	}
	return Place{}, false
}

// Where names the places, for an error.
func (f Finding) Where() string {
	var all []string
	for _, p := range f.Places {
		all = append(all, p.String())
	}
	return strings.Join(all, "; ")
}
