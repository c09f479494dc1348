package recheck

import (
	"slices"
	"time"
)

// A Showing describes the version of the file at a source, according to the answers of that source.
type Showing struct {
	Asked    bool      // the source is the server that the user asked, not a mirror to which that server redirects
	Vouches  bool      // the source states the known digest
	ETag     string    // strong; "" without one
	Modified time.Time // zero without one
}

// These are the doubts about the most trusted sources. The doubts about other sources are positive.
const (
	doubtAsked   = -2.0 // the server that the user asked
	doubtVouches = -1.0 // a mirror that states the right digest
)

// doubts returns for each source how probable it is that this source sent wrong bytes; a higher number is more
// probable. A source is suspect if its date or ETag differs from that of the asked server (or of most sources), or if
// it lacks the known digest. Each of these signs adds more if few sources have it.
func doubts(all []Showing) []float64 {
	date := reference(all, func(w Showing) string {
		if w.Modified.IsZero() {
			return ""
		}
		return w.Modified.UTC().Format(time.RFC3339)
	})
	tag := reference(all, func(w Showing) string { return w.ETag })
	marks := []func(i int) bool{date, tag, func(int) bool { return true }}
	out := make([]float64, len(all))
	for _, mark := range marks {
		var marked []int
		for i, w := range all {
			if !w.Asked && !w.Vouches && mark(i) {
				marked = append(marked, i)
			}
		}
		for _, i := range marked {
			out[i] += 1 / float64(len(marked))
		}
	}
	for i, w := range all {
		switch {
		case w.Asked:
			out[i] = doubtAsked
		case w.Vouches:
			out[i] = doubtVouches
		}
	}
	return out
}

// reference returns a function that reports whether the value of a source differs from that of the asked server or, if
// the server has none, from the most common value.
func reference(all []Showing, value func(Showing) string) func(i int) bool {
	count, most := map[string]int{}, ""
	for _, w := range all {
		v := value(w)
		if w.Asked && v != "" {
			most = v
			break
		}
		if v != "" {
			if count[v]++; count[v] > count[most] {
				most = v
			}
		}
	}
	if count[most] < 2 && !slices.ContainsFunc(all, func(w Showing) bool { return w.Asked && value(w) == most }) {
		most = "" // each source has its own value
	}
	return func(i int) bool {
		v := value(all[i])
		return v != "" && most != "" && v != most
	}
}
