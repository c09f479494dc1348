package worker

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"braid/fleet"
)

// TestStageOurs_Rule75: a worker that was killed when its file had got its name, and before the queue knew, is
// followed by one that may replace that file. One that was there before is not taken for it, and what a late worker
// makes gets no name.
func TestStageOurs_Rule75(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		p, err := OpenFolder(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		target := filepath.Join(p.dir, "a.iso")
		if foreign {
			write(t, target, "mine")
		}
		job := &fleet.Job{Name: "a.iso"}
		stageOf := func(fence uint64) *stage {
			s, err := p.stage(job, "q", fence, false)
			if err != nil || s.ours == foreign && fence == 2 || s.ours && fence == 1 {
				t.Fatalf("foreign %t, fence %d: %+v, %v", foreign, fence, s, err)
			}
			return s
		}
		first := stageOf(1)
		if !foreign {
			write(t, filepath.Join(first.dir, first.base), "one")
			if _, err := p.put(first, true, false); err != nil {
				t.Fatal(err)
			}
		}
		second := stageOf(2)
		if _, err := p.put(first, true, true); err == nil {
			t.Error("a late worker puts a file in place")
		}
		left, err := os.ReadDir(second.dir)
		if len(left) != 1 || left[0].Name() != "a.iso" || err != nil {
			t.Errorf("in the stage: %v, %v", left, err)
		}
	}
}

// TestStageKept: a whole file that a worker could not put in place, as the queue was away, is what the next one
// begins with, and is put in place by it. It takes the place of a file that is there only where that may be
// replaced.
func TestStageKept(t *testing.T) {
	for _, placing := range []bool{false, true} {
		for _, there := range []bool{false, true} {
			for _, replace := range []bool{false, true} {
				p, err := OpenFolder(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if there {
					write(t, filepath.Join(p.dir, "a.iso"), "mine")
				}
				job := &fleet.Job{Name: "a.iso"}
				first, err := p.stage(job, "q", 1, replace)
				if err != nil {
					t.Fatal(err)
				}
				name := first.base
				if placing {
					name = first.placing
				}
				os.Remove(filepath.Join(first.dir, name))
				write(t, filepath.Join(first.dir, name), "whole")
				second, err := p.stage(job, "q", 2, replace)
				if err != nil {
					t.Fatal(err)
				}
				want := "whole"
				if there && !replace {
					want = "mine"
				}
				if got, err := os.ReadFile(filepath.Join(second.dir, second.base)); string(got) != want || err != nil ||
					second.kept != (want == "whole") || second.ours {
					t.Errorf("placing %t, there %t, replace %t: the next worker begins with %q, %v: %+v", placing,
						there, replace, got, err, second)
				}
				if second.kept {
					if _, err := p.put(second, true, replace); err != nil {
						t.Error(err)
					}
				}
				if got, _ := os.ReadFile(filepath.Join(p.dir, "a.iso")); string(got) != want {
					t.Errorf("placing %t, there %t, replace %t: in place is %q", placing, there, replace, got)
				}
			}
		}
	}
}

// TestEndContext: what became of a job is stored for as long as the worker runs, and for a while after it was told
// to end.
func TestEndContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, end := context.WithCancel(t.Context())
		ctx, stop := endContext(running)
		defer stop()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("the file is thrown away while the queue is away")
		}
		end()
		time.Sleep(endTime - time.Second)
		if ctx.Err() != nil {
			t.Error("it has no time to end")
		}
		time.Sleep(2 * time.Second)
		if ctx.Err() == nil {
			t.Error("the worker never ends")
		}
		_, early := endContext(running)
		early()
	})
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestStageOfAnother_Rule75: what a worker left that was killed when its job was done does not let another job of
// that name replace the file.
func TestStageOfAnother_Rule75(t *testing.T) {
	p, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first, err := p.stage(&fleet.Job{Name: "a.iso", URIs: []string{"https://example.org/a.iso"}}, "q", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(first.dir, first.base), "one")
	if _, err := p.put(first, true, false); err != nil {
		t.Fatal(err)
	}
	if other, err := p.stage(&fleet.Job{Name: "a.iso", URIs: []string{"https://example.net/a.iso"}}, "q", 2,
		false); err != nil || other.ours {
		t.Errorf("another job may replace the file, %v", err)
	}
}

// TestStageAgain_Rule75 checks that the remains of a job that was dropped and reported again count, although its fences
// begin again, too.
func TestStageAgain_Rule75(t *testing.T) {
	p, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	job := &fleet.Job{Name: "a.iso"}
	first, err := p.stage(job, "q", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(first.dir, first.base), "one")
	if _, err := p.put(first, true, false); err != nil {
		t.Fatal(err)
	}
	if s, err := p.stage(job, "q", 1, false); err != nil || !s.ours {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestStageOfQueues_Rule75 checks that jobs of one name in two queues have stages of their own, and that a stage of an
// older braid, without a queue, is taken over.
func TestStageOfQueues_Rule75(t *testing.T) {
	p, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	job := &fleet.Job{Name: "a.iso"}
	stageOf := func(queue string, fence uint64) *stage {
		t.Helper()
		s, err := p.stage(job, queue, fence, false)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	left := filepath.Join(p.dir, stages, job.Key()+"-3")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(left, "a.iso"), "one")
	one := stageOf("one", 4)
	if !one.kept {
		t.Errorf("the file that an older braid completed is not kept: %+v", one)
	}
	two := stageOf("two", 9)
	if names, err := p.namesIn(two.name); len(names) != 0 || err != nil {
		t.Errorf("the stage of the second queue has %q of the first, %v", names, err)
	}
	if _, err := p.put(one, true, false); err != nil {
		t.Errorf("the other queue took the stage: %v", err)
	}
}
