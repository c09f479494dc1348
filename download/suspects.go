package download

import (
	"cmp"
	"net/url"
	"slices"

	"braid/address"
	"braid/internal/recheck"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// shows adds the facts in the answer a to o.showing. A missing field changes nothing.
func (o *origin) shows(a source.Answer, claims []verify.Claim) {
	w := &o.showing
	if o.first {
		file, err := metalink.FromHops(a.Hops, true)
		w.Asked = err == nil && !elsewhere(file, a)
	}
	w.Vouches = w.Vouches || verify.Strong(common(claims, a.Claims))
	if etag := metalink.StrongETag(a.ETag); etag != "" {
		w.ETag = etag
	}
	if !a.LastModified.IsZero() {
		w.Modified = a.LastModified
	}
}

// A candidate is a source that may be asked for the whole file alone.
type candidate struct {
	url   *url.URL
	named address.Scope // of the server or document that named it
}

// candidates returns at most recheck.MostSingle sources that may have the right file, the most probable source first.
// size is the size of the wrong file. A source that was excluded for another size or digest is left out, unless unsized
// is set. A source that was banned for wrong bytes is not left out: of two sources that differ, either may be wrong.
func (x *sources) candidates(size int64, unsized, described bool) (out []candidate) {
	all := slices.DeleteFunc(slices.Clone(x.all), func(o *origin) bool { return o.swarm || o.other && !unsized })
	slices.SortStableFunc(all, func(a, b *origin) int {
		return cmp.Or(cmp.Compare(a.doubts(size), b.doubts(size)), cmp.Compare(a.share(described), b.share(described)))
	})
	for _, o := range all[:min(recheck.MostSingle, len(all))] {
		out = append(out, candidate{o.url, o.named})
	}
	return out
}

// doubts returns a rank of o: 0 without faults, 1 if it was banned, 2 if it failed without an answer, and 3 if it alone
// sent all bytes of the wrong file.
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

// share returns a rank of o among sources with the same doubts: the asked server comes before mirrors. If a document
// describes the file, the source that sent the fewest bytes comes first.
func (o *origin) share(described bool) int64 {
	switch {
	case described:
		return o.bytes
	case o.first:
		return -1
	}
	return 0
}
