package download

import (
	"slices"
	"time"

	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A showing is what the answers of a source show of the version of the file that it has.
type showing struct {
	asked    bool      // it is the server that the user asked, and not a mirror that this one leads to
	vouches  bool      // the digest that it gives is the one that is known
	etag     string    // strong; "" if there is none
	modified time.Time // zero if there is none
}

// shows takes note of what an answer shows. A later one that says less changes nothing.
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

// Doubts of sources that nothing speaks against. What speaks against others is positive.
const (
	doubtAsked   = -2.0 // the server that the user asked
	doubtVouches = -1.0 // a mirror whose digest is the right one
)

// doubts says how much speaks against each of several sources when one of them has brought wrong bytes: another date or tag than
// the server's (or than most have, where the server has none), and no digest. What sets one apart weighs more than what many have in
// common.
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

// reference returns what reports whether a source has another value than the asked server or, if that has none, than most have.
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
		most = "" // each has its own: that says nothing
	}
	return func(i int) bool {
		v := value(all[i])
		return v != "" && most != "" && v != most
	}
}
