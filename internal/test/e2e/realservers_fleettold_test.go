//go:build realservers

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A fleetStatus is what braid queue status --json says.
type fleetStatus struct {
	Jobs              map[string]int
	Speed, Done, Size int64
	Workers           map[string]int
	Silent            []string
	Running           []struct {
		Job      struct{ Name string }
		Since    time.Time
		Lease    struct{ Holder string }
		Progress struct {
			Done, Size, Speed int64
			Sources           int
		}
	}
}

func (f *fleetRig) status() (s fleetStatus) {
	f.t.Helper()
	if err := json.Unmarshal([]byte(f.braid("queue", "status", "--json")), &s); err != nil {
		f.t.Fatal(err)
	}
	return s
}

// metrics are those of a process that was started with --metrics.
func (p *fleetProcess) metrics(t *testing.T) string {
	t.Helper()
	at := regexp.MustCompile(`url=(http://\S+/metrics)`).FindStringSubmatch(p.log.String())
	if at == nil {
		t.Fatalf("no address of metrics in %s", p.log.String())
	}
	resp, err := http.Get(at[1])
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRealFleetTold: a file that comes is shown with its bytes long before the lease is prolonged, and Prometheus gets
// what there is.
func TestRealFleetTold(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	work := f.start("work", "--to", f.to, "-v", "--lowest-speed-limit", "0", "--lease", "10m", "--metrics", "127.0.0.1:0")
	f.await("a worker is ready", func() bool { return strings.Contains(work.log.String(), "msg=ready") })
	name := fmt.Sprintf("/%d/", work.Process.Pid)
	only := func(s fleetStatus) bool {
		for w := range s.Workers {
			return len(s.Workers) == 1 && strings.Contains(w, name)
		}
		return false
	}
	f.await("an idle worker is seen", func() bool { return only(f.status()) })
	f.publish(4<<20, false, "slow.iso")
	f.publish(20_000, true, "wrong.iso")
	f.braid("get", f.server.URL+"/files/slow.iso", f.server.URL+"/files/wrong.iso")
	f.await("the wrong one is over", func() bool { return f.jobs()["wrong.iso"].State == "waiting" })
	f.await("half of it is here", func() bool { // the lease is prolonged after some minutes
		s := f.status()
		return only(s) && len(s.Running) == 1 && strings.Contains(s.Running[0].Lease.Holder, name) &&
			s.Running[0].Progress.Done >= 2<<20 &&
			s.Running[0].Progress.Size == 4<<20 && s.Running[0].Progress.Sources == 1 &&
			s.Done == s.Running[0].Progress.Done && s.Size == 4<<20 && !s.Running[0].Since.IsZero()
	})
	if text := f.braid("queue", "status"); !regexp.MustCompile(`running  slow\.iso  at \S+` + name +
		`\S+, 2\S* MiB of 4 MiB, .* from 1 source, for [^\n]+\ntotal         2\S* MiB of 4 MiB, `).MatchString(text) {
		t.Errorf("for people it is\n%s", text)
	}
	has := func(p *fleetProcess, lines ...string) { // in the end: a gauge may be of a moment before
		t.Helper()
		for _, line := range lines {
			f.await(line, func() bool { return strings.Contains(p.metrics(t), "\n"+line+"\n") })
		}
	}
	has(work, "braid_queue_up 1", "braid_queue_jobs 2", "braid_work_jobs 1",
		`braid_work_tries_total{result="waiting"} 1`, `braid_work_tries_total{result="done"} 0`)
	f.open("slow.iso")
	f.await("it is done", func() bool { return f.jobs()["slow.iso"].State == "done" })
	f.await("that is counted", func() bool {
		return strings.Contains(work.metrics(t), `braid_work_tries_total{result="done"} 1`)
	})
	has(work, "braid_queue_jobs 1", "braid_work_jobs 0", "braid_work_takeovers_total 0")

	f.env = []string{"BRAID_METRICS=127.0.0.1:0"}
	polls, waits := f.watcher("a"), f.watcher("b")
	f.await("both files are reported", func() bool {
		return strings.Contains(polls.metrics(t), `braid_watch_jobs_total{news="queued"} 2`)
	})
	has(polls, "braid_queue_up 1", `braid_feed_failures{feed="news"} 0`)
	has(waits, "braid_queue_up 1")
	if text := waits.metrics(t); strings.Contains(text, "feed=") {
		t.Errorf("the one that stands by has\n%s", text)
	}
}
