package watch

// Reach infers from polls whether the machine can reach any feed. It is not safe for concurrent use.
type Reach struct {
	failed map[string]bool // feeds not reached since the last success
	n      int
}

// fewFailures is the number of failed polls after which the machine is regarded as offline. They must be of that many
// different feeds, or of all feeds if there are fewer.
const fewFailures = 3

// Reached records that a feed was reached.
func (r *Reach) Reached() { *r = Reach{} }

// Failed records that a feed was not reached. It reports whether the machine seems to be offline. feeds is the number
// of all feeds.
func (r *Reach) Failed(feed string, feeds int) bool {
	if r.failed == nil {
		r.failed = map[string]bool{}
	}
	r.failed[feed] = true
	r.n++
	return r.n >= fewFailures && len(r.failed) >= min(feeds, fewFailures)
}
