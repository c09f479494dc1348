package scheduler

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"braid/byterange"
)

// inventor derives a network from the bytes of the fuzzer.
type inventor struct{ data []byte }

func (v *inventor) next(n int) int {
	if len(v.data) == 0 {
		return 0
	}
	b := int(v.data[0])
	v.data = v.data[1:]
	return b % n
}

// period returns a period within the first seconds.
func (v *inventor) period() func(time.Duration) bool {
	begin := time.Duration(v.next(100)) * 100 * ms
	end := begin + time.Duration(v.next(100))*100*ms
	return func(t time.Duration) bool { return t >= begin && t < end }
}

// host invents a host. The origin has no lasting faults, so that every download can end.
func (v *inventor) host(origin bool) host {
	rate := []float64{1, 4, 10, 40, 200}[v.next(5)]
	h := plain(rate, time.Duration(2+v.next(200))*ms)
	if v.next(16) == 15 {
		h.rtt *= 5
	}
	h.bbr = v.next(3) == 1
	h.queue = float64(v.next(6)) / 2
	h.loss = []float64{0, 0, 0, 0.001, 0.01}[v.next(5)]
	h.setup = time.Duration(v.next(4)) * 100 * ms
	h.most = mbit(float64(v.next(3) * 8))
	v.fault(&h, rate)
	if !origin {
		v.lasting(&h)
	}
	return h
}

// fault adds a temporary or minor fault.
func (v *inventor) fault(h *host, rate float64) {
	within := v.period()
	switch v.next(9) {
	case 1:
		h.rate = func(t time.Duration) float64 {
			if within(t) {
				return 0
			}
			return mbit(rate)
		}
	case 2:
		h.down = within
	case 3:
		h.rate = after(time.Duration(v.next(100))*100*ms, rate, []float64{1, 4, 50, 400}[v.next(4)])
	case 4:
		h.busy = func(t time.Duration) time.Duration {
			if within(t) {
				return time.Duration(1+v.next(4)) * time.Second
			}
			return 0
		}
	case 5:
		h.mute = within
	case 6:
		h.rate = wave(rate, rate*0.9, time.Duration(1+v.next(20))*time.Second)
	case 7:
		h.tired = func(sent int64) float64 { return 1 / (1 + float64(sent)/mib) }
	case 8:
		h.as = "shared"
	}
}

// lasting adds a lasting fault, for mirrors only.
func (v *inventor) lasting(h *host) {
	switch v.next(12) {
	case 1:
		h.norange = true
	case 2:
		h.wrong = true
	case 3:
		h.down = always
	case 4:
		h.mute = always
	case 5:
		h.half = true
	case 6:
		h.cut = int64(1+v.next(64)) << 14
	case 7:
		h.dies = int64(1+v.next(64)) << 16
	case 8, 9:
		every, first := int64(1+v.next(9)), int64(v.next(9))
		h.lies = func(piece int64) bool { return piece%every == first%every }
	}
}

func (v *inventor) scenario() scenario {
	sc := scenario{size: int64(v.next(96))<<18 + int64(v.next(256)), seed: uint64(v.next(256)), limit: 4 * time.Hour}
	sc.hosts = append(sc.hosts, v.host(true))
	for range v.next(12) {
		sc.hosts = append(sc.hosts, v.host(false))
	}
	if v.next(2) == 1 {
		sc.access = wave([]float64{1, 8, 40, 100}[v.next(4)], float64(v.next(2))*0.9, 5*time.Second)
		sc.bloat, sc.near = time.Duration(v.next(4))*20*ms, v.next(2) == 1
	}
	sc.cfg.Growth = GrowthMode(v.next(2))
	sc.cfg.Split = v.next(20)
	sc.lanes = 1 + v.next(3)
	if v.next(3) == 1 {
		sc.piece = int64(1+v.next(32)) << 16
	}
	if v.next(4) == 1 {
		sc.pipe = mbit([]float64{2, 20, 200}[v.next(3)])
	}
	v.memory(&sc)
	for i := range sc.hosts[1:] { // some have more than one lasting fault
		if v.next(3) == 1 {
			v.lasting(&sc.hosts[1+i])
		}
	}
	if i := v.next(16); i > 0 && i < len(sc.hosts) { // one is a swarm, which is a last resort and a single source
		h := &sc.hosts[i]
		h.unit, h.late, sc.lanes = int64(1+v.next(8))<<16, true, 1
		h.norange, h.half, h.cut, h.wrong, h.lies, h.as = false, false, 0, false, nil, ""
		sc.cfg.Split = 1 + v.next(3)
	}
	return sc
}

// memory invents what earlier runs left: parts of the file, and speeds that may be wrong.
func (v *inventor) memory(sc *scenario) {
	if v.next(3) == 1 {
		sc.rerun, sc.cfg.Size = true, sc.size
		for at := int64(0); at < sc.size; {
			gap, part := int64(v.next(64))<<16, int64(1+v.next(64))<<16
			sc.cfg.Have.Add(byterange.Range{Start: at + gap, End: at + gap + part}.Intersect(byterange.Range{Start: 0,
				End: sc.size}))
			at += gap + part
		}
	}
	if v.next(3) == 1 {
		known := make([]Speed, sc.sources())
		for i := range known {
			known[i] = Speed{Rate: mbit(float64(v.next(3) * v.next(200))), RTT: time.Duration(v.next(300)) * ms}
		}
		sc.hints = func(id SourceID) (Speed, bool) { return known[id], known[id].Rate > 0 }
		sc.cfg.Aggregate = mbit(float64(v.next(200)))
	}
}

// FuzzNetwork invents networks. For all of them, the invariants hold after every step, equal histories lead to equal
// actions, nothing stalls, no source is asked before its Retry-After time, the download ends with every byte, right if
// pieces have digests, and duplicate bytes are limited.
func FuzzNetwork(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) { assess(t, (&inventor{data}).scenario()) })
}

// TestInventedNetworks does the same with as many networks as a test has time for.
func TestInventedNetworks(t *testing.T) {
	for seed := range 250 * *inventions {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			assess(t, faulty(uint64(seed)))
		})
	}
}

var inventions = flag.Int("inventions", 1, "times 250 networks are invented")

// faulty invents a network with faults, and a file of at most 3 MiB to limit the time.
func faulty(seed uint64) scenario {
	rng := rand.New(rand.NewPCG(seed, 3))
	data := make([]byte, 400)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	data[0] %= 12
	return (&inventor{data}).scenario()
}

// assess plays a scenario and checks all assertions.
func assess(t *testing.T, sc scenario) {
	n := newNetwork(t, sc)
	n.strict = true
	n.play(sc.limit)
	r := n.summary()
	if !r.finished {
		t.Fatalf("not finished after %v: failed %v, requests %v", n.now, r.failed, r.requests)
	}
	if limit := sc.size/2 + 16*mib; r.duplicate > limit && !sc.wholes() {
		t.Errorf("%d bytes of %d twice", r.duplicate, sc.size)
	}
}
