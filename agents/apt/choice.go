package apt

import (
	"cmp"
	"net/url"
	"slices"
	"sync"
	"time"

	"braid/download"
	"braid/source"
)

// hosts say where a file is asked for first. A small file comes from one server, and the scheduler of a download learns
// nothing from the others that run beside it: what they all wait for at a server, and what it has brought, are counted
// here.
type hosts struct {
	mu  sync.Mutex
	all map[string]*load
}

// A load is what a server has to do, and has done.
type load struct {
	due   int64 // bytes of the files that are asked for there
	bytes int64 // that came
	busy  time.Duration
	since time.Time // from when on due is not zero
	wrong time.Time // when it failed last
}

// avoided is how long a server that failed is not asked first.
const avoided = 30 * time.Second

// order sorts the places of a file of some size by when each would have it. The first has its bytes on its load until
// done is called.
func (h *hosts) order(places []*url.URL, size int64, now time.Time) (sorted []*url.URL, done func(time.Time)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	best := 1.0
	for _, l := range h.all {
		best = max(best, l.rate(now))
	}
	when := func(u *url.URL) float64 {
		l := h.at(source.HostPort(u))
		t := float64(l.due+size) / cmp.Or(l.rate(now), best)
		if !l.wrong.IsZero() && now.Sub(l.wrong) < avoided {
			t += 1e9
		}
		return t
	}
	sorted = slices.Clone(places)
	slices.SortStableFunc(sorted, func(a, b *url.URL) int { return cmp.Compare(when(a), when(b)) })
	first := h.at(source.HostPort(sorted[0]))
	if first.due == 0 {
		first.since = now
	}
	first.due += size
	return sorted, func(now time.Time) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if first.due -= size; first.due == 0 {
			first.busy += now.Sub(first.since)
		}
	}
}

// at is the load of a server. The caller has the lock.
func (h *hosts) at(host string) *load {
	if h.all == nil {
		h.all = map[string]*load{}
	}
	if h.all[host] == nil {
		h.all[host] = &load{}
	}
	return h.all[host]
}

// rate is how many bytes a second a server brings; 0 if that is not known yet.
func (l *load) rate(now time.Time) float64 {
	busy := l.busy
	if l.due > 0 {
		busy += now.Sub(l.since)
	}
	if busy < 100*time.Millisecond {
		return 0
	}
	return max(float64(l.bytes), float64(l.due)/2) / busy.Seconds() // where nothing is complete yet, half may be here
}

// learn is told what came from where.
func (h *hosts) learn(sources []download.SourceResult) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range sources {
		h.at(s.Host).bytes += s.Bytes
	}
}

// fail is told that a server did not bring a file.
func (h *hosts) fail(host string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at(host).wrong = now
}
