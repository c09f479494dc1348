package releases

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// For scripts/bench lookup.
var (
	braid     = flag.String("braid", "", "measure this command")
	namesFlag = flag.String("names", namesFile, "a file with the names of lists, by count")
	seed      = flag.Uint64("seed", 1, "of the releases")
	most      = flag.Int("releases", 300, "how many; a third without a list, a tenth misleading")
	reps      = flag.Int("reps", 7, "runs of the batch each way")
)

// A command runs braid as a user without any settings or earlier runs.
type command struct {
	t    *testing.T
	dir  string
	args []string // of each get
}

// times are the wall time and the processor time of a run, in seconds.
type times struct{ wall, cpu float64 }

// get runs braid get, and returns what it printed, its exit code and its times.
func (c *command) get(args ...string) (out []byte, exit int, took times) {
	home, err := os.MkdirTemp(c.dir, "home-")
	if err != nil {
		c.t.Fatal(err)
	}
	defer os.RemoveAll(home)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(c.t.Context(), *braid, append(append([]string{"get"}, c.args...), args...)...)
	cmd.Dir, cmd.Stderr = home, &stderr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	began := time.Now()
	out, err = cmd.Output()
	took.wall = time.Since(began).Seconds()
	took.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return append(out, stderr.Bytes()...), e.ExitCode(), took
	} else if err != nil {
		c.t.Fatal(err)
	}
	return out, 0, took
}

// verified reports whether an event of the output says so.
func verified(out []byte) bool {
	for line := range bytes.Lines(out) {
		var e struct {
			Event    string
			Verified bool
		}
		if json.Unmarshal(line, &e) == nil && e.Event == "done" && e.Verified {
			return true
		}
	}
	return false
}

// sums are those of the releases of a kind.
type sums struct {
	all, strong, weak, before, found, right, wrong, misjudged int
	cost, worst                                               Cost
}

func (s *sums) add(r *Release, j Judgement, before, after bool, cost Cost) {
	s.all++
	if r.Trap == "" && r.Publishes == Strong {
		s.strong++
		if after {
			s.found++
		}
	}
	if r.Trap == "" && r.Publishes == Weak {
		s.weak++
	}
	if before {
		s.before++
	}
	switch j {
	case Right:
		s.right++
	case Wrong:
		s.wrong++
	case Misjudged:
		s.misjudged++
	}
	s.cost.Questions += cost.Questions
	s.cost.Listings += cost.Listings
	s.cost.Small += cost.Small
	s.cost.Hops += cost.Hops
	s.worst.Questions = max(s.worst.Questions, cost.Questions)
	s.worst.Listings = max(s.worst.Listings, cost.Listings)
	s.worst.Small = max(s.worst.Small, cost.Small)
}

// TestBench measures the command (scripts/bench lookup).
func TestBench(t *testing.T) {
	if *braid == "" {
		return
	}
	config, pem := certify(t)
	misleading, without := *most/10, *most/3
	w, all, stop := New(readNames(t, *namesFlag), Mix{*most - misleading - without, without, misleading}, *seed, config)
	defer stop()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	c := command{t, t.TempDir(), []string{"--json", "--proxy", w.Proxy, "--cacert", authority, "-o", "file"}}
	if *most == 0 {
		c.batch()
		return
	}
	fmt.Printf("lookup: %d releases after the names in %s\n", len(all), *namesFlag)
	byHost, total := map[string]*sums{}, &sums{}
	for _, r := range all {
		out, _, _ := c.get("--no-lookup", r.URL)
		before := verified(out)
		w.Take()
		out, exit, _ := c.get(r.URL)
		after, cost := verified(out), Count(w.Take())
		j := r.Judge(after, exit)
		kind := r.Host
		if r.Trap != "" {
			kind = "misleading"
		}
		if byHost[kind] == nil {
			byHost[kind] = &sums{}
		}
		byHost[kind].add(r, j, before, after, cost)
		total.add(r, j, before, after, cost)
		if j != Right || cost.Questions > 1 || cost.Listings > 1 || cost.Small > 4 {
			fmt.Printf("  %s: %v: exit %d, %+v\n", j, r, exit, cost)
		}
	}
	row := func(name string, s *sums) {
		n := float64(s.all)
		fmt.Printf("  %-24s %4d %8d %5d %8d %9d %6d %10d   %8.2f %8.2f %6.2f (most %d, %d, %d)\n", name, s.all,
			s.strong, s.weak, s.before, s.found,
			s.wrong, s.misjudged, float64(s.cost.Questions)/n, float64(s.cost.Listings)/n, float64(s.cost.Small)/n,
			s.worst.Questions, s.worst.Listings, s.worst.Small)
	}
	fmt.Printf("  %-24s %4s %8s %5s %8s %9s %6s %10s   %8s %8s %6s a file\n", "", "all", "publish", "weak", "before",
		"verified", "wrong", "misjudged",
		"answers", "listings", "small")
	for _, kind := range slices.Sorted(maps.Keys(byHost)) {
		row(kind, byHost[kind])
	}
	row("all", total)
	fmt.Printf("  verified without a flag: %d of %d that publish a SHA-256 or better: %.1f %% (goal: at least 85 %%); "+
		"with --no-lookup %d of all\n",
		total.found, total.strong, 100*float64(total.found)/float64(max(total.strong, 1)), total.before)
	fmt.Printf("  verified wrongly: %d, refused wrongly: %d (goal: 0)\n", total.wrong, total.misjudged)
	c.batch()
}

// batch measures a batch of small files in one folder, with and without lookups in turn.
func (c *command) batch() {
	const files = 1000
	bodies, list := map[string]string{}, ""
	for i := range files {
		name := fmt.Sprintf("file-%04d.bin", i)
		bodies[name] = strings.Repeat(fmt.Sprintf("small file %d. ", i), 250)
		list += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(bodies[name])), name)
	}
	bodies["SHA256SUMS"] = list
	var listings, lists, missing atomic.Int64
	page := indexes[0].page(slices.Sorted(maps.Keys(bodies))...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/pub/")
		body, ok := bodies[name]
		switch {
		case name == "":
			listings.Add(1)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page)
			return
		case !ok:
			missing.Add(1)
			http.NotFound(w, r)
			return
		case name == "SHA256SUMS":
			lists.Add(1)
		}
		w.Header().Set("ETag", `"`+name+`"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
	}))
	defer server.Close()
	input := filepath.Join(c.dir, "list.txt")
	text := ""
	for name := range maps.Keys(bodies) {
		if name != "SHA256SUMS" {
			text += server.URL + "/pub/" + name + "\n"
		}
	}
	if err := os.WriteFile(input, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.args = []string{"-q", "-i", input, "-d", "files"}
	if out, exit, _ := c.get("--require", "digest"); exit != 0 {
		c.t.Fatalf("exit %d\n%s", exit, out)
	}
	fmt.Printf("lookup: a batch of %d files of one folder: listings %d (goal: 1), lists %d, others %d; all verified\n",
		files, listings.Load(),
		lists.Load(), missing.Load())
	c.compare()
}

// compare runs the batch with and without lookups in turn.
func (c *command) compare() {
	var with, without [2][]float64 // wall and processor time
	for range *reps {
		for _, run := range []struct {
			flag  string
			times *[2][]float64
		}{{"--no-lookup", &without}, {"--no-lookup=false", &with}} {
			out, exit, took := c.get(run.flag)
			if exit != 0 {
				c.t.Fatalf("exit %d\n%s", exit, out)
			}
			run.times[0], run.times[1] = append(run.times[0], took.wall), append(run.times[1], took.cpu)
		}
	}
	for i, kind := range []string{"wall time", "processor time"} {
		fmt.Printf("  %-15s with a lookup %.2f s, without %.2f s: ratio of the medians %.3f (goal: at most 1.05)\n",
			kind, with[i], without[i],
			median(with[i])/median(without[i]))
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
