//go:build !nofleet

package worker

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/fsys"
	"braid/internal/listen"
	"braid/internal/partfile"
)

// TestSweep checks that the stage of a dropped job is removed, and so is that of a job that is done, whose worker was
// killed before it removed the stage. That of a waiting job, or of a later attempt, is kept. A stage of another
// queue, of an older braid that did not name the queue, or of a job that the queue does not know is kept for a week.
// That of a waiting job is made new, so that no other queue removes it.
func TestSweep(t *testing.T) {
	host, err := jetstream.NewHost(t.TempDir(), jetstream.Socket{Listen: listen.Socket, Dial: listen.Dial}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	queue, err := jetstream.Open(t.Context(), jetstream.Options{Host: host, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close()
	p, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	week := time.Now().Add(-forgottenAfter - time.Hour)
	stage := func(n stageName, old bool) string {
		t.Helper()
		name := filepath.Join(stages, n.String())
		if err := os.Mkdir(filepath.Join(p.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(name, "x.part")
		write(t, filepath.Join(p.dir, part), "half")
		for _, name := range []string{part, name} {
			if !old {
				continue
			}
			if err := os.Chtimes(filepath.Join(p.dir, name), week, week); err != nil {
				t.Fatal(err)
			}
		}
		return name
	}
	if _, err := queue.Report(t.Context(), fleet.Job{Name: "done", URIs: []string{"http://127.0.0.1:1/x"}}); err != nil {
		t.Fatal(err)
	}
	claim, err := queue.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done, fence := fleet.KeyOf("done"), claim.Fence()
	if _, err := claim.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
		t.Fatal(err)
	}
	own, waits, dropped := queue.ID(), fleet.KeyOf("waits"), fleet.KeyOf("dropped")
	want := []string{
		stage(stageName{waits, own, 7}, true), stage(stageName{fleet.KeyOf("unknown"), own, 7}, false),
		stage(stageName{dropped, "other", 7}, false), stage(stageName{dropped, "", 7}, false),
		stage(stageName{waits, "", 7}, true), stage(stageName{done, own, fence + 1}, false),
	}
	for _, n := range []stageName{
		{done, own, fence}, {dropped, own, 7}, {fleet.KeyOf("of a lost queue"), own, 7}, {waits, "lost", 7}, {dropped, "", 8},
	} {
		stage(n, n.fence == 8 || n.key != dropped && n.key != done)
	}
	want = append(want, stages+"/of a person-7")
	if err := os.Mkdir(filepath.Join(p.dir, stages, "of a person-7"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(p.dir, stages, "of a person-7"), week, week); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(p.dir, stages, discarded+"x-7")
	if err := os.Mkdir(killed, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"waits", "dropped"} {
		if _, err := queue.Report(t.Context(), fleet.Job{Name: name, URIs: []string{"http://127.0.0.1:1/x"}}); err != nil {
			t.Fatal(err)
		}
	}
	if dropped, err := queue.Drop(t.Context(), fleet.KeyOf("dropped")); !dropped || err != nil {
		t.Fatal(dropped, err)
	}
	if err := p.sweep(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	got, err := p.namesIn(stages)
	for i := range got {
		got[i] = stages + "/" + got[i]
	}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("left are %q, %v; want %q", got, err, want)
	}
	if p.isOld(stageName{waits, own, 7}.String()) {
		t.Error("another queue may remove the stage of a waiting job")
	}
}

// TestLostStage checks that a worker removes its stage when its job was dropped, and leaves it to the worker that has the
// job now.
func TestLostStage(t *testing.T) {
	for _, dropped := range []bool{true, false} {
		p, err := OpenFolder(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		s, err := p.stage(&fleet.Job{Name: "a.iso"}, "q", 1, false)
		if err != nil {
			t.Fatal(err)
		}
		f, err := partfile.Open(fsys.OS, s.dir, s.base) // of the worker that has the job after it was reported again
		if err != nil {
			t.Fatal(err)
		}
		p.lost(&task{stage: s}, true)
		if left, err := p.namesIn(stages); err != nil || len(left) == 0 {
			t.Errorf("the stage of another worker is removed: %v", err)
		}
		f.Close()
		p.lost(&task{stage: s}, dropped)
		if left, err := p.namesIn(stages); err != nil || len(left) == 0 != dropped {
			t.Errorf("dropped %t: left are %q, %v", dropped, left, err)
		}
	}
}

// TestFolderID checks that two workers find the same ID in a folder, and another one in another folder.
func TestFolderID(t *testing.T) {
	id := func(dir string) string {
		t.Helper()
		p, err := OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		id, err := p.ID()
		if err != nil || id == "" {
			t.Fatalf("%q, %v", id, err)
		}
		if left, err := p.namesIn(stages); err != nil || !slices.Equal(left, []string{"id"}) {
			t.Errorf("left are %q, %v", left, err)
		}
		return id
	}
	one, torn := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(torn, stages), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(torn, filepath.FromSlash(idFile)), "") // as a loss of power leaves it
	if a, b := id(torn), id(torn); a != b {
		t.Errorf("%s and %s of a folder whose ID was lost", a, b)
	}
	if a, b, c := id(one), id(one), id(t.TempDir()); a != b || a == c {
		t.Errorf("%s and %s of one folder, %s of another", a, b, c)
	}
}
