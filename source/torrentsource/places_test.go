package torrentsource

import (
	"strconv"
	"sync"
	"testing"
)

// TestPlaces: what is added while others ask is taken once, and no peer is lost. The link of a torrent adds its places
// while the swarm already looks at them.
func TestPlaces(t *testing.T) {
	const n = 100
	var p places
	var adding sync.WaitGroup
	for i := range n {
		adding.Go(func() { p.add([][]string{{strconv.Itoa(i)}}, []string{strconv.Itoa(i)}) })
	}
	taken := map[string]int{}
	for range n {
		for _, tier := range p.takeTrackers() {
			taken[tier[0]]++
		}
		p.named()
	}
	adding.Wait()
	for _, tier := range p.takeTrackers() {
		taken[tier[0]]++
	}
	for i := range n {
		if taken[strconv.Itoa(i)] != 1 {
			t.Errorf("tracker %d was taken %d times", i, taken[strconv.Itoa(i)])
		}
	}
	if len(p.named()) != n {
		t.Errorf("%d peers of %d", len(p.named()), n)
	}
}
