// The command pollbench measures the cost of polling by the braid command: thousands of feeds on local servers with
// hundreds of loopback addresses, polled more often than in practice. scripts/antenna runs it. It prints the
// measurements and the goal, but no verdict.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A bench holds the settings.
type bench struct {
	braid                         string
	hosts, feeds, watches, polls  int
	every, practice, gap, timeout time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pollbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var b bench
	flag.StringVar(&b.braid, "braid", "braid", "the command to measure")
	flag.IntVar(&b.hosts, "hosts", 200, "loopback addresses with a server")
	flag.IntVar(&b.feeds, "feeds", 5000, "feeds, evenly on all hosts")
	flag.IntVar(&b.watches, "watches", 1000, "files that are watched, one of a feed")
	flag.IntVar(&b.polls, "polls", 10_000, "polls to wait for")
	flag.DurationVar(&b.every, "every", 30*time.Second, "how far polls of a feed are apart")
	flag.DurationVar(&b.practice, "practice", 10*time.Minute, "how far they are apart in practice")
	flag.DurationVar(&b.gap, "host-gap", 50*time.Millisecond, "between two requests to a host: as much less than a second as the polls are nearer")
	flag.DurationVar(&b.timeout, "timeout", 10*time.Minute, "for all of it")
	flag.Parse()
	if b.hosts < 1 || b.hosts > 250 || b.feeds < b.hosts || b.watches > b.feeds {
		return errors.New("1 to 250 hosts, at least as many feeds, and no more watches than feeds")
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "braid-pollbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := newServers(b)
	if err := s.listen(ctx); err != nil {
		return err
	}
	defer s.close()
	if err := os.WriteFile(filepath.Join(dir, "watch.toml"), []byte(b.configuration(s)), 0o600); err != nil {
		return err
	}
	used, err := b.watch(ctx, dir, s)
	if err != nil {
		return err
	}
	b.tell(s, used)
	return nil
}

// configuration returns the configuration of the watcher.
func (b *bench) configuration(s *servers) string {
	var t strings.Builder
	fmt.Fprintf(&t, "state = \"state\"\nhost-gap = %q\nlog-level = \"warn\"\n[publish]\ndir = \"www\"\nagent-url = \"http://bench.example/\"\n", b.gap)
	for i := range b.feeds {
		fmt.Fprintf(&t, "[feed.f%d]\nurl = \"%s\"\nevery = %q\n", i, s.url(i, "antenna.lirs"), b.every)
	}
	for i := range b.watches {
		fmt.Fprintf(&t, "[watch.w%d]\nurl = \"%s\"\ndir = \"files\"\nname = \"{watch}\"\n", i, s.url(i, "0"))
	}
	return t.String()
}

// watch runs the watcher until it has made enough polls, and returns its resource use.
func (b *bench) watch(ctx context.Context, dir string, s *servers) (*syscall.Rusage, error) {
	cmd := exec.CommandContext(ctx, b.braid, "watch", "watch.toml")
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), "HOME="+dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return nil, fmt.Errorf("the watcher has ended: %v", errors.Join(err, ctx.Err()))
	case <-s.enough:
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, err
	}
	if err := <-ended; err != nil {
		return nil, err
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil, errors.New("this system does not say what a process used")
	}
	return used, nil
}

// tell prints the measurements.
func (b *bench) tell(s *servers, used *syscall.Rusage) {
	user, system := time.Duration(used.Utime.Nano()), time.Duration(used.Stime.Nano())
	polls, fresh, files, late, latest := s.counts()
	span := time.Duration(float64(b.practice) * float64(polls) / float64(b.feeds))
	fmt.Printf("%d feeds on %d addresses, %d watches: %d polls (%d of them in full) and %d requests for files in %v\n",
		b.feeds, b.hosts, b.watches, polls, fresh, files, s.took().Round(time.Second))
	fmt.Printf("CPU: %v user, %v system, %v a poll; over the %v that these polls take with one each %v: %.1f %% of a core (goal: under 10)\n",
		user.Round(time.Millisecond), system.Round(time.Millisecond), ((user + system) / time.Duration(polls)).Round(time.Microsecond),
		span.Round(time.Second), b.practice, 100*(user+system).Seconds()/span.Seconds())
	fmt.Printf("memory: %.0f MiB at most (goal: under 150)\n", float64(used.Maxrss)/1024)
	fmt.Printf("late: %d polls by more than their jitter (%v); the latest was %v behind the end of its jitter\n",
		late, b.jitter(), latest.Round(time.Millisecond))
}

// jitter returns the spread of polls.
func (b *bench) jitter() time.Duration { return b.every / 10 }

// address returns the address of a host.
func address(host int) string { return net.IPv4(127, 0, 1, byte(host+1)).String() }
