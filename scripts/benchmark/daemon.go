//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// daemon compares a daemon with aria2c as one, and with braid get: the cost of a long queue, of idling and of polling
// clients, and the speed with small files and with a large one.
func (b *bench) daemon(ctx context.Context) error {
	if err := b.queue(ctx); err != nil {
		return err
	}
	if err := b.smallFiles(ctx); err != nil {
		return err
	}
	return b.largeFile(ctx)
}

const (
	queued    = 10_000
	listed    = 1_000
	watched   = 10 * time.Second
	clients   = 100
	pollEvery = time.Second / 4
)

// figures are the results of one service, a value for each run.
type figures struct {
	label                                               string
	start                                               starter
	command                                             command
	idleSwitches, idleRSS, added, list, rss, polls, cpu []float64
}

// queue measures a service that downloads nothing or almost nothing.
func (b *bench) queue(ctx context.Context) error {
	root, err := b.serverRoot(256<<20, 257<<20, func(f *os.File, size int64) error { return f.Truncate(size) })
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	web, err := startNginx(ctx, root, []mirror{{own: 1 << 20}})
	if err != nil {
		return err
	}
	defer web.stop()
	reps := (b.reps + 1) / 2
	fmt.Printf("daemon: a queue, kept in %s, %d runs in turn\n", b.kept(), reps)
	services := []*figures{{label: "braid", start: startBraid}, {label: "aria2c", start: startAria2}}
	for range reps {
		for _, f := range services {
			if err := f.run(b, ctx, web); err != nil {
				return fmt.Errorf("%s: %w", f.label, err)
			}
		}
	}
	for _, f := range services {
		fmt.Printf("  $ %s\n", f.command)
	}
	for _, row := range []struct {
		what, goal, format string
		values             func(*figures) []float64
	}{
		{"idle for 10 s with an empty queue: context switches of all threads", "those of one timer", "%5.0f", func(f *figures) []float64 { return f.idleSwitches }},
		{"idle: memory, MiB", "under 40", "%6.1f", func(f *figures) []float64 { return f.idleRSS }},
		{"10,000 URLs added by one system.multicall, s", "under 2", "%6.2f", func(f *figures) []float64 { return f.added }},
		{"memory then, MiB", "under 100", "%6.1f", func(f *figures) []float64 { return f.rss }},
		{"1,000 of them listed with all keys, ms", "under 50", "%6.1f", func(f *figures) []float64 { return f.list }},
		{"100 WebSocket clients with 4 aria2.tellActive a second, while a file comes at 1 MiB/s: % of a processor", "under 15", "%6.1f", func(f *figures) []float64 { return f.cpu }},
		{"answers that they got a second", "400", "%6.1f", func(f *figures) []float64 { return f.polls }},
	} {
		fmt.Printf("  %s (goal: %s)\n", row.what, row.goal)
		for _, f := range services {
			fmt.Printf("    %-7s", f.label)
			for _, v := range row.values(f) {
				fmt.Printf(" "+row.format, v)
			}
			fmt.Printf("  median "+row.format+"\n", median(row.values(f)))
		}
	}
	return nil
}

// kept describes where the queue is stored.
func (b *bench) kept() string {
	if b.tmpfs {
		return "tmpfs"
	}
	return "a folder on disk"
}

// run performs each measurement of a service once.
func (f *figures) run(b *bench, ctx context.Context, web *web) error {
	s, err := f.start(b, ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	f.command = s.command
	if err := f.idle(ctx, s); err != nil {
		return err
	}
	urls := make([]string, queued)
	for i := range urls {
		urls[i] = fmt.Sprintf("http://%s/pub/%05d.iso", web.mirrors[0].public, i)
	}
	took, err := s.add(ctx, urls, map[string]string{"pause": "true"})
	if err != nil {
		return err
	}
	f.added = append(f.added, took.Seconds())
	u, err := s.use()
	if err != nil {
		return err
	}
	f.rss = append(f.rss, u.rss)
	var entries []any
	if took, err = s.call(ctx, &entries, "aria2.tellWaiting", "token:"+secret, 0, listed); err != nil {
		return err
	}
	if len(entries) != listed {
		return fmt.Errorf("aria2.tellWaiting: %d entries", len(entries))
	}
	f.list = append(f.list, 1000*took.Seconds())
	if _, err := s.add(ctx, []string{web.url(0)}, map[string]string{}); err != nil {
		return err
	}
	return f.poll(ctx, s)
}

// idle waits until the service has finished its start, and then measures it while it has nothing to do.
func (f *figures) idle(ctx context.Context, s *service) error {
	if err := pass(ctx, 3*time.Second); err != nil {
		return err
	}
	before, err := s.use()
	if err != nil {
		return err
	}
	if err := pass(ctx, watched); err != nil {
		return err
	}
	after, err := s.use()
	f.idleSwitches, f.idleRSS = append(f.idleSwitches, after.switches-before.switches), append(f.idleRSS, after.rss)
	return err
}

func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// poll polls with several clients for ten seconds, evenly spread.
func (f *figures) poll(ctx context.Context, s *service) error {
	poll, err := request("aria2.tellActive", "token:"+secret)
	if err != nil {
		return err
	}
	conns := make([]*websocket.Conn, clients)
	for i := range conns {
		if conns[i], err = s.dial(ctx); err != nil {
			return err
		}
		defer conns[i].CloseNow()
	}
	before, err := s.use()
	if err != nil {
		return err
	}
	began, answers := time.Now(), make([]int, clients)
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for i, conn := range conns {
		wg.Go(func() {
			at := began.Add(time.Duration(i) * pollEvery / clients)
			for ; at.Before(began.Add(watched)); at = at.Add(pollEvery) {
				if errs[i] = errors.Join(pass(ctx, time.Until(at)), ask(ctx, conn, poll)); errs[i] != nil {
					return
				}
				answers[i]++
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	after, err := s.use()
	if err != nil {
		return err
	}
	total := 0
	for _, n := range answers {
		total += n
	}
	f.polls, f.cpu = append(f.polls, float64(total)/took), append(f.cpu, 100*(after.cpu-before.cpu)/took)
	return nil
}

// ask sends a request and waits for its answer.
func ask(ctx context.Context, conn *websocket.Conn, body []byte) error {
	err := conn.Write(ctx, websocket.MessageText, body)
	for method := "-"; err == nil && method != ""; {
		method, err = receive(ctx, conn)
	}
	return err
}

// A contender downloads the files, either by a service or by a command that exits when done.
type contender struct {
	label   string
	start   starter
	command func(into string) command
	ran     command
	series
}

// race lets the contenders download the files, which have the same size, in turn, each into its own empty folder.
func (b *bench) race(ctx context.Context, contenders []contender, urls []string, size int64) error {
	for i := range b.reps + 1 { // a warm-up: the first run allocates the memory
		for j := range contenders {
			c := &contenders[j]
			if err := c.run(b, ctx, urls, size); err != nil {
				return fmt.Errorf("%s: %w", c.label, err)
			}
			if i == 0 {
				c.series = series{}
			}
		}
	}
	for i := range contenders {
		contenders[i].print(contenders[i].label, contenders[i].ran)
	}
	return nil
}

func (c *contender) run(b *bench, ctx context.Context, urls []string, size int64) error {
	into := filepath.Join(b.dir, "into")
	if c.start == nil {
		defer os.RemoveAll(into)
		c.ran = c.command(into)
		if err := c.measure(ctx, "", c.ran); err != nil {
			return err
		}
		return complete(into, len(urls), size)
	}
	s, err := c.start(b, ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	c.ran = s.command
	before, err := s.use()
	if err != nil {
		return err
	}
	took, err := s.download(ctx, urls, !b.tmpfs && s.command[0] != b.braid)
	if err != nil {
		return err
	}
	after, err := s.use()
	if err != nil {
		return err
	}
	c.seconds, c.cpu = append(c.seconds, took.Seconds()), append(c.cpu, after.cpu-before.cpu)
	c.rss = max(c.rss, int64(after.most*(1<<20)))
	return complete(s.into, len(urls), size)
}

// complete returns an error unless a folder has the given number of files of a size.
func complete(into string, files int, size int64) error {
	entries, err := os.ReadDir(into)
	n := 0
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() == size && filepath.Ext(e.Name()) == ".bin" {
			n++
		}
	}
	if err == nil && n != files {
		err = fmt.Errorf("%d of %d files are in %s", n, files, into)
	}
	return err
}

// smallFiles compares services and commands with files of 16 KiB from one server.
func (b *bench) smallFiles(ctx context.Context) error {
	const files, size = 1000, 16 << 10
	root, err := b.serverRoot(size, 3*files*size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	web, err := startNginx(ctx, root, []mirror{{}})
	if err != nil {
		return err
	}
	defer web.stop()
	content, err := os.ReadFile(filepath.Join(root, fileName))
	if err != nil {
		return err
	}
	urls := make([]string, files)
	for i := range urls {
		name := fmt.Sprintf("%04d.bin", i)
		urls[i] = "http://" + web.mirrors[0].public + "/" + name
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			return err
		}
	}
	list := filepath.Join(root, "list")
	if err := os.WriteFile(list, []byte(strings.Join(urls, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	contenders := []contender{
		{label: "braid, by RPC", start: startBraid},
		{label: "braid get", command: func(into string) command { return command{b.braid, "get", "-q", "-d", into, "-i", list} }},
		{label: "aria2c, by RPC", start: startAria2},
		{label: "aria2c", command: func(into string) command {
			return append(append(command{"aria2c"}, alone(into)...), aria2AtOnce, "-i", list)
		}},
	}
	fmt.Printf("daemon: %d files of 16 KiB from one nginx over loopback to %s, in turn; aria2c verifies nothing, and syncs each file twice and\n"+
		"its control file once, one after the other, and no folder; braid syncs file and folder, and by RPC the journal and its name too\n", files, b.where())
	if err := b.race(ctx, contenders, urls, size); err != nil {
		return err
	}
	ratios(contenders, "at most 1.10", "under 1", "under 1")
	return nil
}

// ratios prints the ratio of the first contender's time to that of each other, with the goals.
func ratios(contenders []contender, goals ...string) {
	for i, goal := range goals {
		other := &contenders[i+1]
		fmt.Printf("  %s to %s: %.2f (goal: %s)\n", contenders[0].label, other.label, contenders[0].median()/other.median(), goal)
	}
}

// largeFile compares services and braid get with one file.
func (b *bench) largeFile(ctx context.Context) error {
	web, stop, err := b.oneServer(ctx)
	if err != nil {
		return err
	}
	defer stop()
	contenders := []contender{
		{label: "braid, by RPC", start: startBraid},
		{label: "braid get", command: func(into string) command { return command{b.braid, "get", "-q", "-d", into, web.url(0)} }},
		{label: "aria2c, by RPC", start: startAria2},
	}
	fmt.Printf("daemon: %s from one nginx over loopback to %s, in turn; aria2c verifies nothing\n", mib(b.size), b.where())
	if err := b.race(ctx, contenders, []string{web.url(0)}, b.size); err != nil {
		return err
	}
	ratios(contenders, "at most 1.02", "none")
	fmt.Printf("  most memory of the daemon: %s\n", mib(contenders[0].rss))
	return nil
}
