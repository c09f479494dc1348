package torrentsource

import (
	"slices"
	"sync"
)

// places holds the addresses of peers and trackers that torrents and options name. takeTrackers removes the trackers.
type places struct {
	mu       sync.Mutex
	peers    []string
	trackers [][]string
}

// add adds trackers and peers.
func (p *places) add(trackers [][]string, peers []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trackers = append(p.trackers, trackers...)
	p.peers = append(p.peers, peers...)
}

func (p *places) named() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.peers)
}

// takeTrackers returns the trackers that were added since the last call.
func (p *places) takeTrackers() [][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.trackers
	p.trackers = nil
	return taken
}
