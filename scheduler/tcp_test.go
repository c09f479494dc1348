package scheduler

import (
	"math"
	"math/rand/v2"
	"time"
)

// The model of a connection: one round trip to connect, one from a request to the first byte, and an initial window of
// 10 segments (RFC 6928) that doubles in each round trip until the sender's rate is reached. A connection is reused for
// the next request if the answer was read to its end.
//
// The window of a sender that reacts to losses is reduced by each loss, and then grows by about half a segment in each
// round trip (RFC 9438, section 4.3). For BBR the model uses measured behavior: windows of 10, 20, 36 and 60 segments,
// and then twice as many in each round; almost no data for 200 ms and a round trip, ten seconds after the start of the
// connection and every ten seconds from then on, followed by the previous window; and an overflow in startup if the
// bottleneck queues less than 1.9 products of bandwidth and delay.
//
// Bytes are delivered in order, so those behind a lost packet wait for its retransmission: a stall of one round trip,
// including the queue, and then all at once.

const (
	segment       = 1448
	initialWindow = 10 * segment

	lossCut  = 0.7  // CUBIC's window after a loss
	lossGrow = 0.53 // segments a round trip

	probeEvery  = 10 * time.Second
	probeTime   = 200 * time.Millisecond
	probeWindow = 4 * segment

	overshoot = 1.885 // queue of BBR's startup, in products of bandwidth and delay
)

// conn is the state of a connection that is kept between requests.
type conn struct {
	alive  bool
	born   time.Duration
	window float64       // bytes a round trip
	steep  float64       // the window doubles below
	round  time.Duration // start of the present round trip
	rounds int
	used   float64       // part of the window used in this round trip
	full   time.Duration // when its window reached the rate; 0: not yet
	lost   bool          // a packet was lost in this round trip
	credit float64       // bytes until the next loss
	spills int           // number of overflows of the queue
	said   bool          // FTP: the login is done
	left   bool          // FTP: the last range ended early
}

func connect(now time.Duration) conn {
	return conn{alive: true, born: now, window: initialWindow, steep: math.Inf(1), credit: -1}
}

// paced reports whether the sender spreads a window over the round trip; otherwise the window is sent at once, followed
// by a pause.
func (c *conn) paced(h *host) bool { return h.bbr && c.rounds > 0 }

// allowed returns the bytes that the window allows in the present round trip.
func (c *conn) allowed(now time.Duration, h *host, rtt time.Duration) float64 {
	if h.probes(now-c.born, rtt) {
		return min(c.window, probeWindow)
	}
	return c.window
}

// probes reports whether the sender of a connection of the given age is measuring its path, for which it almost pauses
// for rtt and probeTime.
func (h *host) probes(since, rtt time.Duration) bool {
	return h.bbr && since >= probeEvery && since%probeEvery < probeTime+rtt
}

// limit returns the rate that the window allows, in bytes a second.
func (c *conn) limit(now time.Duration, h *host, rtt time.Duration) float64 {
	w := c.allowed(now, h, rtt)
	switch {
	case c.paced(h):
		return w / rtt.Seconds()
	case c.used >= w:
		return 0
	}
	return math.Inf(1)
}

// turn ends the past round trips. A window that is not fully used is reduced to twice its used part, except by a probe.
func (c *conn) turn(now time.Duration, h *host, rtt time.Duration) {
	for ; now-c.round >= rtt; c.round += rtt {
		c.rounds++
		c.grow(h)
		if !h.probes(now-c.born, 2*rtt) {
			c.window = min(c.window, max(initialWindow, 2*c.used+2*initialWindow))
		}
		c.lost, c.used = false, 0
	}
	if c.full == 0 && c.window >= h.rate(now)*rtt.Seconds() {
		c.full = now
	}
}

func (c *conn) grow(h *host) {
	switch {
	case c.lost && h.bbr: // every other round is used for retransmission
		c.window *= math.Sqrt2
	case c.lost:
		c.window = max(lossCut*c.window, 2*segment)
		c.steep = c.window
	case c.window >= c.steep:
		c.window += lossGrow * segment
	case h.bbr && c.rounds == 2:
		c.window *= 1.8
	case h.bbr && c.rounds == 3:
		c.window *= 1.67
	default:
		c.window *= 2
	}
}

// hole is a place in an answer that waits for a retransmission.
type hole struct {
	at    int64
	until time.Duration
}

// lose makes holes in the k bytes that arrive from position at on.
func (c *conn) lose(rng *rand.Rand, now time.Duration, h *host, rtt time.Duration, at, k int64) (holes []hole) {
	if h.loss > 0 {
		if c.credit < 0 {
			c.credit = rng.ExpFloat64() * segment / h.loss
		}
		for c.credit -= float64(k); c.credit < 0; c.credit += 1 + rng.ExpFloat64()*segment/h.loss {
			c.lost = true
			holes = append(holes, hole{at, now + rtt})
		}
	}
	if h.bbr && h.queue > 0 && h.queue < overshoot && c.full > 0 && c.spills < 2 {
		queued := time.Duration(float64(rtt) * (1 + h.queue))
		if now >= c.full+queued+time.Duration(c.spills)*2*queued {
			c.spills++
			holes = append(holes, hole{at, now + queued})
		}
	}
	return holes
}

// lossLimit returns the approximate limit of one connection of a sender that reacts to losses, in bytes a second
// (Mathis et al., 1997).
func (h *host) lossLimit() float64 {
	if h.loss == 0 || h.bbr {
		return math.Inf(1)
	}
	return segment / h.rtt.Seconds() * math.Sqrt(1.5/h.loss)
}
