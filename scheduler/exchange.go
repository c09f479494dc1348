package scheduler

import (
	"slices"
	"time"
)

// An exchange closes the weakest mirror so that one that was never tried takes its place (S13: an established connection
// closes), once in a period, until each was tried. What then turns out to be the weakest makes room for the next. At the
// end those come back, once, that did more than those in their place now.
type exchange struct {
	*work
	due      time.Time // none before
	chosen   []*mirror // each gets the place when the other's connection is closed
	returned []*mirror // they came back
}

const (
	exchangeLeast = 10 * time.Second // the download lasts so much longer at least, or trying another mirror cannot pay
	muchFaster    = 1.3              // how much faster a mirror was that comes back in the place of another
)

// swap makes room for next, if there is one that may be better than the weakest.
func (e *exchange) swap(next *mirror) {
	weak := e.mirrors.weakest()
	if next == nil || weak == nil || next.doubtful() || next.last {
		return
	}
	if next.tried() {
		if slices.Contains(e.returned, next) || next.speed < muchFaster*weak.speed {
			return
		}
		e.returned = append(e.returned, next)
	}
	if !slices.Contains(e.chosen, next) {
		e.chosen = append(e.chosen, next)
	}
	e.due = e.now.Add(e.mirrors.settlePeriod())
	e.close(weak, ReasonExchange)
}

// opening is why a mirror is opened that is not in use.
func (e *exchange) opening(m *mirror) Reason {
	if i := slices.Index(e.chosen, m); i >= 0 {
		e.chosen = slices.Delete(e.chosen, i, i+1)
		return ReasonExchange
	}
	switch {
	case m.tried():
		return ReasonReturn
	case m.speed > 0:
		return ReasonRemembered
	}
	return ReasonGrowth
}
