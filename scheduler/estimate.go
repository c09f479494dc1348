package scheduler

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	packet      = 1460        // bytes of a TCP segment
	firstWindow = 10 * packet // what a new connection sends in its first round trip (RFC 6928)
	warmTrips   = 8           // how many round trips its window may take to grow
	maxSeconds  = 1e9         // keeps durations within their type
	hashSpeed   = 800 << 20   // what a processor hashes in a second, with some caution
)

// remaining is how long the rest takes at the present speed.
func (w *work) remaining() time.Duration {
	return time.Duration(min(float64(w.ranges.missing())/max(w.mirrors.aggregate(), 1), maxSeconds) * float64(time.Second))
}

// lag is how many seconds go by until a new request to m brings bytes at its speed: one round trip if its connection
// is alive, else one more to connect, and those that its window needs to grow. Where each answer has a connection of its own
// it is never alive, and connecting is a part of the setup.
func (w *work) lag(m *mirror, speed float64, alive bool) float64 {
	rtt := m.rtt
	if rtt == 0 {
		rtt = w.mirrors.medianRTT()
	}
	if alive && m.trips == 0 {
		return rtt.Seconds()
	}
	doublings := math.Log2(max(1, speed*rtt.Seconds()/firstWindow))
	return rtt.Seconds() * (1 + float64(max(1, m.trips)) + max(0, doublings-1))
}

// pace is how fast a fetch goes now, in bytes a second.
func (w *work) pace(f *fetch) float64 {
	if f.got == 0 && f.src.doubtful() {
		return 0
	}
	if f.got == 0 || w.now.Sub(f.src.meter.flow) < 10*slotWidth {
		if w.now.Sub(f.activeAt) > lively {
			return 0
		}
		return w.mirrors.speedOf(f.src)
	}
	if f.src.grows(w.now, 4) {
		return f.src.speed
	}
	return f.src.meter.over(w.now, time.Second)
}

// eta is how many seconds a fetch still needs.
func (w *work) eta(f *fetch) float64 {
	return float64(f.left())/max(w.pace(f), 1) + w.hangs(f)
}

const (
	hangTime  = 100 * time.Millisecond
	lastBytes = 256 << 10
)

// hangs is for how many seconds the last of a fetch will not come, by what is known: as long again as it has been quiet, if
// that is longer than a round trip. A lost packet holds up those behind it for one or some. Of more than a little, that is no
// reason to close a connection, which would cost as much.
func (w *work) hangs(f *fetch) float64 {
	quiet := w.now.Sub(f.activeAt)
	if f.got == 0 || f.left() > lastBytes || quiet < max(hangTime, f.src.rtt) || quiet.Seconds() < 4*packet/max(f.src.speed, 1) {
		return 0
	}
	return quiet.Seconds()
}

// due is in how many seconds a fetch should be through, so that the in-order hash of what follows it is done when
// all is here.
func (w *work) due(f *fetch) float64 { return w.dueAt(f.end) }

// dueAt is the same for what ends at a place of the file.
func (w *work) dueAt(end int64) float64 {
	return w.horizon(nil) - float64(w.ranges.size-end)/hashSpeed
}

// hashing is how long the in-order hash takes from a place of the file to its end.
func (w *work) hashing(from int64) time.Duration {
	return time.Duration(float64(max(w.ranges.size-from-hashSlack, 0)) / hashSpeed * float64(time.Second))
}

// A turn is a change of what all mirrors together bring.
type turn struct {
	at    float64 // seconds from now
	speed float64 // bytes a second more, or less
}

// horizon is in how many seconds everything would be here if what is missing were spread in the best way over the
// mirrors in use, and m: those that deliver pause for a request when they are through with their range, the others
// begin when a request has brought its first bytes. What a mirror cannot bring by then is for others. It is infinite
// when none is in use.
func (w *work) horizon(m *mirror) float64 {
	turns := w.turns[:0]
	for _, o := range w.mirrors {
		if o.open() || o.state == statePlanned || o == m {
			turns = w.turnsOf(turns, o)
		}
	}
	w.turns = turns
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return meet(turns, float64(w.ranges.missing()))
}

// turnsOf appends what a mirror adds.
func (w *work) turnsOf(turns []turn, m *mirror) []turn {
	speed := w.mirrors.speedOf(m)
	f := m.running
	if f == nil || f.got == 0 {
		return append(turns, turn{w.lag(m, speed, m.alive), speed})
	}
	through := float64(f.left()) / max(speed, 1)
	again := through + w.lag(m, speed, !f.cut)
	return append(turns, turn{0, speed}, turn{through, -speed}, turn{again, speed})
}

// meet is when n bytes are here, given the turns in the order of time.
func meet(turns []turn, n float64) float64 {
	now, speed := 0.0, 0.0
	for _, t := range turns {
		if brings := speed * (t.at - now); brings < n {
			n -= brings
		} else if speed > 0 {
			return now + n/speed
		}
		now, speed = t.at, max(0, speed+t.speed)
	}
	if speed <= 0 {
		return math.Inf(1)
	}
	return now + n/speed
}

// sooner reports whether a mirror that is at work will bring n bytes sooner than m, which is free, when it is through with
// its own.
func (w *work) sooner(m *mirror, n float64) bool {
	ours := w.lag(m, m.speed, m.alive) + n/m.speed
	for _, f := range w.running {
		if o := f.src; !f.ending && f.got > 0 && !o.noRanges && o.speed > 0 &&
			w.eta(f)+w.lag(o, o.speed, !f.cut)+n/o.speed < ours {
			return true
		}
	}
	return false
}

// idles reports whether no mirror at work will be free to bring n bytes before m would have brought them, so that they are
// for m, however few.
func (w *work) idles(m *mirror, n float64) bool {
	ours := w.lag(m, m.speed, m.alive) + n/m.speed + takeGain
	for _, f := range w.running {
		o := f.src
		if f.ending || o.noRanges {
			continue
		}
		if f.got == 0 || w.eta(f)+w.lag(o, o.speed, !f.cut)+n/max(o.speed, 1) < ours {
			return false
		}
	}
	return true
}
