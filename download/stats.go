package download

import (
	"time"
)

// stats counts what arrived and how fast, for people.
type stats struct {
	arrived, fresh int64
	ring           [60]int64 // arrived at the last beats
	next           int
	beats          int
}

func (t *stats) add(n, fresh int64) {
	t.arrived += n
	t.fresh += fresh
}

// beat records the count; rate looks back over the beats.
func (t *stats) beat() {
	t.ring[t.next] = t.arrived
	t.next = (t.next + 1) % len(t.ring)
	t.beats++
}

// rate is the mean of the last three seconds, in bytes a second.
func (t *stats) rate() float64 {
	n := min(t.beats, len(t.ring))
	if n < 2 {
		return 0
	}
	newest := t.ring[(t.next+len(t.ring)-1)%len(t.ring)]
	oldest := t.ring[(t.next+len(t.ring)-n)%len(t.ring)]
	return float64(newest-oldest) / (time.Duration(n-1) * beat).Seconds()
}

// rememberBeats: what is learned of the servers' speeds is written so often.
const rememberBeats = int(30 * time.Second / beat)

// syncBeats: what is on the disk for good is at most this many beats old.
const syncBeats = int(5 * time.Second / beat)
