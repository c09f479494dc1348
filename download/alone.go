package download

import (
	"cmp"
	"net/url"
	"slices"

	"braid/address"
)

// mostSingle is how many sources are asked for the whole file, one after another, when it is wrong and nothing tells where
// (rules 39 and 40). Each costs as much as the file.
const mostSingle = 4

// A soloist is a source that may be asked for the whole file alone.
type candidate struct {
	url   *url.URL
	named address.Scope // who named it (rule 63)
}

// candidates are the sources that may have the right file of size bytes, the likelier ones first. One that was excluded for another size or
// digest does not count, unless only another source said how long the file is. One that was found to lie does: of two that differ it is
// not known which one lies, and pieces may be wrong themselves.
func (x *sources) candidates(size int64, unsized, described bool) (out []candidate) {
	all := slices.DeleteFunc(slices.Clone(x.all), func(o *origin) bool { return o.swarm || o.other && !unsized })
	slices.SortStableFunc(all, func(a, b *origin) int {
		return cmp.Or(cmp.Compare(a.doubts(size), b.doubts(size)), cmp.Compare(a.share(described), b.share(described)))
	})
	for _, o := range all[:min(mostSingle, len(all))] {
		out = append(out, candidate{o.url, o.named})
	}
	return out
}

// doubts is how little is to be expected of a source: it lied, as it seems; it failed; or it has brought all of a wrong file, so that
// it has one, or had when it was asked.
func (o *origin) doubts(size int64) int {
	switch {
	case size > 0 && o.brought.Len() == size:
		return 3
	case o.err != nil && !o.up && !o.banned:
		return 2
	case o.banned:
		return 1
	}
	return 0
}

// share orders sources of which the same is to be expected: the server that the user asked before mirrors; where a document vouches
// for the file, one that brought less of the wrong one.
func (o *origin) share(described bool) int64 {
	switch {
	case described:
		return o.bytes
	case o.first:
		return -1
	}
	return 0
}
