//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

const killFileSize = 48 << 20

// nightly reports whether scripts/nightly runs these tests, on a machine that does nothing else.
func nightly() bool { return os.Getenv("BRAID_KILL_ROUNDS") != "" }

// besideOthers lets a test of kills run beside others: most of it is waiting for servers that send slowly. In
// scripts/nightly the tolerance is smaller, and each of them runs alone.
func besideOthers(t *testing.T) {
	if !nightly() {
		t.Parallel()
	}
}

// killRate is how many bytes a second each mirror sends.
func killRate() int64 {
	if nightly() {
		return 24 << 20
	}
	return 8 << 20
}

// killTolerance is what one kill may cost in bytes that are fetched again: the larger of 8 MiB and 2 %, as twenty times
// a second it is noted what is here. Beside other tests a process may be kept waiting for some of these times, while
// the servers send on.
func killTolerance() int64 {
	if nightly() {
		return max(8<<20, killFileSize/50)
	}
	return killFileSize / 3
}

// TestRealKill kills the command without warning while it downloads from four nginx mirrors, at moments
// spread over the file, and runs it again. Proves rule 6: the right file each time, nothing under the final
// name before, and little fetched twice.
func TestRealKill(t *testing.T) {
	besideOthers(t)
	s := newKillSet(t)
	misses, most := 0, int64(0)
	rounds := killRounds(t, 20)
	lost := 0
	for round := 0; round < rounds; {
		// One kill in each part of the file, anywhere within it; the header sections come before its first byte.
		const headers = 8 << 10
		step := int64(killFileSize / rounds)
		mark := int64(round)*step + headers + rand.Int64N(step-headers)
		again, landed := s.killAndResume(t, mark)
		if !landed {
			if misses++; misses > rounds {
				t.Fatalf("%d kills came too late, the last at byte %d", misses, mark)
			}
			continue
		}
		if again > killTolerance() {
			t.Errorf("killed at byte %d: %d bytes were fetched again, more than %d", mark, again, killTolerance())
			lost++
		}
		most = max(most, again)
		round++
	}
	t.Logf("%d kills, %d more came too late; most bytes fetched again after one: %d", rounds, misses, most)
	tally(t, "get", rounds, 0, lost) // what is wrong ends the test
}

// killRounds is how many kills that landed between the first and the last payload byte there are, if BRAID_KILL_ROUNDS
// does not say another number; scripts/nightly does.
func killRounds(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("BRAID_KILL_ROUNDS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 2000 {
		t.Fatalf("BRAID_KILL_ROUNDS is %q", text)
	}
	return n
}

// tally prints the line that scripts/nightly makes a table of.
func tally(t *testing.T, what string, rounds, wrong, lost int) {
	t.Helper()
	t.Logf("kills: %s %d %d %d", what, rounds, wrong, lost)
}

// killData is the file that is fetched.
var killData = sync.OnceValue(func() []byte {
	data := make([]byte, killFileSize)
	rand.NewChaCha8([32]byte{}).Read(data)
	return data
})

// A killSet is a Metalink origin and three mirrors, each behind a relay that counts.
type killSet struct {
	meter *meter
	size  int64
	sum   [sha256.Size]byte
	url   string
	flags []string // of braid get
}

func newKillSet(t *testing.T) *killSet {
	t.Helper()
	root := publicDir(t)
	data := killData()
	if err := os.WriteFile(filepath.Join(root, "a.iso"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	s := &killSet{meter: &meter{}, size: killFileSize, sum: sha256.Sum256(data)}
	origin := site{root: root, rate: killRate(), headers: digestFields(data)}
	for i := range 3 {
		mirror := newRelay(t, nginx.start(t, site{root: root, rate: killRate()}), s.meter.add)
		origin.headers = append(origin.headers,
			fmt.Sprintf("Link: <http://%s/a.iso>; rel=duplicate; pri=%d; pref", mirror.addr, i+1))
	}
	s.url = "http://" + newRelay(t, nginx.start(t, origin), s.meter.add).addr + "/a.iso"
	return s
}

// command downloads into a folder.
func (s *killSet) command(dir string) *exec.Cmd {
	return exec.Command(binary, append([]string{"get", "-q", "-d", dir, "-o", "a.iso", s.url}, s.flags...)...)
}

// killAndResume starts a download, kills it when the servers have sent mark bytes, and lets a second run
// finish it. It returns how many bytes were sent more than once, and whether the kill came in time.
func (s *killSet) killAndResume(t *testing.T, mark int64) (again int64, landed bool) {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir) // fifty of them would not fit everywhere
	s.meter.sum.Store(0)
	if !s.runKilled(t, dir, mark) {
		return 0, false
	}
	if _, err := os.Lstat(filepath.Join(dir, "a.iso")); err == nil {
		t.Fatalf("killed at byte %d: there is a file under the final name", mark)
	}
	if out, err := s.command(dir).CombinedOutput(); err != nil {
		t.Fatalf("killed at byte %d, second run: %v\n%s", mark, err, out)
	}
	if sum := sumFile(t, filepath.Join(dir, "a.iso")); sum != s.sum {
		t.Fatalf("killed at byte %d: the second run made a wrong file", mark)
	}
	return max(0, s.meter.sum.Load()-s.size), true
}

// runKilled runs the command until the servers have sent mark bytes, and tells whether it was killed then,
// with a part of the file yet to come.
func (s *killSet) runKilled(t *testing.T, dir string, mark int64) bool {
	t.Helper()
	cmd := s.command(dir)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	started := make(chan struct{})
	s.meter.reached = func() {
		<-started
		cmd.Process.Kill()
	}
	s.meter.mark.Store(mark)
	err := cmd.Start()
	close(started)
	if err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	err = cmd.Wait()
	if !watchdog.Stop() {
		t.Fatalf("to be killed at byte %d, which never came:\n%s", mark, output.String())
	}
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("to be killed at byte %d, but it failed before: %v\n%s", mark, err, output.String())
	}
	return err != nil && s.meter.sum.Load() < s.size
}

func sumFile(t *testing.T, name string) (sum [sha256.Size]byte) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
