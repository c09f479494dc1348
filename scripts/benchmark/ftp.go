package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
)

// ftp measures the combined speed of servers of different protocols, and a single FTP server against other clients.
func (b *bench) ftp(ctx context.Context) error {
	if err := b.together(ctx); err != nil {
		return err
	}
	return b.alone(ctx)
}

// together compares the speed of a download from servers of 20 Mbit/s each with the sum of their rates.
func (b *bench) together(ctx context.Context) error {
	const size = 128 << 20
	root, err := b.serverRoot(size, 2*size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(root, 0o755); err != nil { // FTP servers read it as another user
		return err
	}
	places, err := b.mixed(ctx, root)
	if err != nil {
		return err
	}
	defer stopAll(places)
	sum, err := hexDigest(root)
	if err != nil {
		return err
	}
	out, rates := filepath.Join(b.dir, "out"), int64(0)
	braid := command{b.braid, "get", "-q", "--json", "--sha256", sum, "-o", out}
	for _, p := range places {
		rates += p.rate
	}
	for _, p := range places[1:] {
		braid = append(braid, "--mirror", p.url)
	}
	braid = append(braid, places[0].url)
	fmt.Printf("ftp: %s from %d servers that limit themselves to %s/s each\n", mib(size), len(places), mib(limited))
	var ours series
	var given []float64
	for range (b.reps + 1) / 2 {
		if err := ours.measure(ctx, out, braid); err != nil {
			return err
		}
		speed, err := atOnce(ctx, places)
		if err != nil {
			return err
		}
		given = append(given, speed)
	}
	ours.print("braid, verified", braid)
	brought, err := shares(ours.output)
	if err != nil {
		return err
	}
	for _, p := range places {
		fmt.Printf("  %-22s brought %4.1f %%\n", p.name, 100*float64(brought[p.host()])/size)
	}
	speed := float64(size) / ours.median()
	fmt.Printf("  of the sum of the rates: %.1f %% (goal: at least 90 %%)\n", 100*speed/float64(rates))
	fmt.Printf("  of what curl gets from all of them at once, a process each: %.1f %%\n", 100*speed/median(given))
	return nil
}

// atOnce measures the actual rates of the servers on this busy machine, in bytes per second, with a client for each at
// the same time.
func atOnce(ctx context.Context, places []place) (sum float64, err error) {
	const seconds = "8"
	speeds, errs := make([]float64, len(places)), make([]error, len(places))
	var wg sync.WaitGroup
	for i, p := range places {
		wg.Go(func() {
			curl := exec.CommandContext(ctx, "curl", "-s", "-o", "/dev/null", "--max-time", seconds, "-w", "%{speed_download}", p.url)
			said, err := curl.Output() // an error, because of the time limit
			if speeds[i], errs[i] = strconv.ParseFloat(string(said), 64); errs[i] != nil {
				errs[i] = fmt.Errorf("%v: %v, %q", curl.Args, err, said)
			}
		})
	}
	wg.Wait()
	for _, v := range speeds {
		sum += v
	}
	return sum, errors.Join(errs...)
}

// alone compares clients of one FTP server without a rate limit.
func (b *bench) alone(ctx context.Context) error {
	root, err := b.serverRoot(b.size, 2*b.size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(root, 0o755); err != nil {
		return err
	}
	p, err := vsftpdPlace(0)(ctx, root)
	if err != nil {
		return err
	}
	defer p.stop()
	out := filepath.Join(b.dir, "out")
	clients := []struct {
		label string
		run   command
		took  series
	}{
		{label: "braid, with sha-256", run: command{b.braid, "get", "-q", "-o", out, p.url}},
		{label: "curl", run: command{"curl", "-s", "-o", out, p.url}},
		{label: "aria2c", run: command{"aria2c", "-q", "--file-allocation=none", "--allow-overwrite", "-d", b.dir, "-o", "out", p.url}},
	}
	fmt.Printf("ftp: %s from one vsftpd over loopback to %s, in turn\n", mib(b.size), b.where())
	var warmUp series
	if err := warmUp.measure(ctx, out, clients[1].run); err != nil { // the first to use the memory pays for it
		return err
	}
	for range b.reps {
		for i := range clients {
			if err := clients[i].took.measure(ctx, out, clients[i].run); err != nil {
				return err
			}
		}
	}
	for _, c := range clients {
		c.took.print(c.label, c.run)
	}
	for _, c := range clients[1:] {
		fmt.Printf("  braid to %s: time %.2f, processor time %.2f\n", c.label,
			clients[0].took.median()/c.took.median(), median(clients[0].took.cpu)/median(c.took.cpu))
	}
	return nil
}
