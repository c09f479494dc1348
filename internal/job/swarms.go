//go:build !notorrent

package job

import (
	"braid/source"
	"braid/source/torrentsource"
)

// HasPeers reports whether this build of the program contains BitTorrent.
const HasPeers = true

// swarms returns the function that creates the client of BitTorrent swarms.
func (p *Peers) swarms() func(source.SwarmConfig) source.Swarms {
	return torrentsource.Plug(p.address(), p.NoDHT)
}
