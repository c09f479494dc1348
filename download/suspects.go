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

// shows adds what an answer shows. An answer that shows less changes nothing.
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

// candidates returns the sources that may have the right file of size bytes, the likelier ones first. It
// leaves out a source that was excluded for another size or digest, unless one source alone gave the size. It
// keeps one that sent wrong bytes: of two that differ it is not known which is wrong.
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

// doubts ranks sources by their faults: sent wrong bytes, failed, or sent all of a wrong file.
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

// share ranks sources with the same doubts: the asked server before mirrors or, if a document describes the
// file, by how much they sent of the wrong one.
func (o *origin) share(described bool) int64 {
	switch {
	case described:
		return o.bytes
	case o.first:
		return -1
	}
	return 0
}
