//go:build realservers

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A load is what a fleet of two watchers and six workers has to do, of 24 downloads at once. The model has the same in
// fleet/measured_test.go.
type load struct {
	name  string
	jobs  int
	rate  float64 // jobs a second that are published; 0: all at once
	pace  int     // requests a second that the host gets; 0: no limit
	kills int     // workers that are killed 2 s after the first job was reported, and not started again
}

var loads = []load{
	{"300 jobs at once", 300, 0, 0, 0},
	{"300 jobs, 10 a second", 300, 10, 0, 0},
	{"300 jobs, 30 a second", 300, 30, 0, 0},
	{"200 jobs at once, 20 requests a second", 200, 0, 20, 0},
	{"300 jobs at once, three workers killed", 300, 0, 0, 3},
}

const (
	answerTime = 100 * time.Millisecond // that the server takes for each request
	fileTime   = 600 * time.Millisecond // and for each file
)

// TestFleetMeasured prints what such fleets did. It is for ./scripts/fleetsim -measured.
func TestFleetMeasured(t *testing.T) {
	if os.Getenv("BRAID_FLEET_MEASURED") == "" {
		return
	}
	for _, l := range loads {
		t.Run(l.name, func(t *testing.T) { l.measure(t) })
	}
}

func (l load) measure(t *testing.T) {
	c := newNATS(t, 1)
	f := newFleetRig(t, c.flags()...)
	f.answer, f.pace = answerTime, fileTime
	watchers := []*fleetProcess{f.watcher("watcher-a"), f.watcher("watcher-b")}
	var workers []*fleetProcess
	more := []string{"--host-rate", fmt.Sprint(l.pace)}
	if l.pace == 0 {
		more = nil
	}
	for range 6 {
		workers = append(workers, f.start(f.work(more...)...))
	}
	for _, w := range workers {
		f.await("a worker is ready", func() bool { return strings.Contains(w.log.String(), "msg=ready") })
	}
	f.publish(1000, false, "first") // a feed without files is polled less often
	f.await("the first file", func() bool { return f.right("first") })
	time.Sleep(2 * time.Second) // what is stored in the beginning is not of the jobs
	before := c.stored()
	names, published := numbered("j", l.jobs), map[string]time.Time{}
	random := rand.New(rand.NewPCG(1, 1))
	for _, name := range names {
		if l.rate > 0 {
			time.Sleep(time.Duration(random.ExpFloat64() / l.rate * float64(time.Second))) // when it is published
		}
		published[name] = time.Now()
		f.publish(64<<10, false, name)
	}
	killing := l.kills
	var done map[string]time.Time
	f.await("all is done", func() bool {
		time.Sleep(200 * time.Millisecond) // not to be a load
		reported := told(watchers, "job", "queued")
		if killing > 0 && len(reported) > 0 && time.Since(reported[names[0]]) > 2*time.Second {
			workers[killing-1].Process.Kill()
			killing--
		}
		done = told(workers, "done", "")
		delete(done, "first")
		return len(done) == l.jobs
	})
	l.print(f, published, told(watchers, "job", "queued"), done, c.stored()-before)
}

func (l load) print(f *fleetRig, published, reported, done map[string]time.Time, stored uint64) {
	var late, seen []float64
	first, last := time.Now(), time.Time{}
	for name, at := range done {
		late = append(late, (at.Sub(reported[name]) - fileTime).Seconds())
		seen = append(seen, at.Sub(published[name]).Seconds())
		if first.After(reported[name]) {
			first = reported[name]
		}
		if last.Before(at) {
			last = at
		}
	}
	requests := 0
	for _, n := range f.counts(f.gets) {
		requests += n
	}
	n := float64(l.jobs)
	fmt.Printf("| %s | real | %.1f | %s | %s | %.1f | %.1f |\n", l.name, n/last.Sub(first).Seconds(), spread(late),
		spread(seen), float64(stored)/n, float64(requests)/n)
}

func spread(all []float64) string {
	slices.Sort(all)
	at := func(part float64) float64 { return all[int(math.Ceil(part*float64(len(all))))-1] }
	return fmt.Sprintf("%.2f, %.2f, %.2f s", at(0.5), at(0.99), at(1))
}

// logged is a line of a log about a job.
var logged = regexp.MustCompile(`(?m)^time=(\S+) level=\w+ msg=(\w+) .*job=isos/(\S+)(?: .* is=(\w+))?`)

// told is when processes told of each job first, in lines of a kind.
func told(by []*fleetProcess, what, is string) map[string]time.Time {
	all := map[string]time.Time{}
	for _, p := range by {
		for _, m := range logged.FindAllStringSubmatch(p.log.String(), -1) {
			at, err := time.Parse(time.RFC3339Nano, m[1])
			if m[2] != what || m[4] != is || err != nil {
				continue
			}
			if was, ok := all[m[3]]; !ok || at.Before(was) {
				all[m[3]] = at
			}
		}
	}
	return all
}

// stored is how many values and messages were stored in all.
func (c *natsCluster) stored() (n uint64) {
	c.t.Helper()
	pem, err := os.ReadFile(filepath.Join(c.dir, "cert.pem"))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	conn, failed := nats.Connect(c.urls[0], nats.UserCredentials(filepath.Join(c.dir, "user.creds")),
		nats.Secure(&tls.Config{RootCAs: roots}))
	if err != nil || failed != nil {
		c.t.Fatal(err, failed)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer stop()
	list := js.ListStreams(ctx)
	for s := range list.Info() {
		n += s.State.LastSeq
		if testing.Verbose() {
			c.t.Log(s.Config.Name, s.State.LastSeq)
		}
	}
	if list.Err() != nil {
		c.t.Fatal(list.Err())
	}
	return n
}
