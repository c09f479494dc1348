//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	fleetJobs    = 2_000
	fleetSize    = 64 << 10
	fleetWorkers = 4
	fleetAtOnce  = 8
	fleetIdle    = 20 * time.Second
	fleetLease   = 5 * time.Second
)

// fleet measures a queue with several workers: compared with braid get of the same files, after the end of a worker,
// and while idle.
func (b *bench) fleet(ctx context.Context) error {
	if err := b.fleetJobs(ctx); err != nil {
		return err
	}
	if err := b.takeOver(ctx); err != nil {
		return err
	}
	return b.idleFleet(ctx)
}

// A fleetRig is the folder of a queue and its processes.
type fleetRig struct {
	*bench
	dir string
	all []*service
}

func (b *bench) newFleet() (*fleetRig, error) {
	dir, err := os.MkdirTemp(b.dir, "fleet-")
	return &fleetRig{bench: b, dir: dir}, err
}

func (f *fleetRig) to() string { return filepath.Join(f.dir, "into") }

func (f *fleetRig) command(args ...string) command {
	return append(command{f.braid}, append(args, "--queue", "embedded:"+filepath.Join(f.dir, "queue"))...)
}

// start starts a long-running process.
func (f *fleetRig) start(c command) (*service, error) {
	s := &service{command: c, exited: make(chan struct{})}
	s.cmd = exec.Command(c[0], c[1:]...)
	s.cmd.Stdout, s.cmd.Stderr, s.cmd.Env = &s.said, &s.said, environment(f.dir)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	f.all = append(f.all, s)
	go func() {
		s.cmd.Wait()
		close(s.exited)
	}()
	return s, nil
}

func (f *fleetRig) worker(atOnce string) (*service, error) {
	return f.start(f.command("work", "-q", "-j", atOnce, "--lease", fleetLease.String(), "--to", f.to()))
}

// stop ends all processes. Those that run the queue are last.
func (f *fleetRig) stop() {
	for i := len(f.all) - 1; i >= 0; i-- {
		f.all[i].cmd.Process.Kill()
		<-f.all[i].exited
	}
	os.RemoveAll(f.dir)
}

// run runs a command to its end.
func (f *fleetRig) run(ctx context.Context, c command) (out []byte, took time.Duration, err error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, c[0], c[1:]...)
	cmd.Env, cmd.Stderr = environment(f.dir), &said
	began := time.Now()
	if out, err = cmd.Output(); err != nil {
		err = fmt.Errorf("%s: %w\n%s", c, err, said.Bytes())
	}
	return out, time.Since(began), err
}

// smallServer serves files of a size, which are one file, and writes lists of them: a whole one, and one for each
// worker.
func (b *bench) smallServer(ctx context.Context, files int, size int64, m mirror) (w *web, list string, parts []string, stop func(), err error) {
	root, err := b.serverRoot(size, 8*int64(files)*size, writeRandom)
	if err != nil {
		return nil, "", nil, nil, err
	}
	if w, err = startNginx(ctx, root, []mirror{m}); err != nil {
		os.RemoveAll(root)
		return nil, "", nil, nil, err
	}
	lists := make([]strings.Builder, fleetWorkers+1)
	for i := range files {
		name := fmt.Sprintf("%04d.bin", i)
		if err = os.Link(filepath.Join(root, fileName), filepath.Join(root, name)); err != nil {
			break
		}
		for _, l := range []int{i % fleetWorkers, fleetWorkers} {
			fmt.Fprintf(&lists[l], "http://%s/%s\n", w.mirrors[0].public, name)
		}
	}
	for i := range lists {
		parts = append(parts, filepath.Join(root, fmt.Sprint("list", i)))
		if err == nil {
			err = os.WriteFile(parts[i], []byte(lists[i].String()), 0o644)
		}
	}
	stop = func() { w.stop(); os.RemoveAll(root) }
	if err != nil {
		stop()
	}
	return w, parts[fleetWorkers], parts[:fleetWorkers], stop, err
}

// fleetJobs compares four workers with one braid get and with four.
func (b *bench) fleetJobs(ctx context.Context) error {
	_, list, parts, stop, err := b.smallServer(ctx, fleetJobs, fleetSize, mirror{origin: true})
	if err != nil {
		return err
	}
	defer stop()
	into := filepath.Join(b.dir, "into")
	one := command{b.braid, "get", "-q", "-j", "32", "-d", into, "-i", list}
	four := command{"sh", "-c", fmt.Sprintf("for l in %s; do %s get -q -j %d -d %s -i $l & done; wait", strings.Join(parts, " "), b.braid, fleetAtOnce, into)}
	var alone, together, enqueued, done, floor series
	var rss, hostRSS float64
	fmt.Printf("fleet: %d files of 64 KiB from one nginx over loopback to %s, in turn; all verify, and sync file and folder\n", fleetJobs, b.where())
	for range (b.reps + 1) / 2 {
		for _, get := range []struct {
			*series
			command
		}{{&alone, one}, {&together, four}} {
			if err := get.measure(ctx, "", get.command); err != nil {
				return err
			}
			if err := complete(into, fleetJobs, fleetSize); err != nil {
				return err
			}
			os.RemoveAll(into)
		}
		host, worker, err := b.runFleet(ctx, list, &enqueued, &done)
		if err != nil {
			return err
		}
		hostRSS, rss = max(hostRSS, host), max(rss, worker)
		took, err := b.floorOfFleet(fleetWorkers * fleetAtOnce)
		if err != nil {
			return err
		}
		floor.seconds, floor.cpu = append(floor.seconds, took.Seconds()), append(floor.cpu, 0)
	}
	alone.print("one braid get", one)
	together.print("four at once", four)
	enqueued.print("into the queue", command{b.braid, "get", "-i", "list", "--queue", "embedded:FOLDER"})
	done.print("four workers", command{b.braid, "work", "-j", strconv.Itoa(fleetAtOnce), "--to", "into", "--queue", "embedded:FOLDER"})
	rate := func(s *series) float64 { return fleetJobs / s.median() }
	fmt.Printf("  enqueued: %.0f a second (goal: 1000)\n", rate(&enqueued))
	fmt.Printf("  done: %.0f a second (goal: 500); one braid get %.0f, four at once %.0f: the time to theirs is %.2f and %.2f\n",
		rate(&done), rate(&alone), rate(&together), done.median()/alone.median(), done.median()/together.median())
	fmt.Printf("  the disk alone, with the same files, renames and fsyncs: %.0f a second (%.0f to %.0f)\n",
		rate(&floor), fleetJobs/slices.Max(floor.seconds), fleetJobs/slices.Min(floor.seconds))
	fmt.Printf("  memory of a worker: %.0f MiB (goal: 150); of the process that runs the queue, too: %.0f MiB\n", rss, hostRSS)
	return nil
}

// runFleet runs the jobs of a list with four workers. It returns the memory of the worker that runs the queue, and of
// the others, in MiB.
func (b *bench) runFleet(ctx context.Context, list string, enqueued, done *series) (host, worker float64, err error) {
	f, err := b.newFleet()
	if err != nil {
		return 0, 0, err
	}
	defer f.stop()
	_, took, err := f.run(ctx, f.command("get", "-q", "-i", list))
	if err != nil {
		return 0, 0, err
	}
	enqueued.seconds, enqueued.cpu = append(enqueued.seconds, took.Seconds()), append(enqueued.cpu, 0)
	began := time.Now()
	for range fleetWorkers {
		if _, err := f.worker(strconv.Itoa(fleetAtOnce)); err != nil {
			return 0, 0, err
		}
	}
	for complete(f.to(), fleetJobs, fleetSize) != nil {
		if err := pass(ctx, 20*time.Millisecond); err != nil {
			return 0, 0, err
		}
	}
	done.seconds = append(done.seconds, time.Since(began).Seconds())
	cpu := 0.0
	for _, s := range f.all {
		u, err := s.use()
		if err != nil {
			return 0, 0, fmt.Errorf("%w\n%s", err, s.said.String())
		}
		cpu += u.cpu
		worker, host = max(min(host, u.most), worker), max(host, u.most)
	}
	done.cpu = append(done.cpu, cpu)
	return host, worker, nil
}

// takeOver measures how long a job is without a worker after its worker was killed, and after its worker ended.
func (b *bench) takeOver(ctx context.Context) error {
	_, list, _, stop, err := b.smallServer(ctx, 2, 16<<20, mirror{own: 256 << 10})
	if err != nil {
		return err
	}
	defer stop()
	fmt.Printf("fleet: a worker of two ends that has a job, with a lease of %v\n", fleetLease)
	for _, end := range []struct {
		by   string
		goal string
		os.Signal
	}{{"kill -9", "the lease and a second", syscall.SIGKILL}, {"SIGTERM", "under 1 s", syscall.SIGTERM}} {
		took, err := b.takenOver(ctx, list, end.Signal)
		if err != nil {
			return err
		}
		fmt.Printf("  taken over after %s: %.2f s (goal: %s)\n", end.by, took.Seconds(), end.goal)
	}
	return nil
}

// takenOver signals the worker of the second job of a list.
func (b *bench) takenOver(ctx context.Context, list string, how os.Signal) (time.Duration, error) {
	f, err := b.newFleet()
	if err != nil {
		return 0, err
	}
	defer f.stop()
	if _, _, err := f.run(ctx, f.command("get", "-q", "-i", list)); err != nil {
		return 0, err
	}
	holders := map[string]bool{}
	for range 2 { // the first one runs the queue and one job
		s, err := f.worker("1")
		if err != nil {
			return 0, err
		}
		if _, err := f.awaitHolder(ctx, s, holders); err != nil {
			return 0, err
		}
	}
	third, err := f.worker("1")
	if err != nil {
		return 0, err
	}
	if err := pass(ctx, 2*time.Second); err != nil { // let it wait for a job
		return 0, err
	}
	f.all[1].cmd.Process.Signal(how)
	return f.awaitHolder(ctx, third, holders)
}

// awaitHolder waits until a process other than the known ones has a job.
func (f *fleetRig) awaitHolder(ctx context.Context, s *service, known map[string]bool) (time.Duration, error) {
	began := time.Now()
	for time.Since(began) < time.Minute {
		out, _, err := f.run(ctx, f.command("queue", "status", "--json"))
		if err != nil {
			return 0, err
		}
		var status struct{ Workers map[string]int }
		if err := json.Unmarshal(out, &status); err != nil {
			return 0, err
		}
		for name, jobs := range status.Workers { // includes workers without a job
			if jobs > 0 && !known[name] && strings.Contains(name, fmt.Sprintf("/%d/", s.cmd.Process.Pid)) {
				known[name] = true
				return time.Since(began), nil
			}
		}
	}
	return 0, fmt.Errorf("%s has no job\n%s", s.command, s.said.String())
}

// idleFleet measures ten idle processes: two watchers and eight workers.
func (b *bench) idleFleet(ctx context.Context) error {
	f, err := b.newFleet()
	if err != nil {
		return err
	}
	defer f.stop()
	for i := range 10 {
		c := f.command("work", "-q", "--to", f.to())
		if i < 2 {
			c = f.command("watch", "-q", "--url", "http://127.0.0.1:9/file.iso", "--check-every", "24h", "--dir", "files", "--state", filepath.Join(f.dir, fmt.Sprint("state", i)))
		}
		if _, err := f.start(c); err != nil {
			return err
		}
	}
	if err := pass(ctx, 5*time.Second); err != nil {
		return err
	}
	sum := func() (u use, err error) {
		for _, s := range f.all {
			one, err := s.use()
			if err != nil {
				return u, fmt.Errorf("%w\n%s", err, s.said.String())
			}
			u.cpu, u.switches, u.rss = u.cpu+one.cpu, u.switches+one.switches, u.rss+one.rss
		}
		return u, nil
	}
	before, err := sum()
	if err != nil {
		return err
	}
	if err := pass(ctx, fleetIdle); err != nil {
		return err
	}
	after, err := sum()
	if err != nil {
		return err
	}
	fmt.Printf("fleet: 2 watchers and 8 workers with nothing to do, for %v\n", fleetIdle)
	fmt.Printf("  processor: %.2f %% of a core (goal: under 1); %.0f context switches a second; memory of all: %.0f MiB\n",
		100*(after.cpu-before.cpu)/fleetIdle.Seconds(), (after.switches-before.switches)/fleetIdle.Seconds(), after.rss)
	return nil
}
