//go:build realservers

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A victim is a command that is killed and run again until it comes to its end.
type victim struct {
	name    string
	prepare func(t *testing.T, s *killSet, dir string) (before []byte) // what is under the final name
	first   func(s *killSet, dir string) []string
	again   func(s *killSet, dir string) []string
	kills   int   // in one round
	fetch   int64 // how much there is to be fetched
	finally func(dir string, before []byte) error
}

const killedName = "a.iso"

// victims are told apart from get, which has a test of its own.
var victims = []victim{
	{
		name: "resume", kills: 3, fetch: killFileSize,
		prepare: func(*testing.T, *killSet, string) []byte { return nil },
		first:   func(s *killSet, dir string) []string { return []string{"get", "-q", "-d", dir, s.url} },
		again:   func(s *killSet, dir string) []string { return []string{"get", "-q", "-d", dir, s.url} },
	}, {
		name: "repair", kills: 1, fetch: killFileSize / 2,
		prepare: func(t *testing.T, s *killSet, dir string) []byte {
			data := killData()[:killFileSize/2]
			writeBytes(t, filepath.Join(dir, killedName), data)
			return data
		},
		first: repairCommand, again: repairCommand,
	}, {
		name: "watch", kills: 1, fetch: killFileSize,
		prepare: prepareWatch,
		first: func(s *killSet, dir string) []string {
			return []string{"watch", "--once", filepath.Join(dir, "watch.toml")}
		},
		again: func(s *killSet, dir string) []string {
			return []string{"watch", "run", killedName, filepath.Join(dir, "watch.toml")}
		},
		finally: watchEnded,
	},
}

func repairCommand(s *killSet, dir string) []string {
	return []string{"verify", "-q", "--repair", "--from", s.url, filepath.Join(dir, killedName)}
}

// prepareWatch makes a folder with an old version and a configuration whose feed knows of a new one.
func prepareWatch(t *testing.T, s *killSet, dir string) []byte {
	old := []byte("the version before")
	writeBytes(t, filepath.Join(dir, killedName), old)
	writeBytes(t, filepath.Join(dir, "feed.soif"), fmt.Appendf(nil, "@FILE { %s\nLast-Modification-Time{10}:\t%d\n}\n",
		s.url, time.Now().Unix()))
	writeBytes(t, filepath.Join(dir, "watch.toml"), fmt.Appendf(nil, `
state = "state"
[feed.local]
file = "feed.soif"
[watch.%q]
url = %q
dir = "."
keep = 1
run = ["/bin/sh", "-c", "echo run >>ran"]
`, killedName, s.url))
	return old
}

// watchEnded wants the old version to be kept, and the program to have been run.
func watchEnded(dir string, before []byte) error {
	kept, _ := filepath.Glob(filepath.Join(dir, ".old", killedName+".*"))
	if len(kept) != 1 {
		return fmt.Errorf("%d old versions are kept", len(kept))
	}
	old, err := os.ReadFile(kept[0])
	if err == nil && !bytes.Equal(old, before) {
		err = errors.New("the old version that is kept is another one")
	}
	_, ran := os.Stat(filepath.Join(dir, "ran"))
	return errors.Join(err, ran)
}

func writeBytes(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRealKills kills a resume, a repair and a watch without warning, at moments spread over the transfer and in the
// time around it, and runs them again. Proves rules 1 and 6: under the final name is what was there before or the right
// file, and in the end the right one; little is fetched twice, and no old version is lost.
func TestRealKills_Rule1_Rule6(t *testing.T) {
	besideOthers(t)
	s := newKillSet(t)
	for _, v := range victims {
		t.Run(v.name, func(t *testing.T) {
			rounds, wrong, lost := killRounds(t, 7), 0, 0
			for range rounds {
				isWrong, isLost := v.round(t, s)
				for _, err := range []error{isWrong, isLost} {
					if err != nil {
						t.Error(err)
					}
				}
				if isWrong != nil {
					wrong++
				}
				if isLost != nil {
					lost++
				}
			}
			tally(t, v.name, rounds, wrong, lost)
		})
	}
}

// round kills, runs again, and says what is wrong and what is lost.
func (v *victim) round(t *testing.T, s *killSet) (wrong, lost error) {
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	before := v.prepare(t, s, dir)
	s.meter.sum.Store(0)
	final := filepath.Join(dir, killedName)
	args, kills := v.first(s, dir), 0
	for ; kills < v.kills; kills++ {
		if !s.runAndKill(t, dir, args, v.fetch) {
			break
		}
		now, err := os.ReadFile(final)
		switch {
		case bytes.Equal(now, before) && (err == nil) == (before != nil), err == nil && bytes.Equal(now, killData()):
		default:
			return fmt.Errorf("after a kill there are %d bytes under the final name, %v", len(now), err), nil
		}
		args = v.again(s, dir)
	}
	if now, _ := os.ReadFile(final); v.name == "repair" && bytes.Equal(now, killData()) {
		return nil, nil // there is nothing to repair, and verify says so
	}
	if out, err := command(dir, args).CombinedOutput(); err != nil {
		return fmt.Errorf("the run after %d kills: %w\n%s", kills, err, out), nil
	}
	if sumFile(t, final) != s.sum {
		return fmt.Errorf("after %d kills the file is wrong", kills), nil
	}
	if again := s.meter.sum.Load() - v.fetch; again > int64(max(kills, 1))*killTolerance() {
		lost = fmt.Errorf("%d bytes were fetched again after %d kills", again, kills)
	}
	if v.finally != nil {
		lost = errors.Join(lost, v.finally(dir, before))
	}
	return nil, lost
}

// command is one of ours, in a folder.
func command(dir string, args []string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	return cmd
}

// runAndKill kills a command once the servers have sent so many bytes more or, every third time, after a moment, and
// tells whether it was killed. A mark that never comes is one at which there was nothing to be killed.
func (s *killSet) runAndKill(t *testing.T, dir string, args []string, fetch int64) bool {
	t.Helper()
	cmd := command(dir, args)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	started := make(chan struct{})
	s.meter.reached = func() {
		<-started
		cmd.Process.Kill()
	}
	after := 2 * time.Minute // of a hang
	if rand.IntN(3) == 0 {
		after = rand.N(150 * time.Millisecond)
	} else {
		s.meter.mark.Store(s.meter.sum.Load() + 1 + rand.Int64N(fetch*3/4))
	}
	err := cmd.Start()
	close(started)
	if err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(after, func() { cmd.Process.Kill() })
	err = cmd.Wait()
	if !kill.Stop() && after > time.Minute {
		t.Fatalf("it hangs:\n%s", output.String())
	}
	s.meter.mark.Store(0)
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("to be killed, but it failed before: %v\n%s", err, output.String())
	}
	return err != nil
}
