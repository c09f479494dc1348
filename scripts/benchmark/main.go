//go:build linux

// The command benchmark compares the braid command with curl and other programs, with servers on loopback.
// scripts/bench runs it. It measures the cost of a start, of verification, of a stalled mirror, and of a queue with a
// remote control, memory with a large file, the combined speed of servers of different protocols and of peers, and a
// swarm compared with aria2. It prints each time, the medians, their ratio and the goal, but no verdict.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// A bench holds the settings of all measurements.
type bench struct {
	braid string // path of the command
	dir   string // for the servers' files and the downloads
	store string // for the buckets of an object store
	tmpfs bool   // dir is in memory
	reps  int
	size  int64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var b bench
	var parent string
	flag.StringVar(&b.braid, "braid", "braid", "the command to measure")
	flag.StringVar(&parent, "dir", "/dev/shm", "where files go")
	flag.IntVar(&b.reps, "reps", 5, "runs of each command in single; those that take long make half as many, start twenty times")
	flag.Int64Var(&b.size, "size", 2<<30, "bytes of the file in single, and of one FTP server")
	flag.Parse()
	chosen, err := choose(flag.Args())
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, "braid-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir, b.tmpfs = dir, isTmpfs(dir)
	for _, m := range chosen {
		if err := m.run(&b, ctx); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Println()
	}
	return nil
}

// A measurement is a named measurement with the programs that it needs.
type measurement struct {
	name  string
	tools []string
	run   func(*bench, context.Context) error
}

var measurements = []measurement{
	{"start", []string{"nginx", "curl"}, (*bench).start},
	{"single", []string{"nginx", "curl", "openssl"}, (*bench).single},
	{"memory", []string{"nginx"}, (*bench).memory},
	{"stall", []string{"nginx"}, (*bench).stall},
	{"ftp", []string{"nginx", "curl", "vsftpd", "aria2c"}, (*bench).ftp},
	{"swarm", []string{"aria2c"}, (*bench).swarm},
	{"hybrid", []string{"nginx", "vsftpd", "aria2c"}, (*bench).hybrid},
	{"daemon", []string{"nginx", "aria2c"}, (*bench).daemon},
	{"strangers", nil, (*bench).strangers},
	{"small", []string{"curl", "aria2c"}, (*bench).small},
	{"apt", []string{"nginx", "apt-get", "dpkg-deb"}, (*bench).apt},
	{"lfs", []string{"git", "git-lfs"}, (*bench).lfs},
	{"object", []string{"nginx"}, (*bench).object},
	{"fleet", []string{"nginx"}, (*bench).fleet},
}

// packages are the Debian packages of programs, where the names differ.
var packages = map[string]string{"aria2c": "aria2"}

// choose returns the measurements with the given names, or all. The error lists missing programs.
func choose(names []string) (chosen []measurement, err error) {
	var known, missing []string
	for _, m := range measurements {
		known = append(known, m.name)
		if len(names) == 0 || slices.Contains(names, m.name) {
			chosen = append(chosen, m)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no measurement %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	for _, m := range chosen {
		for _, tool := range m.tools {
			if _, err := exec.LookPath(tool); err != nil && !slices.Contains(missing, tool) {
				missing = append(missing, tool)
			}
		}
	}
	if len(missing) == 0 {
		return chosen, nil
	}
	install := "apt-get install"
	for _, tool := range missing {
		install += " " + cmp.Or(packages[tool], tool)
	}
	return nil, fmt.Errorf("%s: not here (Debian: %s; ./scripts/test real unpacks vsftpd)", strings.Join(missing, ", "), install)
}

// oneServer serves one large file. stop also removes the file.
func (b *bench) oneServer(ctx context.Context) (w *web, stop func(), err error) {
	root, err := b.serverRoot(b.size, 2*b.size, writeRandom)
	if err != nil {
		return nil, nil, err
	}
	if w, err = startNginx(ctx, root, []mirror{{origin: true}}); err != nil {
		os.RemoveAll(root)
		return nil, nil, err
	}
	return w, func() { w.stop(); os.RemoveAll(root) }, nil
}

// single compares one verified download with curl's unverified one.
func (b *bench) single(ctx context.Context) error {
	web, stop, err := b.oneServer(ctx)
	if err != nil {
		return err
	}
	defer stop()
	out := filepath.Join(b.dir, "out")
	braid := command{b.braid, "get", "-q", "-o", out, web.url(0)}
	curl := command{"curl", "-s", "-o", out, web.url(0)}
	if !b.tmpfs {
		curl = command{"sh", "-c", "curl -s -o " + out + " " + web.url(0) + " && sync " + out}
	}
	checked := command{"sh", "-c", "curl -s -o " + out + " " + web.url(0) + " && openssl dgst -sha256 " + out}
	fmt.Printf("single: %s from one nginx over loopback to %s, in turn\n", mib(b.size), b.where())
	var ours, theirs, verified, warmUp series
	if err := warmUp.measure(ctx, out, curl); err != nil { // the first to use the memory pays for it
		return err
	}
	for range b.reps {
		if err := ours.measure(ctx, out, braid); err != nil {
			return err
		}
		if err := theirs.measure(ctx, out, curl); err != nil {
			return err
		}
		if err := verified.measure(ctx, out, checked); err != nil {
			return err
		}
	}
	ours.print("braid, verified", braid)
	theirs.print("curl, unverified", curl)
	verified.print("curl, then openssl", checked)
	fmt.Printf("  braid to curl, unverified: %.2f (goal: at most 1.15)\n", ours.median()/theirs.median())
	fmt.Printf("  braid to curl, then openssl: %.2f\n", ours.median()/verified.median())
	// The floor spreads the work of curl and the hash evenly over the processors. It leaves out the server, which needs
	// them too.
	floor := median(verified.cpu) / float64(runtime.NumCPU())
	fmt.Printf("  floor of curl's and openssl's work on %d processors, without the server's: %.2f s, %.2f of curl's time\n",
		runtime.NumCPU(), floor, floor/theirs.median())
	gib := float64(b.size) / (1 << 30)
	fmt.Printf("  processor time per GiB: braid %.2f s, curl and openssl %.2f s: %.2f (goal: at most 1)\n",
		median(ours.cpu)/gib, median(verified.cpu)/gib, median(ours.cpu)/median(verified.cpu))
	fmt.Printf("  most memory of braid: %s (goal: under 64 MiB)\n", mib(ours.rss))
	return nil
}

// memory downloads a file that is much larger than the goal for memory. It is sparse, so that the server's copy
// occupies no disk.
func (b *bench) memory(ctx context.Context) error {
	const size = 8 << 30
	root, err := b.serverRoot(size, size, func(f *os.File, size int64) error { return f.Truncate(size) })
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
	braid := command{b.braid, "get", "-q", "-o", out, web.url(0)}
	fmt.Printf("memory: %s (sparse at the server) from one nginx to %s\n", mib(size), b.where())
	var ours series
	if err := ours.measure(ctx, out, braid); err != nil {
		return err
	}
	ours.print("braid, verified", braid)
	fmt.Printf("  most memory: %s (goal: under 64 MiB)\n", mib(ours.rss))
	return nil
}

// stall compares a healthy set of three mirrors with the same set when one of them goes silent.
func (b *bench) stall(ctx context.Context) error {
	const (
		size    = 288 << 20
		rate    = 4 << 20 // of each of the three mirrors: 24 s when all are healthy
		silence = 24 << 20
	)
	root, err := b.serverRoot(size, 2*size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	fmt.Printf("stall: %s from three nginx mirrors of %s/s each; healthy, and one silent after %s; in turn\n",
		mib(size), mib(rate), mib(silence))
	var healthy, stalled series
	var braid command
	for range (b.reps + 1) / 2 {
		if _, err := b.stallOnce(ctx, &healthy, root, rate, 0); err != nil {
			return err
		}
		if braid, err = b.stallOnce(ctx, &stalled, root, rate, silence); err != nil {
			return err
		}
	}
	healthy.print("healthy", braid)
	stalled.print("one stalls", braid)
	// Three mirrors deliver bytes until one goes silent, then two.
	ideal := float64(silence)/rate + float64(size-3*silence)/(2*rate)
	fmt.Printf("  ratio of the medians: %.2f (goal: at most 1.50; nobody can do better than %.2f)\n",
		stalled.median()/healthy.median(), ideal/(float64(size)/(3*rate)))
	return nil
}

// stallOnce downloads the file from three mirrors. If silence is not 0, one goes silent after that many bytes.
func (b *bench) stallOnce(ctx context.Context, s *series, root string, rate, silence int64) (command, error) {
	web, err := startNginx(ctx, root, []mirror{
		{origin: true, rate: rate}, {rate: rate, silentAfter: silence}, {rate: rate}})
	if err != nil {
		return nil, err
	}
	defer web.stop()
	out := filepath.Join(b.dir, "out")
	braid := command{b.braid, "get", "-q", "-o", out, web.url(0)}
	return braid, s.measure(ctx, out, braid)
}

func (b *bench) where() string {
	if b.tmpfs {
		return "tmpfs"
	}
	return "disk (curl's time includes sync)"
}

// serverRoot makes a folder with the served file. It returns an error if the disk lacks room bytes for it and its copy.
func (b *bench) serverRoot(size, room int64, fill func(*os.File, int64) error) (root string, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(b.dir, &fs); err != nil {
		return "", err
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < room {
		return "", fmt.Errorf("%s has %s free and this needs %s: choose another folder with -dir",
			b.dir, mib(free), mib(room))
	}
	if root, err = os.MkdirTemp(b.dir, "root-"); err != nil {
		return "", err
	}
	f, err := os.Create(filepath.Join(root, fileName))
	if err != nil {
		return "", err
	}
	defer f.Close()
	return root, fill(f, size)
}

func isTmpfs(dir string) bool {
	const tmpfsMagic = 0x01021994
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && int64(fs.Type) == tmpfsMagic
}

func mib(n int64) string {
	if n >= 1<<30 && n%(1<<29) == 0 {
		return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
}

// A command is a program with its arguments.
type command []string

func (c command) String() string { return strings.Join(c, " ") }

// A series holds the measurements of several runs of one command.
type series struct {
	seconds []float64 // wall time
	cpu     []float64 // seconds of processor time, user and system
	rss     int64     // bytes; maximum of all runs
	output  []byte    // of the last run
}

func (s *series) median() float64 { return median(s.seconds) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (s *series) print(label string, c command) {
	fmt.Printf("  $ %s\n  %-17s", c, label)
	for _, sec := range s.seconds {
		fmt.Printf(" %6.2f", sec)
	}
	fmt.Printf("  median %.2f s (processor %.2f s)\n", s.median(), median(s.cpu))
}
