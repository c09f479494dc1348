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

// A hosts chooses the server for each small file. A small file is downloaded from one server, independently of the
// other downloads. So hosts counts the outstanding and the received bytes of each server.
type hosts struct {
	mu  sync.Mutex
	all map[string]*load
}

// A load is the work that a server has done and still has to do.
type load struct {
	due   int64 // outstanding bytes
	bytes int64 // received bytes
	busy  time.Duration
	since time.Time // when due became nonzero
	wrong time.Time // time of the last failure
}

// avoided is how long a server is not chosen first after a failure.
const avoided = 30 * time.Second

// order sorts the URLs of a file by the expected time of completion. The caller asks the first server for the file, and
// calls done at the end; until then, the file's size counts as due from that server.
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

// at returns the load of a server. The caller holds h.mu.
func (h *hosts) at(host string) *load {
	if h.all == nil {
		h.all = map[string]*load{}
	}
	if h.all[host] == nil {
		h.all[host] = &load{}
	}
	return h.all[host]
}

// rate returns the speed of a server in bytes per second, or 0 if it is not known yet.
func (l *load) rate(now time.Time) float64 {
	busy := l.busy
	if l.due > 0 {
		busy += now.Sub(l.since)
	}
	if busy < 100*time.Millisecond {
		return 0
	}
	return max(float64(l.bytes), float64(l.due)/2) / busy.Seconds() // half of due: parts of unfinished files have arrived
}

// learn counts the bytes that a download received from each server.
func (h *hosts) learn(sources []download.SourceResult) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range sources {
		h.at(s.Host).bytes += s.Bytes
	}
}

// fail records that a server failed.
func (h *hosts) fail(host string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at(host).wrong = now
}
