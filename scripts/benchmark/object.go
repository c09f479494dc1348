//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// objectSize is the size of the file that is downloaded into an object store.
const objectSize = 4 << 30

// object compares a download into an object store (versitygw) with one into a file, and measures its use of the local
// disk.
func (b *bench) object(ctx context.Context) error {
	const rate = 64 << 20 // of each of the two mirrors: together the gigabit of a network card
	size := min(b.size*2, objectSize)
	root, err := b.serverRoot(size, 3*size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	store, stop, err := b.startStore(ctx)
	if err != nil {
		return err
	}
	defer stop()
	floor, err := b.storeFloor(ctx, store, size)
	if err == nil {
		err = b.emptyStore()
	}
	if err != nil {
		return err
	}
	fmt.Printf("object: %s into the store alone, from memory, 4 parts of 8 MiB at once: %.2f s; to make them an object: %.2f s\n",
		mib(size), floor.parts.Seconds(), floor.complete.Seconds())
	for _, rate := range []int64{rate, 0} {
		web, err := startNginx(ctx, root, []mirror{{origin: true, rate: rate}, {rate: rate}})
		if err != nil {
			return err
		}
		err = b.objectRace(ctx, web, store, size, rate, floor)
		web.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) objectRace(ctx context.Context, web *web, store []string, size, rate int64, floor storeFloor) error {
	speed := "as fast as they are"
	if rate > 0 {
		speed = "of " + mib(rate) + "/s each"
	}
	fmt.Printf("object: %s from two nginx mirrors %s, %s, %d runs in turn; both verify\n", mib(size), speed, b.where(), (b.reps+1)/2)
	out := filepath.Join(b.dir, "out")
	file, object := command{b.braid, "get", "-q", "-o", out, web.url(0)}, command{b.braid, "get", "-q", "--to", "s3://bucket", web.url(0)}
	var files, objects series
	var peak int64
	for n := range (b.reps + 1) / 2 {
		object[4] = fmt.Sprintf("s3://bucket/%d-%d/", rate, n) // an existing object would not be fetched
		if err := files.measure(ctx, out, file); err != nil {
			return err
		}
		most, err := b.measureObject(ctx, &objects, object, store)
		if err != nil {
			return err
		}
		peak = max(peak, most)
		if err := b.emptyStore(); err != nil {
			return err
		}
	}
	files.print("into a file", file)
	objects.print("into an object", object)
	least := floor.of(time.Duration(files.median() * float64(time.Second)))
	fmt.Printf("  ratio of the medians: %.2f (goal: at most 1.11; the store alone makes it %.2f)\n  peak on the local disk %s (goal: 300 MiB), in memory %s (goal: 150 MiB)\n",
		objects.median()/files.median(), least.Seconds()/files.median(), mib(peak), mib(objects.rss))
	return nil
}

func (b *bench) emptyStore() error {
	bucket := filepath.Join(b.store, "bucket")
	return errors.Join(os.RemoveAll(bucket), os.Mkdir(bucket, 0o755))
}

// startStore starts versitygw on a folder with one bucket. It returns the environment for its clients.
func (b *bench) startStore(ctx context.Context) (env []string, stop func(), err error) {
	path, err := exec.CommandContext(ctx, "go", "-C", "scripts", "tool", "-n", "versitygw").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("versitygw: %w", err)
	}
	dir, err := os.MkdirTemp(b.dir, "store-")
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "bucket"), 0o755)
		l.Close()
	}
	if err != nil {
		return nil, nil, err
	}
	b.store = dir
	addr := l.Addr().String()
	cmd := exec.CommandContext(ctx, strings.TrimSpace(string(path)), "--quiet", "--keep-alive", "--port", addr, "--access", "key", "--secret", "secret", "posix", dir)
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() { cmd.Process.Kill(); cmd.Wait(); os.RemoveAll(dir) }
	for range 200 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return []string{"AWS_ENDPOINT_URL_S3=http://" + addr, "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-east-1", "TMPDIR=" + b.dir}, stop, nil
}

// measureObject runs c once, and returns the maximum disk use of its unnamed files.
func (b *bench) measureObject(ctx context.Context, s *series, c command, env []string) (peak int64, err error) {
	home, err := os.MkdirTemp("", "braid-bench-home-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(home)
	cmd := exec.CommandContext(ctx, c[0], c[1:]...)
	cmd.Env = append(environment(home), env...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				peak = max(peak, roomOf(cmd.Process.Pid))
			}
		}
	})
	err = cmd.Wait()
	s.seconds = append(s.seconds, time.Since(start).Seconds())
	close(done)
	wg.Wait()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c, err)
	}
	s.cpu = append(s.cpu, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = max(s.rss, int64(u.Maxrss)<<10)
	}
	return peak, nil
}

// roomOf returns the disk use of the unnamed files that a process has open.
func roomOf(pid int) (room int64) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		to, _ := os.Readlink(name)
		var st syscall.Stat_t
		if strings.HasSuffix(to, " (deleted)") && syscall.Stat(name, &st) == nil {
			room += st.Blocks * 512
		}
	}
	return room
}
