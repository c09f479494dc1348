//go:build realservers

package e2e

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"braid/internal/test/ports"
)

const (
	swarmKillSize = 256 << 20
	swarmKillRate = 6 << 20 // bytes a second of each web server and of the peer
)

// newSwarmKillSet is a Metalink origin that describes a torrent, a mirror, and a peer, each behind a relay that counts.
func newSwarmKillSet(t *testing.T) (s *killSet, peer *meter) {
	t.Helper()
	swarm := newSwarmSite(t, swarmKillSize)
	addr := ports.Free(t)
	_, port, _ := net.SplitHostPort(addr)
	awaitProcess(t, addr, "aria2c", aria2(swarm.dir, "-V", "--seed-ratio=0", fmt.Sprintf("--max-upload-limit=%d", swarmKillRate),
		"--bt-exclude-tracker=*", "--listen-port="+port, swarm.torrent)...)
	s, peer = &killSet{meter: &meter{}, size: swarmKillSize, sum: sha256.Sum256(swarm.body)}, &meter{}
	swarm.announce(t, swarm.tracker, newRelay(t, addr, func(n int64) {
		peer.add(n)
		s.meter.add(n)
	}).addr)
	mirror := newRelay(t, nginx.start(t, site{root: swarm.dir, rate: swarmKillRate}), s.meter.add)
	origin := site{root: swarm.dir, rate: swarmKillRate, headers: append(digestFields(swarm.body),
		`Link: </disk.iso.torrent>; rel=describedby; type="application/x-bittorrent"`,
		fmt.Sprintf("Link: <http://%s/disk.iso>; rel=duplicate; pri=1", mirror.addr))}
	s.url = "http://" + newRelay(t, nginx.start(t, origin), s.meter.add).addr + "/disk.iso"
	s.flags = []string{"--no-dht", "--no-remember", "--bittorrent", "only", "--peer-listen", "127.0.0.1:0"}
	return s, peer
}

// TestRealSwarmKill kills the command without warning while two web servers and a BitTorrent peer bring a file, and
// runs it again. Proves rule 6 for pieces that come in any order, and wait in memory until they are proven: the right
// file, nothing under the final name before, and little fetched twice: 2 % at most on a machine that does nothing else,
// and here, beside other tests, no more than any other kill may cost.
func TestRealSwarmKill(t *testing.T) {
	t.Parallel()
	s, peer := newSwarmKillSet(t)
	for range killRounds(t, 1) {
		peer.sum.Store(0)
		mark := int64(swarmKillSize/8) + rand.Int64N(swarmKillSize*3/4)
		again, landed := s.killAndResume(t, mark)
		if !landed || again > max(killTolerance(), swarmKillSize/50) {
			t.Errorf("killed at byte %d (in time: %t): %d bytes were fetched again", mark, landed, again)
		}
		if n := peer.sum.Load(); n < swarmKillSize/10 {
			t.Errorf("the peer sent %d bytes", n)
		}
		t.Logf("killed at %d: %d bytes were fetched again; the peer sent %d", mark, again, peer.sum.Load())
	}
}
