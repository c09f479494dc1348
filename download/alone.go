package download

import (
	"cmp"
	"net/url"
	"slices"

	"braid/address"
)

// mostAlone is how many sources are asked for the whole file, one after another, when it is wrong and nothing tells where
// (rules 39 and 40). Each costs as much as the file.
const mostAlone = 4

// A soloist is a source that may be asked for the whole file alone.
type soloist struct {
	url   *url.URL
	named address.Scope // who named it (rule 63)
}

// solo prepares a session with one source, after what came is wrong and could not be mended, or after such a session. It reports
// whether there is another one.
func (g *getter) solo(s *session) bool {
	p := &g.plan
	if !p.alone {
		p.alone, p.soloists, p.wrong = true, s.soloists(), s.err
		if p.said == nil { // an earlier run heard it
			said := s.file
			said.Size, said.Claims = s.size, s.claims
			p.said = &said
		}
		p.past = nil // everybody gets another chance
	}
	if len(p.soloists) == 0 {
		return false
	}
	p.origin, p.named = p.soloists[0].url, p.soloists[0].named
	p.soloists = p.soloists[1:]
	return true
}

// soloists are the sources that may have the right file, the likelier ones first. Who is out as its size or digest is another
// is none. One who was found to lie may be: of two that differ nobody knows who does, and pieces may be wrong themselves.
func (s *session) soloists() (out []soloist) {
	all := slices.DeleteFunc(slices.Clone(s.origins), func(o *origin) bool { return o.swarm || o.other })
	slices.SortStableFunc(all, func(a, b *origin) int {
		return cmp.Or(cmp.Compare(s.doubts(a), s.doubts(b)), cmp.Compare(s.share(a), s.share(b)))
	})
	for _, o := range all[:min(mostAlone, len(all))] {
		out = append(out, soloist{o.url, o.named})
	}
	return out
}

// doubts says how little is to be expected of a source: it lied, as it seems; it failed; or it has brought all of a wrong file,
// so that it has one, or had when it was asked.
func (s *session) doubts(o *origin) int {
	switch {
	case s.size > 0 && o.brought.Len() == s.size:
		return 3
	case o.err != nil && !o.up && !o.banned:
		return 2
	case o.banned:
		return 1
	}
	return 0
}

// share orders those of whom the same is to be expected: the server that the user asked before mirrors; where a document vouches
// for the file, who brought less of the wrong one.
func (s *session) share(o *origin) int64 {
	switch {
	case s.req.described():
		return o.bytes
	case o.first:
		return -1
	}
	return 0
}
