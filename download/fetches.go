package download

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"braid/byterange"
	"braid/scheduler"
)

// fetches are the running requests of a session, with the counts of their work. The fields belong to the session's
// loop. Each fetch runs in its own goroutine and sends messages to the loop.
type fetches struct {
	running  map[scheduler.FetchID]*flight
	messages chan message
	stats    stats
	pulse    pulse
	brought  []Piece // received ranges that are not in an event yet
	detail   bool    // Observe gets Brought events, too
	observe  func(Event)
	workers  sync.WaitGroup
}

// begin runs a fetch. The loop always gets a message about the end of the fetch, also after a cancel.
func (x *fetches) begin(id scheduler.FetchID, f *flight, fetch func() error) {
	x.running[id] = f
	x.workers.Go(func() {
		err := f.sink.settle(fetch())
		if left := f.sink.end(); !left.wrote.Empty() { // also after a cancel, because the bytes are on disk
			x.messages <- left
		}
		x.messages <- message{id: id, ended: true, err: err}
	})
}

// ended removes f, which has reported its end.
func (x *fetches) ended(id scheduler.FetchID, f *flight, err error) {
	f.cancel()
	delete(x.running, id)
	f.from.busy += time.Since(f.begun)
	x.reportEnd(f, err)
}

// drain ends all fetches and waits for them. The bytes in their last messages are counted and credited to the sources.
func (x *fetches) drain(credit func(*origin, message)) {
	x.giveUp(credit, func(*flight) bool { return true })
	x.workers.Wait()
}

// giveUp ends the fetches that match, and waits for them. It returns their errors. The loop must not run again.
func (x *fetches) giveUp(credit func(*origin, message), matches func(*flight) bool) (errs []error) {
	given := map[scheduler.FetchID]bool{}
	for id, f := range x.running {
		if matches(f) {
			given[id] = true
			f.cancel()
		}
	}
	for len(given) > 0 {
		m := <-x.messages
		switch f := x.running[m.id]; {
		case m.ended:
			x.ended(m.id, f, m.err)
			if given[m.id] {
				errs = append(errs, m.err)
				delete(given, m.id)
			}
		case m.answer == nil && m.coming == 0:
			x.count(f, m)
			if !f.excluded {
				credit(f.from, m)
			}
		}
	}
	return errs
}

// count counts the bytes that f wrote according to m.
func (x *fetches) count(f *flight, m message) {
	f.at = m.wrote.End
	f.bytes += m.wrote.Len()
	if x.detail {
		x.bring(f, m.wrote)
	}
	f.from.bytes += m.wrote.Len()
	x.stats.add(m.wrote.Len(), int64(m.fresh))
}

// active returns the number of sources with a running fetch.
func (x *fetches) active() int {
	ids := map[int]bool{}
	for _, f := range x.running {
		ids[f.from.id] = true
	}
	return len(ids)
}

// others reports whether more than one fetch is running.
func (x *fetches) others() bool { return len(x.running) > 1 }

// coming reports whether the body of an admitted answer is being received.
func (x *fetches) coming() bool {
	for _, f := range x.running {
		if f.answer.Host != "" {
			return true
		}
	}
	return false
}

// bound keeps fetches from writing past the end of the file, once its size is known.
func (x *fetches) bound(size int64) {
	for _, f := range x.running {
		f.sink.size.Store(size)
	}
}

// bring records bytes that a fetch wrote, for the next Brought event. Contiguous bytes of a fetch become one range.
func (x *fetches) bring(f *flight, wrote byterange.Range) {
	if f.fresh.End != wrote.Start || f.fresh.Empty() {
		x.queueBrought(f)
		f.fresh.Start = wrote.Start
	}
	f.fresh.End = wrote.End
}

// queueBrought adds the last contiguous range of f to the next Brought event.
func (x *fetches) queueBrought(f *flight) {
	if !f.fresh.Empty() {
		x.brought = append(x.brought, Piece{f.number, f.fresh})
		f.fresh = byterange.Range{}
	}
}

// reportBrought sends a Brought event with the ranges received since the previous Brought event.
func (x *fetches) reportBrought() {
	if !x.detail {
		return
	}
	for _, f := range x.running {
		x.queueBrought(f)
	}
	if len(x.brought) == 0 {
		return
	}
	slices.SortStableFunc(x.brought, func(a, b Piece) int { return cmp.Compare(a.Fetch, b.Fetch) })
	x.observe(Brought{Pieces: x.brought})
	x.brought = nil
}

// reportEnd sends a RangeEnded event for f. err is why f ended.
func (x *fetches) reportEnd(f *flight, err error) {
	x.queueBrought(f)
	x.reportBrought()
	if fault, _ := faultOf(err); fault == scheduler.FaultNone || fault == scheduler.FaultHeld {
		err = nil
	}
	x.observe(RangeEnded{Fetch: f.number, ID: f.from.id, Host: f.from.host, Bytes: f.bytes, Took: time.Since(f.begun), Err: err})
}

// twice returns the number of received bytes that were already on disk.
func (t *stats) twice() int64 { return t.arrived - t.fresh }

// stats counts received bytes, for the user.
type stats struct {
	arrived, fresh int64
	ring           [60]int64 // values of arrived at the last beats
	next           int
	beats          int
}

func (t *stats) add(n, fresh int64) {
	t.arrived += n
	t.fresh += fresh
}

// beat records the number of received bytes for rate.
func (t *stats) beat() {
	t.ring[t.next] = t.arrived
	t.next = (t.next + 1) % len(t.ring)
	t.beats++
}

// rate returns the mean speed over the last three seconds, in bytes a second.
func (t *stats) rate() float64 {
	n := min(t.beats, len(t.ring))
	if n < 2 {
		return 0
	}
	newest := t.ring[(t.next+len(t.ring)-1)%len(t.ring)]
	oldest := t.ring[(t.next+len(t.ring)-n)%len(t.ring)]
	return float64(newest-oldest) / (time.Duration(n-1) * beat).Seconds()
}

// rememberBeats is the number of beats between two saves of the measured speeds.
const rememberBeats = int(30 * time.Second / beat)

// syncBeats is the number of beats between two syncs of the part file and its journal.
const syncBeats = int(5 * time.Second / beat)
