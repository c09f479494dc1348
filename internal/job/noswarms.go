//go:build notorrent

package job

import "braid/source"

// HasPeers reports whether this program has BitTorrent.
const HasPeers = false

// swarms returns nil, because this program does not have BitTorrent.
func (p *Peers) swarms() func(source.SwarmConfig) source.Swarms { return nil }
