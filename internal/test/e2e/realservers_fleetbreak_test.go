//go:build realservers

package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRealFleetBreaking kills watchers, workers and with them the queue's server without warning, while new versions of files come. In the end
// each file is there in its last version, each job is done, and at no moment a file is seen that is none of its versions. scripts/nightly has ten
// minutes of it (BRAID_FLEET_TIME).
func TestRealFleetBreaking(t *testing.T) {
	most := 20 * time.Second
	if text := os.Getenv("BRAID_FLEET_TIME"); text != "" {
		var err error
		if most, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	f := newFleetRig(t)
	names := numbered("f", 12)
	versions := map[string][][]byte{}
	publish := func(names ...string) {
		f.publish(10_000+rand.IntN(400_000), false, names...)
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, name := range names {
			versions[name] = append(versions[name], f.files[name].body)
		}
	}
	publish(names...)
	begin := []func() *fleetProcess{
		func() *fleetProcess { return f.watcher("watcher-0") }, func() *fleetProcess { return f.watcher("watcher-1") },
		f.worker, f.worker, f.worker,
	}
	var processes []*fleetProcess
	for _, b := range begin {
		processes = append(processes, b())
	}
	kills := 0
	for began := time.Now(); time.Since(began) < most; kills++ {
		i := rand.IntN(len(processes))
		time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond) // when it is killed
		processes[i].Process.Kill()
		<-processes[i].exited
		publish(names[rand.IntN(len(names))])
		processes[i] = begin[i]()
		for name, all := range versions {
			checkSeen(t, filepath.Join(f.dir, "out", "isos", name), all)
		}
	}
	took := f.await("each file in its last version", 2*time.Minute, func() bool { return f.right(names...) })
	f.await("each job is done", time.Minute, func() bool {
		for _, j := range f.jobs() {
			if j.State != "done" {
				return false
			}
		}
		return true
	})
	if n := len(f.jobs()); n != len(names) {
		t.Errorf("%d jobs of %d files", n, len(names))
	}
	count := 0
	for _, all := range versions {
		count += len(all)
	}
	t.Logf("fleet: %d kills, %d versions, right %v after the last", kills, count, took)
}

// checkSeen: what is seen under a name is one of its versions, whole.
func checkSeen(t *testing.T, path string, versions [][]byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	for _, v := range versions {
		if bytes.Equal(v, data) {
			return
		}
	}
	t.Errorf("%s has %d bytes that are none of its versions", fmt.Sprint(path), len(data))
}
