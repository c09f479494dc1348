package watch

// A Reach judges from polls whether a machine reaches feeds at all. It is for one goroutine.
type Reach struct {
	failed map[string]bool // since one was reached last
	n      int
}

// fewFailures is how many polls fail, and of how many feeds if there are as many, before a machine is taken to be cut off.
const fewFailures = 3

// Reached takes down that a feed was reached.
func (r *Reach) Reached() { *r = Reach{} }

// Failed takes down that a feed was not reached, and reports whether none of some feeds is.
func (r *Reach) Failed(feed string, feeds int) bool {
	if r.failed == nil {
		r.failed = map[string]bool{}
	}
	r.failed[feed] = true
	r.n++
	return r.n >= fewFailures && len(r.failed) >= min(feeds, fewFailures)
}
