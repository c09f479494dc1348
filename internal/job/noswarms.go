//go:build notorrent

package job

import "braid/source"

// HasPeers reports whether this program has BitTorrent.
const HasPeers = false

// swarms returns nil: peers are not asked.
func (p *Peers) swarms() func(source.SwarmConfig) source.Swarms { return nil }
