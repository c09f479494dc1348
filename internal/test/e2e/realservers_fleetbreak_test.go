//go:build realservers

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/s3test"
)

// TestRealFleetBreaking_Rules74_75_76 kills three watchers, five workers and the queue's servers without warning, and
// stops workers for longer than their leases, while versions of files come to a server and two mirrors, some of them
// with a wrong digest. Every version that is seen is right and whole, each is put in place once and none after a newer
// one, and in the end each file is there in its last version, each job is done, and nothing is left over.
//
// scripts/nightly has ten minutes of it (BRAID_FLEET_TIME), and a cluster of three servers then. BRAID_FLEET_SEED
// repeats what is killed when.
func TestRealFleetBreaking_Rules74_75_76(t *testing.T) {
	t.Parallel()
	length, seed := breakingTime(t)
	for _, tt := range []struct {
		name    string
		servers int // 0: embedded
		objects bool
		rare    bool
	}{
		{"embedded, objects", 0, true, false},
		{"one server, files", 1, false, false},
		{"embedded, files", 0, false, true},
		{"three servers, objects", 3, true, true},
	} {
		if tt.rare && length < time.Minute {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			newBreaking(t, seed, tt.servers, tt.objects).run(length)
		})
	}
}

// breakingTime is for how long a fleet is broken, and how.
func breakingTime(t *testing.T) (length time.Duration, seed uint64) {
	t.Helper()
	length, seed = 15*time.Second, rand.Uint64N(1e9)
	var err error
	if text := os.Getenv("BRAID_FLEET_TIME"); text != "" {
		length, err = time.ParseDuration(text)
	}
	if text := os.Getenv("BRAID_FLEET_SEED"); text != "" && err == nil {
		seed, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		t.Fatal(err)
	}
	return length, seed
}

// A breaking is a fleet that is broken.
type breaking struct {
	*fleetRig
	random    *rand.Rand
	seed      uint64
	servers   *natsCluster // nil: embedded
	store     *s3test.Store
	names     []string
	placed    *history
	slots     []*fleetSlot
	down      []time.Time // when a server that was killed begins again
	kills     int
	stops     int
	gone      int // processes that ended by themselves
	published int
}

// A slot is a process that begins again when it was killed.
type fleetSlot struct {
	name   string
	args   []string
	env    []string
	now    *fleetProcess
	goesOn time.Time // when it was stopped
	begun  int
}

func newBreaking(t *testing.T, seed uint64, servers int, objects bool) *breaking {
	b := &breaking{random: rand.New(rand.NewPCG(seed, uint64(servers))), seed: seed, names: numbered("f", 12)}
	if servers > 0 {
		b.servers = newNATS(t, servers)
		b.fleetRig = newFleetRig(t, b.servers.flags()...)
		b.down = make([]time.Time, servers)
	} else {
		b.fleetRig = newFleetRig(t)
	}
	b.lease = "5s" // the shortest: leases are lost all the time
	b.logs = filepath.Join(b.dir, "logs")
	if dir := os.Getenv("BRAID_FLEET_LOGS"); dir != "" {
		b.logs = filepath.Join(dir, filepath.Base(t.Name()))
	}
	os.MkdirAll(b.logs, 0o755)
	b.mirrored = publicDir(t)
	for range 2 {
		b.mirrors = append(b.mirrors, nginx.start(t, site{root: b.mirrored, rate: 2 << 20}))
	}
	b.pace = 20 * time.Millisecond
	if objects {
		b.store = s3test.New(t)
		b.to = "s3://bucket/pool/"
		b.placed = watchStore(b.store, "pool/isos/")
	} else {
		b.placed = watchFolder(t, filepath.Join(b.dir, "out", "isos"))
	}
	for i := range 3 {
		b.slots = append(b.slots, &fleetSlot{name: fmt.Sprint("watcher-", i), args: b.watch(fmt.Sprint("watcher-", i))})
	}
	for i := range 5 {
		s := &fleetSlot{name: fmt.Sprint("worker-", i), args: b.work()}
		if b.store != nil { // two are on one machine
			s.env = append(b.store.Env(), "XDG_STATE_HOME="+filepath.Join(b.dir, fmt.Sprint("machine-", i/2*i)))
		}
		b.slots = append(b.slots, s)
	}
	return b
}

func (b *breaking) run(length time.Duration) {
	b.t.Logf("BRAID_FLEET_SEED=%d", b.seed)
	b.t.Cleanup(b.end)
	b.news(b.names...)
	for _, s := range b.slots {
		b.begin(s)
	}
	b.breakFor(length, nil)
	took := b.settleDown(b.names)
	b.jobsAreDone(b.names)
	b.placed.check(b.t, b.names)
	b.leftOver()
	b.t.Logf("fleet: %d kills, %d stops, %d ended by themselves, %d versions, %d in place, right %v after the last",
		b.kills, b.stops, b.gone, b.published, b.placed.count(), took.Round(time.Millisecond))
}

// breakFor strikes for a time. Now and then it calls burst, if that is not nil, right before a strike.
func (b *breaking) breakFor(length time.Duration, burst func()) {
	for began := time.Now(); time.Since(began) < length; {
		time.Sleep(time.Duration(b.random.IntN(1200)) * time.Millisecond) // when it is broken
		if burst != nil && b.random.IntN(40) == 0 {
			burst()
			time.Sleep(time.Duration(b.random.IntN(2500)) * time.Millisecond) // until those that poll are killed
			for _, s := range b.slots {
				if strings.HasPrefix(s.name, "watcher") {
					s.now.Process.Kill()
					<-s.now.exited
					b.kills++
					b.begin(s)
				}
			}
		}
		b.strike()
		b.news(b.names[b.random.IntN(len(b.names))])
		b.look()
		b.goOn(time.Now())
	}
	b.goOn(time.Now().Add(time.Hour))
}

// settleDown waits until each file is there in its last version, which is right, and returns how long that takes.
func (b *breaking) settleDown(names []string) time.Duration {
	b.t.Helper()
	for _, name := range names {
		if b.placed.last(name) == "" {
			b.put(false, name)
		}
	}
	return b.await("each file in its last version", func() bool { b.goOn(time.Now()); return b.look() })
}

// jobsAreDone waits until each file has a job that is done, and nothing else has one.
func (b *breaking) jobsAreDone(names []string) {
	b.t.Helper()
	b.await("each job is done", func() bool {
		for _, j := range b.jobs() {
			if j.State != "done" {
				return false
			}
		}
		return true
	})
	if n := len(b.jobs()); n != len(names) {
		b.t.Errorf("%d jobs of %d files", n, len(names))
	}
}

// news publishes a version of each of names. One of ten is wrong, and one of eight has two parts.
func (b *breaking) news(names ...string) {
	for _, name := range names {
		b.put(b.random.IntN(10) == 0, name)
	}
}

func (b *breaking) put(wrong bool, names ...string) {
	for _, name := range names {
		size := 10_000 + b.random.IntN(400_000)
		if b.random.IntN(8) == 0 {
			size += 9 << 20
		}
		b.announce = func(body []byte) { b.placed.expect(name, body, wrong) }
		b.publish(size, wrong, name)
		b.published++
	}
}

// begin begins a process.
func (b *breaking) begin(s *fleetSlot) {
	log, err := os.OpenFile(filepath.Join(b.logs, s.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		b.t.Fatal(err)
	}
	defer log.Close()
	s.begun++
	fmt.Fprintf(log, "--- %s, number %d\n", time.Now().UTC().Format("15:04:05.000"), s.begun)
	b.env = s.env
	s.now = &fleetProcess{Cmd: b.command(s.args...), exited: make(chan struct{})}
	s.now.Stdout, s.now.Stderr = log, log
	b.fleetRig.run(s.now)
}

// strike kills a process or a server, or stops a worker.
func (b *breaking) strike() {
	i, stop := b.random.IntN(len(b.slots)+len(b.down)), b.random.IntN(6) == 0
	wait := time.Duration(b.random.IntN(3000)) * time.Millisecond
	if i >= len(b.slots) {
		if n := i - len(b.slots); b.down[n].IsZero() {
			b.servers.kill(n)
			b.down[n] = time.Now().Add(wait)
			b.kills++
		}
		return
	}
	s := b.slots[i]
	if stop && strings.HasPrefix(s.name, "worker") && s.goesOn.IsZero() {
		s.now.Process.Signal(syscall.SIGSTOP)
		s.goesOn = time.Now().Add(5*time.Second + wait)
		b.stops++
		return
	}
	s.goesOn = time.Time{}
	s.now.Process.Kill()
	<-s.now.exited
	b.kills++
	b.begin(s)
}

// goOn has what was stopped or killed go on, if it is time, and what ended by itself as the queue was away.
func (b *breaking) goOn(now time.Time) {
	for n, at := range b.down {
		if !at.IsZero() && now.After(at) {
			b.servers.start(n)
			b.down[n] = time.Time{}
		}
	}
	for _, s := range b.slots {
		if !s.goesOn.IsZero() && now.After(s.goesOn) {
			s.now.Process.Signal(syscall.SIGCONT)
			s.goesOn = time.Time{}
		}
		select {
		case <-s.now.exited:
			if b.gone++; b.servers == nil {
				b.t.Errorf("%s ended by itself: %v", s.name, s.now.ProcessState)
			}
			b.begin(s)
		default:
		}
	}
}

// look checks what is seen of each file, and reports whether all are in their last version.
func (b *breaking) look() bool {
	all := true
	for _, name := range b.names {
		var data []byte
		if b.store != nil {
			data = b.store.Object("pool/isos/" + name)
		} else {
			data, _ = os.ReadFile(filepath.Join(b.dir, "out", "isos", name))
		}
		all = b.placed.seen(b.t, name, data) && all
	}
	return all
}

// leftOver: uploads, stages and probes are gone, and the evidence is that of the objects.
func (b *breaking) leftOver() {
	if b.store != nil {
		b.t.Helper()
		last := b.probeAgain()
		b.env = b.store.Env()
		b.nothingLeft(b.store, append(last, b.names...)...)
		for _, name := range b.names {
			if e := string(b.store.Object("pool/isos/" + name + ".evidence.json")); !strings.Contains(e, b.placed.last(name)) {
				b.t.Errorf("the evidence of %s is not of its last version %s:\n%s", name, b.placed.last(name), e)
			}
		}
		return
	}
	b.await("nothing unfinished is left", func() bool {
		left, err := os.ReadDir(filepath.Join(b.dir, "out", ".braid-work"))
		return err == nil && len(left) == 1 // only the file with the ID of the folder
	})
}

// probeAgain makes an object on each machine: a worker that was killed while it asked the store about conditions has
// left something, which the next one there removes that asks.
func (b *breaking) probeAgain() (names []string) {
	b.t.Helper()
	queue := b.queue
	b.queue = nil
	for _, s := range b.slots {
		if strings.HasPrefix(s.name, "worker") {
			b.env = s.env
			b.braid("get", "-q", "-o", "s3://bucket/pool/isos/"+s.name, b.server.URL+"/files/"+b.names[0])
			names = append(names, s.name)
		}
	}
	b.queue = queue
	return names
}

// end kills all.
func (b *breaking) end() {
	for _, s := range b.slots {
		if s.now != nil {
			s.now.Process.Kill()
			<-s.now.exited
		}
		if b.t.Failed() {
			out, _ := exec.Command("tail", "-n", "25", filepath.Join(b.logs, s.name+".log")).Output()
			b.t.Logf("%s:\n%s", s.name, out)
		}
	}
}
