// Package speeds remembers how fast servers were, from one download to the next and from one run to the next.
//
// What it knows is a hint: it says where to begin, and what is measured counts from then on. So nothing that goes
// wrong with its file is an error: what cannot be read is forgotten. It refuses to know more than names of hosts:
// no paths, no users, no queries.
//
//	m := speeds.Open(path) // "" keeps everything in memory
//	rate, rtt := m.Hint("mirror.example.net:443", time.Now())
//	m.Learn(time.Now(), speeds.Speed{Host: "mirror.example.net:443", Rate: 5e6, RTT: 40 * time.Millisecond})
//	err := m.Save(time.Now())
package speeds

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	maxHosts = 1000
	maxFile  = 256 << 10

	// Old is when a hint is forgotten.
	Old = 14 * 24 * time.Hour
)

// A Speed is what one host did.
type Speed struct {
	Host string        // host:port
	Rate float64       // bytes a second; 0: it failed
	RTT  time.Duration // 0: unknown
}

// A Memory holds what is known. The nil Memory knows nothing and learns nothing. It may be used by several goroutines.
type Memory struct {
	path string

	mu    sync.Mutex
	hosts map[string]entry // by host:port; "*" is all together
	dirty map[string]bool  // learned since the file was read
}

// An entry is what is known of a host.
type entry struct {
	rate float64 // 0: it failed when last heard of
	rtt  time.Duration
	at   time.Time
}

// together is the name that stands for all hosts; no host is called that.
const together = "*"

// Open makes a Memory that is kept in the file path; if path is empty, in no file.
func Open(path string) *Memory {
	return &Memory{path: path, hosts: load(path), dirty: map[string]bool{}}
}

// load reads a file; what cannot be read is not known.
func load(path string) map[string]entry {
	if path == "" {
		return map[string]entry{}
	}
	f, err := os.Open(path)
	if err != nil {
		return map[string]entry{}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return map[string]entry{}
	}
	return parse(f)
}

// Hint is what is known of a host: its speed in bytes a second and its round trip time, 0 if unknown.
func (m *Memory) Hint(host string, now time.Time) (rate float64, rtt time.Duration) {
	if m == nil {
		return 0, 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.hosts[host]
	if host == together || !e.fresh(now) {
		return 0, 0
	}
	return e.rate, e.rtt
}

// Together is the most that all hosts brought at once, in bytes a second; 0 if unknown.
func (m *Memory) Together(now time.Time) float64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.hosts[together]; e.fresh(now) {
		return e.rate
	}
	return 0
}

// fresh tells whether e is young enough, and not from a future that a wrong clock made up.
func (e entry) fresh(now time.Time) bool {
	return !e.at.IsZero() && now.Sub(e.at) < Old && e.at.Sub(now) < time.Hour
}

// Learn takes note of what a host did. A host that failed has to begin anew.
func (m *Memory) Learn(now time.Time, s Speed) {
	if m == nil || !plain(s.Host) || s.Host == together {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.learn(now, s)
}

// LearnTogether takes note of what all hosts brought at once, in bytes a second.
func (m *Memory) LearnTogether(now time.Time, rate float64) {
	if m == nil || rate <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.hosts[together]; old.fresh(now) && rate > old.rate { // it is the most that counts, for a while
		delete(m.hosts, together)
	}
	m.learn(now, Speed{Host: together, Rate: rate})
}

// learn puts old and new together: half of each, so that one odd run does not count for much.
func (m *Memory) learn(now time.Time, s Speed) {
	s.Rate, s.RTT = sane(s.Rate), min(max(s.RTT, 0), maxRTT)
	old := m.hosts[s.Host]
	e := entry{s.Rate, s.RTT, now}
	if old.fresh(now) && old.rate > 0 && s.Rate > 0 {
		e.rate = (old.rate + s.Rate) / 2
	}
	if e.rtt == 0 {
		e.rtt = old.rtt
	}
	m.hosts[s.Host] = e
	m.dirty[s.Host] = true
	m.bound()
}

// bound forgets what is oldest.
func (m *Memory) bound() {
	if len(m.hosts) <= maxHosts {
		return
	}
	hosts := slices.SortedFunc(maps.Keys(m.hosts), func(a, b string) int {
		return cmp.Or(m.hosts[a].at.Compare(m.hosts[b].at), cmp.Compare(a, b))
	})
	for _, h := range hosts[:len(hosts)-maxHosts] {
		delete(m.hosts, h)
		delete(m.dirty, h)
	}
}

// Save writes what was learned to the file. What others wrote meanwhile is kept, but for the hosts that this Memory
// learned about. With nothing new it does nothing.
func (m *Memory) Save(now time.Time) error {
	if m == nil || m.path == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.dirty) == 0 {
		return nil
	}
	for host, e := range load(m.path) {
		if !m.dirty[host] {
			m.hosts[host] = e
		}
	}
	m.bound()
	maps.DeleteFunc(m.hosts, func(_ string, e entry) bool { return !e.fresh(now) })
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return err
	}
	if err := write(m.path, format(m.hosts)); err != nil {
		return err
	}
	clear(m.dirty)
	return nil
}
