package cli

import (
	"fmt"
	"time"

	"braid/download"
	"braid/scheduler"
)

// A roster knows how the sources of one download stand, from its events. It is used by one goroutine.
type roster struct {
	members []*member
	fetches map[int]*member // that are running
	total   int64
}

// A member is one source.
type member struct {
	id    int
	host  string
	bytes int64
	speed speed

	sampled time.Time
	runs    int    // fetches
	state   string // what it does while none runs; empty: it waits for its turn
}

// wholeOnly is the state of a source that answers a range with the whole file.
const wholeOnly = "sends whole files only"

// hear takes note of an event.
func (r *roster) hear(at time.Time, ev download.Event) {
	switch ev := ev.(type) {
	case download.SourceUp:
		m := r.of(ev.ID, ev.Host)
		if m.state = ""; ev.Whole {
			m.state = wholeOnly
		}
	case download.RangeStarted:
		m := r.of(ev.ID, ev.Host)
		m.sample(at)
		m.runs++
		if r.fetches == nil {
			r.fetches = map[int]*member{}
		}
		r.fetches[ev.Fetch] = m
	case download.RangeEnded:
		if m := r.fetches[ev.Fetch]; m != nil {
			m.runs--
			delete(r.fetches, ev.Fetch)
		}
	case download.RangeCut:
		if m := r.of(ev.ID, ev.Host); ev.Why == scheduler.ReasonNoRanges {
			m.state = wholeOnly
		}
	case download.SourceDown:
		r.of(ev.ID, ev.Host).down(at, ev)
	case download.Brought:
		for _, p := range ev.Pieces {
			if m := r.fetches[p.Fetch]; m != nil {
				m.bytes += p.Range.Len()
				m.sample(at)
				r.total += p.Range.Len()
			}
		}
	case download.Restarted:
		*r = roster{}
	}
}

// sample takes note of how much has come, ten times a second: a table may be shown only now and then.
func (m *member) sample(at time.Time) {
	if at.Sub(m.sampled) >= 100*time.Millisecond {
		m.sampled = at
		m.speed.now(at, m.bytes)
	}
}

func (m *member) down(at time.Time, ev download.SourceDown) {
	switch {
	case ev.Banned:
		m.state = "dropped, its content is wrong"
	case ev.Gone:
		m.state = "dropped"
	case ev.Back > 0:
		m.state = "again at " + at.Add(ev.Back).Local().Format(time.TimeOnly)
	default:
		m.state = "again later"
	}
}

// of is the member of an ID.
func (r *roster) of(id int, host string) *member {
	for _, m := range r.members {
		if m.id == id {
			if host != "" {
				m.host = host
			}
			return m
		}
	}
	m := &member{id: id, host: host}
	r.members = append(r.members, m)
	return m
}

// rows are a table of the sources as they stand: who, how much, which share of what came, how fast, and what it does.
func (r *roster) rows(at time.Time) (rows [][]string) {
	for _, m := range r.members {
		rate, state := m.speed.now(at, m.bytes), m.state
		if m.runs > 0 {
			state = "at work"
		} else if state == "" {
			state = "waits"
		}
		rows = append(rows, []string{"  " + m.host, fmt.Sprintf("%8s", sizeText(m.bytes)), fmt.Sprintf("%3d %%", percent(m.bytes, r.total)), fmt.Sprintf("%10s", rateText(rate)), state})
	}
	return rows
}
