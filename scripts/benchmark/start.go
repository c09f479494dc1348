//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// start measures runs with almost no work: the version, and a file of 1 KiB, compared with curl. The memory is an upper
// bound, because the kernel includes that of the parent process before exec.
func (b *bench) start(ctx context.Context) error {
	const size = 1 << 10
	root, err := b.serverRoot(size, 2*size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	web, err := startNginx(ctx, root, []mirror{{origin: true}})
	if err != nil {
		return err
	}
	defer web.stop()
	out := filepath.Join(b.dir, "out")
	runs := []struct {
		label string
		command
		series
	}{
		{label: "version", command: command{b.braid, "--version"}},
		{label: "braid, 1 KiB", command: command{b.braid, "get", "-q", "-o", out, web.url(0)}},
		{label: "curl, 1 KiB", command: command{"curl", "-s", "-o", out, web.url(0)}},
	}
	fmt.Printf("start: %d runs of each in turn, medians, to %s\n", 20*b.reps, b.where())
	for range 20 * b.reps {
		for i := range runs {
			if err := runs[i].measure(ctx, out, runs[i].command); err != nil {
				return err
			}
		}
	}
	for i := range runs {
		r := &runs[i]
		fmt.Printf("  $ %s\n  %-13s %6.1f ms (processor %.1f ms), at most %s\n", r.command, r.label, 1000*r.median(), 1000*median(r.cpu), mib(r.rss))
	}
	fmt.Printf("  --version: %.1f ms (goal: under 25), %s (goal: under 25 MiB)\n", 1000*runs[0].median(), mib(runs[0].rss))
	fmt.Printf("  braid beyond curl: %.1f ms (goal: at most 15)\n", 1000*(runs[1].median()-runs[2].median()))
	info, err := os.Stat(b.braid)
	if err != nil {
		return err
	}
	fmt.Printf("  the program: %.1f MB (goal: under 30, stripped)\n", float64(info.Size())/1e6)
	return nil
}
