package scheduler

import (
	"fmt"
	"time"
)

// swarm returns a host that takes two seconds to begin and delivers whole pieces. It is a last resort.
func swarm(mb float64, piece int64) host {
	return host{rate: steady(mb), rtt: 100 * ms, setup: 2 * time.Second, bbr: true, unit: piece, late: true}
}

// unused checks that a host was never asked.
func unused(i int) func(report) string {
	return func(r report) string {
		if r.requests[i] > 0 {
			return fmt.Sprintf("host %d was asked %d times", i, r.requests[i])
		}
		return ""
	}
}

// blameless checks that no host was closed for silence.
func blameless(r report) string {
	for i, a := range r.history {
		if c, ok := a.(Cancel); ok && c.Why == ReasonSilent {
			return fmt.Sprintf("fetch %d was ended at %v: %v", c.ID, r.at[i], c.Why)
		}
	}
	return ""
}

// more returns rows beyond the requirements. If a sender reacts to losses, the best time is that of its mean rate. Its
// first window is larger, so a short download may take less.
func more() []row {
	return append([]row{
		{name: "1 mirror", size: 64 * mib, bar: bar{least: 0.97, also: requestsUpTo(1)},
			net: scenario{hosts: equal(1, 40, 40*ms)}},
		{name: "100 mirrors", size: 256 * mib, bar: bar{least: 0.8},
			net: scenario{hosts: equal(100, 10, 80*ms)}},
		{name: "one of 1 Gbit/s, 20 slow ones", size: 1024 * mib, bar: bar{least: 0.62}, goal: &bar{least: 0.75},
			net: scenario{hosts: append(equal(20, 5, 60*ms), plain(1000, 20*ms))}},
		{name: "satellites, 600 ms away", size: 256 * mib, bar: bar{least: 0.72, waste: 0.03},
			goal: &bar{least: 0.75, waste: 0.02},
			net:  scenario{hosts: equal(4, 20, 600*ms)}},
		{name: "a slow origin names 9 good mirrors", size: 100 * mib, bar: bar{least: 0.7},
			net: scenario{hosts: append([]host{plain(2, 80*ms)}, equal(9, 20, 80*ms)...)}},
		{name: "5 uneven mirrors, some far", size: 128 * mib, bar: bar{least: 0.77}, goal: &bar{least: 0.85},
			net: scenario{hosts: []host{plain(10, 120*ms), plain(60, 220*ms), plain(3, 60*ms), plain(30, 20*ms),
				plain(20, 160*ms)}}},
		{name: "near and far share a full link", size: 256 * mib, bar: bar{least: 0.95},
			net: scenario{near: true, access: steady(50), bloat: 50 * ms, hosts: []host{
				plain(40, 10*ms), plain(40, 150*ms), plain(40, 60*ms), plain(40, 20*ms), plain(40, 300*ms)}}},
		{name: "lossy paths, window halved", size: 256 * mib, bar: bar{least: 0.7},
			net: scenario{hosts: each(equal(6, 40, 40*ms), func(i int, h *host) { h.loss = 0.0005 * float64(i) })}},
		{name: "rates go up and down", size: 256 * mib, bar: bar{least: 0.85},
			net: scenario{hosts: each(equal(6, 30, 50*ms),
				func(i int, h *host) { h.rate = wave(30, 25, time.Duration(4+2*i)*time.Second) })}},
		{name: "two names of one host", size: 128 * mib, bar: bar{least: 0.88},
			net: scenario{hosts: each(equal(5, 40, 40*ms), func(i int, h *host) {
				if i == 1 || i == 2 {
					h.as = "same"
				}
			})}},
		{name: "slower the longer it is used", size: 256 * mib, bar: bar{least: 0.85},
			net: scenario{hosts: with(equal(4, 40, 40*ms), 1, func(h *host) {
				h.tired = func(sent int64) float64 { return 1 / (1 + float64(sent)/(8*mib)) }
			})}},
		{name: "client link changes by 4 x", size: 256 * mib, bar: bar{least: 0.85},
			net: scenario{bloat: 30 * ms, hosts: equal(6, 40, 40*ms), access: func(t time.Duration) float64 {
				if t%(14*time.Second) < 7*time.Second {
					return mbit(120)
				}
				return mbit(30)
			}}},
		{name: "capped per connection, -x 4", size: 256 * mib, bar: bar{least: 0.88},
			net: scenario{lanes: 4, hosts: each(equal(3, 80, 40*ms), func(_ int, h *host) { h.most = mbit(10) })}},
		{name: "lossy and far, -x 8", size: 512 * mib, bar: bar{least: 0.85},
			net: scenario{lanes: 8, hosts: each(equal(1, 200, 100*ms), func(_ int, h *host) { h.loss = 0.001 })}},
		{name: "a stream into a slow pipe", size: 128 * mib, bar: bar{least: 0.91}, goal: &bar{least: 0.95},
			net: scenario{pipe: mbit(60), hosts: equal(4, 40, 40*ms)}},
		{name: "a stream into a fast pipe", size: 256 * mib, bar: bar{least: 0.88},
			net: scenario{pipe: mbit(4000), hosts: uneven()}},
		{name: "an upload of 2 fast mirrors", size: gib, bar: bar{least: 0.86},
			net: scenario{cfg: Config{Window: 208 * mib}, pipe: mbit(4000), hosts: equal(2, 512, 10*ms)}},
		{name: "an upload of 2 fast mirrors that are far", size: gib, bar: bar{least: 0.85},
			net: scenario{cfg: Config{Window: 208 * mib}, pipe: mbit(4000), hosts: equal(2, 512, 60*ms)}},
		{name: "an upload of uneven mirrors", size: gib, bar: bar{least: 0.95},
			net: scenario{cfg: Config{Window: 208 * mib}, pipe: mbit(4000), hosts: uneven()}},
		{name: "an upload that is slower than its mirrors", size: gib, bar: bar{least: 0.95},
			net: scenario{cfg: Config{Window: 208 * mib}, pipe: mbit(200), hosts: equal(4, 100, 40*ms)}},
		{name: "an upload into a store that takes a part a minute", size: 400 * mib, bar: bar{least: 0.95, also: blameless},
			net: scenario{cfg: Config{Window: 208 * mib}, pipe: mbit(1.1), hosts: equal(3, 100, 40*ms)}},
		{name: "with pieces, nobody lies", size: 256 * mib, bar: bar{least: 0.9},
			net: scenario{piece: mib, hosts: equal(8, 40, 40*ms)}},
		{name: "3 of 4 lie here and there", size: 128 * mib, bar: bar{least: 0.6, waste: 0.5},
			net: scenario{piece: mib, hosts: each(equal(4, 40, 40*ms), func(i int, h *host) {
				if i > 0 {
					h.lies = func(piece int64) bool { return piece%3 == int64(i-1) }
				}
			})}},
		{name: "the origin stalls", size: 128 * mib, bar: bar{least: 0.88, also: movesOn},
			net: scenario{hosts: with(equal(3, 40, 40*ms), 0, func(h *host) { h.rate = after(3*time.Second, 40, 0) })}},
		{name: "a mirror serves no ranges", size: 128 * mib, bar: bar{least: 0.9},
			net: scenario{hosts: three(func(h *host) { h.norange = true })}},
		{name: "a mirror has another digest", size: 128 * mib, bar: bar{least: 0.9},
			net: scenario{hosts: three(func(h *host) { h.wrong = true })}},
		{name: "a mirror is unreachable", size: 128 * mib, bar: bar{least: 0.9},
			net: scenario{hosts: three(func(h *host) { h.mute = always })}},
		{name: "a mirror breaks off every 4 MiB", size: 128 * mib, bar: bar{least: 0.88},
			net: scenario{hosts: three(func(h *host) { h.cut = 4 * mib })}},
		{name: "2 web servers, 2 of FTP", size: 256 * mib, bar: bar{least: 0.92, also: requestsUpTo(14)},
			net: scenario{hosts: each(equal(4, 40, 40*ms), func(i int, h *host) { h.ftp = i > 1 })}},
		{name: "FTP servers of all speeds", size: 192 * mib, bar: bar{least: 0.74, also: requestsUpTo(20)},
			net: scenario{hosts: each(uneven(), func(_ int, h *host) { h.ftp = true })}},
		{name: "FTP servers 300 ms away", size: 512 * mib, bar: bar{least: 0.6, waste: 0.03, also: requestsUpTo(40)},
			goal: &bar{least: 0.75, waste: 0.02},
			net:  scenario{hosts: each(equal(4, 40, 300*ms), func(i int, h *host) { h.ftp = i > 0 })}},
		{name: "far connections with TLS", size: 256 * mib, bar: bar{least: 0.75, waste: 0.02},
			net: scenario{hosts: each(equal(6, 40, 150*ms), func(_ int, h *host) { h.setup = 300 * ms })}},
		{name: "a swarm and 5 mirrors", size: 512 * mib, bar: bar{least: 0.85, waste: 0.03},
			net: scenario{rerun: true, hosts: append(equal(5, 20, 40*ms), swarm(60, 4*mib))}},
		{name: "a swarm and 3 mirrors, all alike", size: 512 * mib, bar: bar{least: 0.90, waste: 0.04},
			net: scenario{rerun: true, hosts: append(equal(3, 20, 40*ms), swarm(20, 4*mib))}},
		{name: "a swarm alone", size: 256 * mib, bar: bar{least: 0.85}, goal: &bar{least: 0.93},
			net: scenario{rerun: true, hosts: []host{swarm(60, 4*mib)}}},
		{name: "a slow swarm and 5 mirrors", size: 256 * mib, bar: bar{least: 0.85, waste: 0.03},
			net: scenario{rerun: true, hosts: append(equal(5, 20, 40*ms), swarm(1, 4*mib))}},
		{name: "a swarm where one mirror fills the link", size: 256 * mib, bar: bar{least: 0.88, also: unused(1)},
			net: scenario{rerun: true, access: steady(300), hosts: []host{plain(300, 20*ms), swarm(60, 4*mib)}}},
	}, emulated()...)
}
