package download

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"braid/address"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A showing describes a source's version of the file, by its answers.
type showing struct {
	asked    bool      // it is the asked server, and not a mirror that this one leads to
	vouches  bool      // the digest that it states is the known one
	etag     string    // strong; "" without one
	modified time.Time // zero without one
}

// shows adds what an answer shows. An answer that shows less changes nothing.
func (o *origin) shows(a source.Answer, claims []verify.Claim) {
	w := &o.showing
	if o.first {
		file, err := metalink.FromHops(a.Hops, true)
		w.asked = err == nil && !elsewhere(file, a)
	}
	w.vouches = w.vouches || verify.Strong(common(claims, a.Claims))
	if etag := metalink.StrongETag(a.ETag); etag != "" {
		w.etag = etag
	}
	if !a.LastModified.IsZero() {
		w.modified = a.LastModified
	}
}

// These are the doubts of sources with nothing against them. Doubts of others are positive.
const (
	doubtAsked   = -2.0 // the server that the user asked
	doubtVouches = -1.0 // a mirror that states the right digest
)

// doubts returns how much counts against each source when one of them has sent wrong bytes: another date or
// ETag than the server's (or than most have), and no digest. A mark that few share weighs more.
func doubts(all []showing) []float64 {
	date := reference(all, func(w showing) string {
		if w.modified.IsZero() {
			return ""
		}
		return w.modified.UTC().Format(time.RFC3339)
	})
	tag := reference(all, func(w showing) string { return w.etag })
	marks := []func(i int) bool{date, tag, func(int) bool { return true }}
	out := make([]float64, len(all))
	for _, mark := range marks {
		var marked []int
		for i, w := range all {
			if !w.asked && !w.vouches && mark(i) {
				marked = append(marked, i)
			}
		}
		for _, i := range marked {
			out[i] += 1 / float64(len(marked))
		}
	}
	for i, w := range all {
		switch {
		case w.asked:
			out[i] = doubtAsked
		case w.vouches:
			out[i] = doubtVouches
		}
	}
	return out
}

// reference returns a function that reports whether a source has another value than the asked server or, if
// that has none, than most have.
func reference(all []showing, value func(showing) string) func(i int) bool {
	count, most := map[string]int{}, ""
	for _, w := range all {
		v := value(w)
		if w.asked && v != "" {
			most = v
			break
		}
		if v != "" {
			if count[v]++; count[v] > count[most] {
				most = v
			}
		}
	}
	if count[most] < 2 && !slices.ContainsFunc(all, func(w showing) bool { return w.asked && value(w) == most }) {
		most = "" // each has its own
	}
	return func(i int) bool {
		v := value(all[i])
		return v != "" && most != "" && v != most
	}
}

// mostSingle is how many sources are asked for the whole file, one after another, when it is wrong in an
// unknown place. Each costs as much as the file.
const mostSingle = 4

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
	for _, o := range all[:min(mostSingle, len(all))] {
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
