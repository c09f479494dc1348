//go:build notorrent

package job

import "braid/source"

// HasPeers reports whether this build of the program contains BitTorrent.
const HasPeers = false

// swarms returns nil, because this build of the program does not contain BitTorrent.
func (p *Peers) swarms() func(source.SwarmConfig) source.Swarms { return nil }
