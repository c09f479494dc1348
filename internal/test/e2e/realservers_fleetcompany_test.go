//go:build realservers

package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	queueAway = 4 * time.Millisecond // there and back
	manyFiles = 600
	drips     = 12 // as many as the good workers have places
)

// TestFleetCompany has good workers beside bad ones: one has no uplink, one lacks the password of the server, and a
// host drips. All of them are 4 ms from the queue, and the feed of 600 files has an ETag. It prints how long 600 files
// take the good workers alone, and in that company, twice. Then all are killed at random, the server of the queue, too,
// while versions come, now and then of all files: no update is lost.
//
// It is for scripts/nightly, as TestRealFleetBreaking is, and for a busy machine its figures mean little.
func TestFleetCompany(t *testing.T) {
	length, seed := breakingTime(t)
	c := newCompany(t, seed)
	t.Logf("BRAID_FLEET_SEED=%d", seed)
	t.Cleanup(c.end)
	c.fetch(c.good) // the versions that are measured take the place of others
	var alone, among time.Duration
	for i := range 2 {
		a := c.fetch(c.good)
		d := c.drip(i)
		b := c.fetch(c.slots)
		t.Logf("fleet: %d files: %v alone, %v in bad company, %.2f times as long", manyFiles, a.Round(time.Millisecond),
			b.Round(time.Millisecond), b.Seconds()/a.Seconds())
		alone, among = alone+a, among+b
		c.stopDrip(d)
		for _, s := range c.slots[len(c.good):] {
			s.now.Process.Kill()
			<-s.now.exited
			s.now = nil
		}
	}
	t.Logf("fleet: in bad company %.2f times as long in all", among.Seconds()/alone.Seconds())
	d := c.drip(2)
	c.beginAll(c.slots)
	c.breakFor(length, c.all)
	c.settleDown(c.names)
	c.stopDrip(d)
	c.jobsAreDone(c.names)
	c.placed.check(t, c.names)
	c.leftOver()
	t.Logf("fleet: %d kills, %d stops, %d ended by themselves, %d versions of %d files, of which %d were in place, and "+
		"no last one is missing",
		c.kills, c.stops, c.gone, c.published, len(c.names), c.placed.count())
}

// A company is a fleet with bad workers in it.
type company struct {
	*breaking
	good []*fleetSlot // the first of slots
}

func newCompany(t *testing.T, seed uint64) *company {
	c := &company{breaking: &breaking{random: rand.New(rand.NewPCG(seed, 9)), seed: seed,
		names: numbered("f", manyFiles), servers: newNATS(t, 1), down: make([]time.Time, 1)}}
	flags := c.servers.flags()
	flags[1] = "tls://" + farAway(t, strings.TrimPrefix(c.servers.urls[0], "tls://"), queueAway)
	c.fleetRig = newFleetRig(t, flags...)
	c.logs = filepath.Join(c.dir, "logs")
	if dir := os.Getenv("BRAID_FLEET_LOGS"); dir != "" {
		c.logs = filepath.Join(dir, t.Name())
	}
	settings := filepath.Join(c.dir, "with-password", "braid")
	err := os.MkdirAll(c.logs, 0o755)
	if err == nil {
		err = os.MkdirAll(settings, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(settings, "config.toml"),
			fmt.Appendf(nil, "[site.%q]\nheader = \"Authorization: Basic cm9vdDpzM2NyZXQ=\"\n", c.server.URL+"/*"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.password, c.answer = "s3cret", 150*time.Millisecond
	c.placed = watchFolder(t, filepath.Join(c.dir, "out", "isos"))
	has := []string{"XDG_CONFIG_HOME=" + filepath.Dir(settings)}
	for i := range 2 {
		c.good = append(c.good, &fleetSlot{name: fmt.Sprint("watcher-", i), args: c.watch(fmt.Sprint("watcher-", i))})
	}
	for i := range 3 {
		c.good = append(c.good, &fleetSlot{name: fmt.Sprint("worker-", i), args: c.work("--lowest-speed-limit", "1K"), env: has})
	}
	c.slots = append(slices.Clone(c.good),
		&fleetSlot{name: "worker-no-uplink", args: c.work("--proxy", "http://127.0.0.1:1", "--no-proxy", "none.invalid",
			"--tries", "1"), env: has},
		&fleetSlot{name: "worker-no-password", args: c.work()})
	return c
}

// beginAll begins those that do not run.
func (c *company) beginAll(slots []*fleetSlot) {
	for _, s := range slots {
		if s.now == nil {
			c.begin(s)
		}
	}
}

// fetch has processes fetch a version of all files, and returns how long that takes.
func (c *company) fetch(by []*fleetSlot) time.Duration {
	c.t.Helper()
	c.beginAll(by)
	c.await("they are ready", func() bool { // a new lease of the lead, and what bad workers do first, are not measured
		for _, s := range by {
			text, _ := os.ReadFile(filepath.Join(c.logs, s.name+".log"))
			if strings.HasPrefix(s.name, "worker") && !strings.Contains(string(text), "msg=ready") {
				return false
			}
		}
		return true
	})
	c.all()
	return c.await("all files", c.lookRarely)
}

// all publishes a version of all files.
func (c *company) all() {
	for _, name := range c.names {
		c.announce = func(body []byte) { c.placed.expect(name, body, false) }
		c.publish(20_000, false, name)
		c.published++
	}
}

// lookRarely is look, and no load.
func (c *company) lookRarely() bool {
	time.Sleep(200 * time.Millisecond)
	return c.look()
}

// A dripper is a host that sends a byte a second.
type dripper struct {
	*httptest.Server
	names []string
	over  func()
}

// drip makes jobs of such a host.
func (c *company) drip(n int) *dripper {
	c.t.Helper()
	over := make(chan struct{})
	d := &dripper{over: sync.OnceFunc(func() { close(over) })}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusOK)
		for range 100 {
			if r.Method == http.MethodHead {
				return
			}
			select {
			case <-over:
			case <-time.After(time.Second): // it drips
			case <-r.Context().Done():
				return
			}
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
		}
	}))
	c.t.Cleanup(func() { d.over(); d.Close() })
	var text strings.Builder
	for i := range drips {
		name := fmt.Sprintf("drip%d/%d", n, i)
		d.names = append(d.names, name)
		fmt.Fprintf(&text, "%s/%d\n  out=%s\n", d.URL, i, name)
	}
	list := filepath.Join(c.dir, "drips")
	if err := os.WriteFile(list, []byte(text.String()), 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.braid("get", "-i", list)
	return d
}

// stopDrip has the files of a host come at once, and waits until its jobs are done.
func (c *company) stopDrip(d *dripper) {
	c.t.Helper()
	d.over()
	c.await("what has dripped is here", func() bool {
		time.Sleep(200 * time.Millisecond) // not to be a load
		jobs, left := c.jobs(), false
		for _, name := range d.names {
			if j := jobs[name]; j.State != "done" {
				left = true
				if j.State == "waiting" || j.State == "dead" {
					c.command("queue", "retry", name).Run() // unless a worker has it by now
				}
			}
		}
		return !left
	})
	for _, name := range d.names {
		c.braid("queue", "drop", name)
	}
}

// farAway is the address of a server that is so far away, there and back.
func farAway(t *testing.T, backend string, away time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", backend)
			if err != nil {
				client.Close()
				continue
			}
			go passLate(server, client, away/2)
			go passLate(client, server, away/2)
		}
	}()
	return l.Addr().String()
}

// passLate passes on what comes, each of it so late.
func passLate(to, from net.Conn, late time.Duration) {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 32<<10)
			n, err := from.Read(buf)
			if n > 0 {
				pieces <- piece{buf[:n], time.Now().Add(late)}
			}
			if err != nil {
				return
			}
		}
	}()
	defer to.Close()
	defer from.Close()
	failed := false
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil && !failed {
			failed = true // what is read still has to go somewhere
			from.Close()
		}
	}
}
