//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/ports"
)

// TestRealApt: apt updates its lists and installs 60 packages from a server and three mirrors: one is slow, one has
// older packages, one has packages with a byte changed.
func TestRealApt(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("p%02d", i))
	}
	r := newAptRepository(t, slices.Repeat([]int{40_000}, 60)...)
	good := nginx.start(t, site{root: r.dir})
	slow := nginx.start(t, site{root: r.dir, rate: 20_000})
	stale := nginx.start(t, site{root: r.copy(func(b []byte) []byte { return b[:len(b)/2] })})
	tampered := nginx.start(t, site{root: r.copy(func(b []byte) []byte { b[len(b)/2] ^= 1; return b })})
	a := newAptRoot(t, r, "braid+http://"+good,
		fmt.Sprintf(`Acquire::braid::Mirrors::test { "http://%s"; "http://%s"; "http://%s"; "http://%s"; };`, good,
			slow, stale, tampered))
	if out := a.run(true, "update"); !strings.Contains(out, "Get:1 braid+http://"+good+" stable InRelease") {
		t.Errorf("update: %s", out)
	}
	if out := a.run(true, "update"); !strings.Contains(out, "Hit:1 braid+http://"+good+" stable InRelease") {
		t.Errorf("the second update: %s", out)
	}
	out := a.run(true, append([]string{"install", "-y", "--no-install-recommends"}, names...)...)
	if n := strings.Count(out, "Setting up p"); n != 60 {
		t.Errorf("%d packages are installed:\n%s", n, out)
	}
	a.run(true, "clean")
}

// TestRealAptPage: what the page says to paste makes apt fetch by braid, and braid serve has what a flat repository is asked for.
func TestRealAptPage(t *testing.T) {
	t.Parallel()
	r := newAptRepository(t, 5000)
	flat := publicDir(t)
	for _, name := range []string{"main/binary-amd64/Packages", "Release", "InRelease"} {
		r.write(filepath.Join(flat, filepath.Base(name)), []byte(readFile(t, filepath.Join(r.dir, "dists/stable", name))))
	}
	r.write(filepath.Join(flat, "pool/p00_1.0_all.deb"), []byte(readFile(t, filepath.Join(r.dir, "pool/p00_1.0_all.deb"))))
	list := strings.ReplaceAll(readFile(t, filepath.Join(flat, "Packages")), "Filename: ", "Filename: ./")
	r.write(filepath.Join(flat, "Packages"), []byte(list))
	r.write(filepath.Join(flat, "Release"), fmt.Appendf(nil, "Date: %s\nSHA256:\n %x %d Packages\n",
		time.Now().UTC().Format(time.RFC1123), sha256.Sum256([]byte(list)), len(list)))
	r.gpg("--clearsign", "--output", filepath.Join(flat, "InRelease"), filepath.Join(flat, "Release"))
	addr := ports.Free(t)
	if err := startProcess(t, addr, binary, "serve", "--listen", addr, flat); err != nil {
		t.Fatal(err)
	}
	a := newAptRoot(t, r, "http://"+addr, "")
	a.write("etc/apt/sources.list", fmt.Sprintf("deb [signed-by=%s] http://%s ./\n", r.keyring, addr))
	page, pasted := readFile(t, "doc/apt.md"), 0
	for _, block := range strings.Split(page, "sudo tee /etc/apt/")[1:] {
		name, rest, _ := strings.Cut(block, " <<'END'\n")
		text, _, _ := strings.Cut(rest, "    END\n")
		a.write("etc/apt/"+name, text)
		pasted++
	}
	if pasted != 2 {
		t.Errorf("the page has %d files of apt.conf.d", pasted)
	}
	mirrors := a.in("etc/apt/mirrors/debian.list") // the page names one
	a.write("etc/apt/apt.conf.d/61braid-mirrors",
		strings.ReplaceAll(readFile(t, a.in("etc/apt/apt.conf.d/61braid-mirrors")), "/etc/apt/mirrors/debian.list", mirrors))
	r.write(mirrors, []byte("http://deb.example.org/debian\tpriority:1\n"))
	a.run(true, "update")
	if out := a.run(true, "-o", "Debug::pkgAcquire::Worker=1", "install", "-y", "-d", "p00"); !strings.Contains(out,
		"via "+a.in("methods/braid+http")) || !strings.Contains(out, "/./pool/p00_1.0_all.deb") {
		t.Errorf("%s", out)
	}
	a.holds(r)
}

// TestRealAptTampered: a package that is not the signed one is refused with a sentence, and apt tries its next source.
// A list of mirrors of apt's form is such a source, too.
func TestRealAptTampered(t *testing.T) {
	t.Parallel()
	r := newAptRepository(t, 30_000, 2<<20)
	bad := *r
	bad.dir = r.copy(func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	bad.sign()
	good, tampered := nginx.start(t, site{root: r.dir}), nginx.start(t, site{root: bad.dir})
	a := newAptRoot(t, r, "braid+http://"+tampered, "")
	a.run(true, "update")
	if out := a.run(false, "install", "-y", "-d", "p00", "p01"); strings.Count(out,
		"Hashes of received file:\n    - SHA256:") != 2 {
		t.Errorf("one source: %s", out)
	}
	a.write("etc/apt/sources.list.d/next.list", fmt.Sprintf("deb [signed-by=%s] braid+http://%s stable main\n", r.keyring, good))
	a.run(true, "update")
	// apt may say Get of the bad ones, too
	if out := a.run(true, "install", "-y", "-d", "p00", "p01"); strings.Count(out, "Ign:") != 2 ||
		len(regexp.MustCompile("Get:[12] braid.http://"+good).FindAllString(out, -1)) != 2 {
		t.Errorf("two sources: %s", out)
	}
	a.holds(r)

	list := filepath.Join(publicDir(t), "mirrors.list")
	writeFile(t, list, fmt.Sprintf("# the first is asked for what has no "+
		"digest\nhttp://%s/\tpriority:2\nhttp://%s\tpriority:1 type:deb\nhttp://%s\tarch:nothing type:index\n", good,
		tampered, "127.0.0.1:1"))
	b := newAptRoot(t, r, "braid+mirror+file:"+list, "")
	b.run(true, "update")
	b.run(true, "install", "-y", "-d", "p00", "p01")
	b.holds(r)
}

// large is the size of a package that takes a while.
const large = 6 << 20

// TestRealAptKilled: after a kill braid goes on with its own file and with that of apt's own transport, and braid
// leaves none that misleads that one. Meanwhile the file has the length that apt's progress is about.
func TestRealAptKilled(t *testing.T) {
	t.Parallel()
	r := newAptRepository(t, large)
	for _, tt := range []struct{ first, second string }{{"braid+http", "braid+http"}, {"http", "braid+http"},
		{"braid+http", "http"}} {
		t.Run(tt.first+" then "+tt.second, func(t *testing.T) {
			log := filepath.Join(publicDir(t), "requests")
			server, goOn := heldBack(t, nginx.start(t, site{root: r.dir, rate: 4 << 20, log: log}))
			a := newAptRoot(t, r, "http://"+server, fmt.Sprintf("Dir::Bin::Methods::http %q;", tt.first))
			a.run(true, "update")
			cmd := a.command("install", "-y", "-d", "p00")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			partial := a.in("var/cache/apt/archives/partial/p00_1.0_all.deb")
			waitUntil(t, "some of the file is there", func() bool {
				info, err := os.Stat(partial)
				return err == nil && info.Size() > large/3
			})
			for _, pid := range a.methods() {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			cmd.Process.Kill()
			cmd.Wait()
			waitUntil(t, "the transports have ended", func() bool { return len(a.methods()) == 0 })
			goOn()
			begun := readFile(t, partial)
			if whole := readFile(t, filepath.Join(r.dir, "pool/p00_1.0_all.deb")); !strings.HasPrefix(whole, begun) {
				t.Fatalf("the %d bytes are not its beginning", len(begun))
			}
			if tt.second == "http" { // which asks for the rest by the date of the file, and gets all of it
				a.run(true, "-o", "Dir::Bin::Methods::http=http", "install", "-y", "-d", "p00")
				a.holds(r)
				return
			}
			a.run(true, "-o", "Dir::Bin::Methods::http="+tt.second, "install", "-y", "-d", "p00")
			a.holds(r)
			if sent := partsSent(t, log); sent == 0 || sent > large-len(begun)+(1<<20) {
				t.Errorf("%d bytes were sent of the rest, and %d were there", sent, len(begun))
			}
			if left, _ := filepath.Glob(a.in("var/cache/apt/archives/partial/*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// heldBack is the address of a server that sends two thirds of a large package, and no more until goOn is called.
func heldBack(t *testing.T, backend string) (addr string, goOn func()) {
	t.Helper()
	over := make(chan struct{})
	goOn = sync.OnceFunc(func() { close(over) })
	var sent atomic.Int64
	addr = newRelay(t, backend, func(n int64) {
		if sent.Add(n) > large*2/3 {
			<-over
		}
	}).addr
	t.Cleanup(goOn)
	return addr, goOn
}

// partsSent is how many bytes the server sent in answers of a part.
func partsSent(t *testing.T, log string) (sent int) {
	t.Helper()
	waitUntil(t, "the server has said what it sent", func() bool {
		sent = 0
		for line := range strings.Lines(readFile(t, log)) {
			if words := strings.Fields(line); len(words) >= 2 && words[len(words)-2] == "206" {
				n, _ := strconv.Atoi(words[len(words)-1])
				sent += n
			}
		}
		return sent > 0
	})
	return sent
}

// methods are the transports of this root that run.
func (a *aptRoot) methods() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		words, _ := os.ReadFile(name)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && strings.HasPrefix(string(words),
			a.in("methods/")) && strings.Contains(string(words), "http") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestRealAptSandbox: while it fetches, every thread of the transport is of the user that apt's sandbox has, in no other group.
func TestRealAptSandbox(t *testing.T) {
	t.Parallel()
	r := newAptRepository(t, large)
	server, goOn := heldBack(t, nginx.start(t, site{root: r.dir}))
	a := newAptRoot(t, r, "braid+http://"+server, "")
	a.run(true, "update")
	cmd := a.command("install", "-y", "-d", "p00")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer goOn()
	waitUntil(t, "it fetches", func() bool {
		_, err := os.Stat(a.in("var/cache/apt/archives/partial/p00_1.0_all.deb"))
		return err == nil
	})
	want := strconv.Itoa(os.Getuid())
	if os.Getuid() == 0 {
		out, err := exec.Command("id", "-u", "_apt").Output()
		if err != nil {
			t.Fatal(err)
		}
		want = strings.TrimSpace(string(out))
	}
	pids := a.methods()
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		for _, name := range threads {
			data, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
				continue // the thread has ended
			}
			if err != nil {
				t.Fatal(err)
			}
			status := string(data)
			if !strings.Contains(status, fmt.Sprintf("Uid:\t%s\t%[1]s\t%[1]s\t%[1]s\n", want)) ||
				!strings.Contains(status, "NoNewPrivs:\t1\n") && !hasC(t) {
				t.Errorf("%s: %s", name, status)
			}
			if os.Getuid() == 0 && !strings.Contains(status, "CapEff:\t0000000000000000\n") {
				t.Errorf("%s: %s", name, status)
			}
		}
	}
	if len(pids) != 1 {
		t.Errorf("%d transports run", len(pids))
	}
}

// TestRealAptNoSandbox: where root cannot become that user, the transport ends and asks no server.
func TestRealAptNoSandbox(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ user, want string }{
		{"nobody-there", "401 General Failure\nMessage: braid: the sandbox: no user nobody-there, so root privileges " +
			"cannot be dropped\n"},
		{"nobody", "401 General Failure\nMessage: braid: the sandbox: the groups of nobody: operation not permitted\n"},
	} {
		cmd := exec.Command(binary, "apt")
		cmd.Stdin = strings.NewReader("601 Configuration\nConfig-Item: APT::Sandbox::User=" + tt.user +
			"\n\n600 URI Acquire\nURI: braid+http://127.0.0.1:1/x\nFilename: " + filepath.Join(t.TempDir(), "x") + "\n\n")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.Output()
		if err == nil || !strings.Contains(string(out), tt.want) || strings.Contains(string(out), "400 ") {
			t.Errorf("%s: %v\n%s", tt.user, err, out)
		}
	}
}

// TestRealAptInterrupted: SIGINT, by which apt ends its transports, ends this one without a word while a server is silent.
func TestRealAptInterrupted(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	cmd := exec.Command(binary, "apt")
	var told bytes.Buffer
	cmd.Stderr = &told
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, "601 Configuration\nConfig-Item: APT::Sandbox::User=root\n\n600 URI Acquire\nURI: "+
		"http://%s/x\nFilename: %s\n\n", server.Addr(), filepath.Join(t.TempDir(), "x"))
	silent, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || told.Len() > 0 {
		t.Errorf("exit code %d: %s", code, told.String())
	}
}

// hasC reports whether the command was built with C code: Go cannot set a flag of all threads then.
func hasC(t *testing.T) bool {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "CGO_ENABLED" && s.Value == "1" })
}
