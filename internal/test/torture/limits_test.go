//go:build linux

package torture

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// For scripts/nightly: what it runs is the same, and more of it.
var (
	largeMiB = flag.Int64("large", 192, "how many MiB are streamed in one download")
	partMiB  = flag.Int64("part", 96, "how many MiB are written in one download")
	many     = flag.Int("files", 90, "how many files are downloaded in one batch")
	soak     = flag.Duration("soak", 2*time.Second, "for how long downloads and polls go on in one process")
)

// How much memory a download may need, and how much more in its last quarter than in its second.
const (
	mostMemory = 100 << 20
	mostGrowth = 12 << 20
)

// A gauge reads the anonymous memory of a process while bytes come.
type gauge struct {
	size   int64
	came   func() int64
	most   [4]int64 // in each quarter of the bytes
	stop   chan struct{}
	ending chan struct{}
}

func (g *gauge) watch(pid int) {
	defer close(g.ending)
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		quarter := min(3, 4*g.came()/max(g.size, 1))
		g.most[quarter] = max(g.most[quarter], anonymous(pid))
		select {
		case <-tick.C:
		case <-g.stop:
			tick.Stop()
			return
		}
	}
}

// anonymous is the memory of a process that is no file's, 0 if it has ended.
func anonymous(pid int) int64 { return memoryOf(pid, "RssAnon:") }

// A counter is a writer that keeps nothing.
type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// TestLargeFile: the memory of a download does not grow with the file, neither on the way to a pipe nor to a disk, with
// two sources and a digest that is verified.
func TestLargeFile(t *testing.T) {
	for name, size := range map[string]int64{"stream": *largeMiB << 20, "part": *partMiB << 20} {
		t.Run(name, func(t *testing.T) {
			made := mirrortest.Generate(size, 3)
			mirror := mirrortest.New(t, made)
			origin := mirrortest.New(t, made, mirrortest.Digest(made.Digest()), mirrortest.Mirrors(mirror.URL))
			dir := t.TempDir()
			var out counter
			g := &gauge{size: size, came: out.n.Load, stop: make(chan struct{}), ending: make(chan struct{})}
			to := "-"
			if name == "part" {
				to = filepath.Join(dir, fileName)
				g.came = func() int64 { return onDisk(to + ".part") }
			}
			cmd := exec.CommandContext(t.Context(), program, "get", "-q", "--require", "digest", "-o", to, origin.URL)
			var said strings.Builder
			cmd.Stdout, cmd.Stderr, cmd.Env = &out, &said, append(os.Environ(), "XDG_CACHE_HOME="+dir,
				"XDG_STATE_HOME="+dir, "BRAID_BITTORRENT=off", "BRAID_NO_LOOKUP=true")
			begun := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go g.watch(cmd.Process.Pid)
			err := cmd.Wait()
			close(g.stop)
			<-g.ending
			if got := max(out.n.Load(), onDisk(to)); err != nil || got < size {
				t.Fatalf("%d of %d bytes: %v, %s", got, size, err, said.String())
			}
			used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			t.Logf("large: %s %d MiB in %.0f s, %.0f s of processor time, memory by quarters %d %d %d %d KiB", name,
				size>>20, time.Since(begun).Seconds(),
				used.Seconds(), g.most[0]>>10, g.most[1]>>10, g.most[2]>>10, g.most[3]>>10)
			if last := max(g.most[2], g.most[3]); last > mostMemory || last > max(g.most[0], g.most[1])+mostGrowth {
				t.Errorf("memory grows with the file: %v", g.most)
			}
		})
	}
}

// onDisk is how long a file is, 0 if it is not there.
func onDisk(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return max(blocks(info), info.Size())
}

// A kind is what a server of a batch does, and whether its files come.
type kind struct {
	options []option
	right   bool
}

// kinds are good and bad servers.
func kinds() []kind {
	return []kind{
		{[]option{mirrortest.Digest()}, true},
		{[]option{mirrortest.Chunked()}, true},
		{[]option{mirrortest.Status(404)}, false},
		{[]option{mirrortest.Digest(), mirrortest.Times(1<<30, mirrortest.CutAfter(20_000))}, true},
		{[]option{mirrortest.Digest(), mirrortest.Corrupt(100)}, false},
		{[]option{mirrortest.Status(500)}, false},
		{[]option{mirrortest.ResetAfter(0)}, false},
		{[]option{mirrortest.ContentEncoding("gzip")}, false},
		{[]option{mirrortest.Digest(anotherDigest())}, false},
	}
}

// TestManyFiles: of a batch at good and bad servers exactly the files come that can, and the exit code is that of wrong
// bytes, which beats all others (rule 40 and doc/rules.md, "Exit codes").
func TestManyFiles(t *testing.T) {
	const size = 100_000
	made, dir := mirrortest.Generate(size, 4), t.TempDir()
	var list strings.Builder
	want := map[string]bool{}
	var servers []*mirrortest.Server
	all := kinds()
	for _, k := range all {
		servers = append(servers, mirrortest.New(t, made, k.options...))
	}
	for i := range *many {
		name := fmt.Sprintf("file-%05d", i)
		fmt.Fprintf(&list, "%s?%d\n  out=%s\n", servers[i%len(all)].URL, i, name)
		if all[i%len(all)].right {
			want[name] = true
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "get", "-q", "--tries", "2", "--retry-wait", "50ms", "--timeout", "5s",
		"-d", dir, "-i", "-")
	cmd.Stdin, cmd.Env = strings.NewReader(list.String()), append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(),
		"XDG_STATE_HOME="+t.TempDir(), "BRAID_BITTORRENT=off", "BRAID_NO_LOOKUP=true")
	begun := time.Now()
	said, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 11 {
		t.Errorf("exit code %d, want 11\n%s", code, said)
	}
	here, err := os.ReadDir(dir)
	check(t, err)
	came := 0
	for _, e := range here {
		name, _, unfinished := strings.Cut(e.Name(), ".part")
		switch f, err := os.Open(filepath.Join(dir, e.Name())); {
		case err != nil:
			t.Fatal(err)
		case unfinished && !want[name]:
			f.Close()
		case !want[e.Name()] || !same(f, made.Reader()):
			t.Errorf("%s is here, and should not be as it is", e.Name())
		default:
			came++
		}
	}
	if came != len(want) {
		t.Errorf("%d files came, want %d\n%s", came, len(want), said)
	}
	t.Logf("batch: %d files, %d right and %d failed as they should, exit code 11, in %.1f s", *many, came, *many-came,
		time.Since(begun).Seconds())
}

// same compares a file with what it should be, and closes it.
func same(f *os.File, want io.Reader) bool {
	defer f.Close()
	a, b := bufio.NewReader(f), bufio.NewReader(want)
	for {
		x, xerr := a.ReadByte()
		y, yerr := b.ReadByte()
		if x != y || (xerr == nil) != (yerr == nil) {
			return false
		}
		if xerr != nil {
			return xerr == io.EOF && yerr == io.EOF
		}
	}
}
