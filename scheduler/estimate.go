package scheduler

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	packet      = 1460        // bytes in a TCP segment
	firstWindow = 10 * packet // bytes that a new connection sends in its first round trip (RFC 6928)
	warmTrips   = 8           // round trips until the window has grown
	maxSeconds  = 1e9         // keeps durations within their type
	hashSpeed   = 800 << 20   // bytes that a processor hashes in a second, as a cautious estimate
)

// estimates predict how long requests, ranges and the rest of the file will take, from the speeds and the round trips
// seen so far. They change nothing.
type estimates struct {
	clock    *clock
	mirrors  *mirrors
	ranges   *ranges
	requests *requests
	turns    []turn // reused by horizon
}

// remaining returns how long the rest of the file takes at the present speed.
func (e *estimates) remaining() time.Duration {
	return time.Duration(min(float64(e.ranges.missing())/max(e.mirrors.aggregate(), 1), maxSeconds) * float64(time.Second))
}

// lag returns the time in seconds until a new request to m delivers bytes at its full speed. On an idle connection it
// is one round trip. Otherwise it also includes a round trip to connect, and the round trips while the window grows. If
// each request needs a new connection, no connection is idle, and m.trips includes the connect.
func (e *estimates) lag(m *mirror, speed float64, alive bool) float64 {
	rtt := m.rtt
	if rtt == 0 {
		rtt = e.mirrors.medianRTT()
	}
	if alive && m.trips == 0 {
		return rtt.Seconds()
	}
	doublings := math.Log2(max(1, speed*rtt.Seconds()/firstWindow))
	return rtt.Seconds() * (1 + float64(max(1, m.trips)) + max(0, doublings-1))
}

// pace returns the present speed of f in bytes a second.
func (e *estimates) pace(f *fetch) float64 {
	if f.got == 0 && f.src.doubtful() {
		return 0
	}
	if f.got == 0 || e.clock.now.Sub(f.src.meter.flow) < 10*slotWidth {
		if e.clock.now.Sub(f.activeAt) > lively {
			return 0
		}
		return e.mirrors.speedOf(f.src)
	}
	if f.src.grows(e.clock.now, 4) {
		return f.src.speed
	}
	return f.src.meter.over(e.clock.now, time.Second)
}

// eta returns how many seconds f still needs.
func (e *estimates) eta(f *fetch) float64 {
	return float64(f.left())/max(e.pace(f), 1) + e.hangs(f)
}

const (
	hangTime  = 100 * time.Millisecond
	lastBytes = 256 << 10
)

// hangs returns by how many seconds the end of f will probably be delayed by a lost packet, which delays the following
// bytes by one or several round trips. If f has been quiet for more than a round trip, the result is the time for which
// it has been quiet. If more than lastBytes are missing, the result is 0, because closing the connection would cost as
// much.
func (e *estimates) hangs(f *fetch) float64 {
	quiet := e.clock.now.Sub(f.activeAt)
	if f.got == 0 || f.left() > lastBytes || quiet < max(hangTime, f.src.rtt) || quiet.Seconds() < 4*packet/max(f.src.speed, 1) {
		return 0
	}
	return quiet.Seconds()
}

// due returns in how many seconds f must end so that the following bytes are hashed when the last byte arrives.
func (e *estimates) due(f *fetch) float64 { return e.dueAt(f.end) }

// dueAt is like due, for a range that ends at the offset end.
func (e *estimates) dueAt(end int64) float64 {
	return e.horizon(nil) - float64(e.ranges.size-end)/hashSpeed
}

// hashing returns how long the in-order hash takes from an offset to hashSlack before the end of the file.
func (e *estimates) hashing(from int64) time.Duration {
	return time.Duration(float64(max(e.ranges.size-from-hashSlack, 0)) / hashSpeed * float64(time.Second))
}

// turn is a change of the total speed.
type turn struct {
	at    float64 // seconds from now
	speed float64 // change in bytes a second
}

// horizon returns in how many seconds all bytes would be present if the missing bytes were distributed optimally over m
// and the mirrors in use. A mirror that is delivering pauses for a request after its range. Any other mirror begins
// when its request delivers bytes. The result is infinite if no mirror is in use.
func (e *estimates) horizon(m *mirror) float64 {
	turns := e.turns[:0]
	for _, o := range *e.mirrors {
		if o.open() || o.state == statePlanned || o == m {
			turns = e.turnsOf(turns, o)
		}
	}
	e.turns = turns
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return meet(turns, float64(e.ranges.missing()))
}

// turnsOf appends the turns of a mirror.
func (e *estimates) turnsOf(turns []turn, m *mirror) []turn {
	speed := e.mirrors.speedOf(m)
	f := m.running
	if f == nil || f.got == 0 {
		return append(turns, turn{e.lag(m, speed, m.alive), speed})
	}
	through := float64(f.left()) / max(speed, 1)
	again := through + e.lag(m, speed, !f.cut)
	return append(turns, turn{0, speed}, turn{through, -speed}, turn{again, speed})
}

// meet returns in how many seconds n bytes are present. turns must be sorted by time.
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

// sooner reports whether a working mirror, after its own range, would deliver n bytes sooner than m, which is free.
func (e *estimates) sooner(m *mirror, n float64) bool {
	ours := e.lag(m, m.speed, m.alive) + n/m.speed
	for f := range e.requests.active() {
		if o := f.src; f.got > 0 && !o.noRanges && o.speed > 0 &&
			e.eta(f)+e.lag(o, o.speed, !f.cut)+n/o.speed < ours {
			return true
		}
	}
	return false
}

// idles reports whether no working mirror would be free in time to deliver n bytes before m. In that case m should
// fetch these bytes, however few they are.
func (e *estimates) idles(m *mirror, n float64) bool {
	ours := e.lag(m, m.speed, m.alive) + n/m.speed + takeGain
	for f := range e.requests.active() {
		o := f.src
		if o.noRanges {
			continue
		}
		if f.got == 0 || e.eta(f)+e.lag(o, o.speed, !f.cut)+n/max(o.speed, 1) < ours {
			return false
		}
	}
	return true
}
