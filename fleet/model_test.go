package fleet

import (
	"fmt"
	"testing"
	"time"
)

// FuzzWorkers lets several workers call the methods of one record at any time, each with the fence that it last got. It
// checks that one worker at a time has the job, that fences only grow, that a worker that has lost the job changes
// nothing, and that the last reported version is done in the end.
func FuzzWorkers(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{0, 16, 7, 33, 3, 0, 8, 20})
	f.Fuzz(func(t *testing.T, steps []byte) {
		var r Record
		now, version, fences := t0, 0, map[string]uint64{}
		r.Report(job("0"), now)
		for _, b := range steps {
			worker, before := fmt.Sprint("w", b>>4&3), r
			fence, has := fences[worker]
			valid := has && r.State == Running && r.Lease.Holder == worker && r.Lease.Fence == fence
			var err error
			switch b & 15 {
			case 0, 1:
				version++
				r.Report(job(fmt.Sprint(version)), now)
			case 2, 3, 4:
				if err := r.Take(worker, now, UsualLease); err == nil {
					fences[worker] = r.Lease.Fence
					if before.State == Running && now.Before(before.Lease.Until) || r.Lease.Fence != before.Lease.Fence+1 {
						t.Fatalf("%s took it from %+v", worker, before.Lease)
					}
				}
			case 5:
				err = r.Prolong(worker, fence, Progress{}, now, UsualLease)
			case 6:
				err = r.Release(worker, fence, now)
			case 7, 8, 9, 10:
				err = r.Finish(worker, fence, Ending{Kind: []Kind{Right, Wrong, Failed, Useless}[b&15-7]}, now)
			case 11:
				r.Retry(now)
			default:
				now = now.Add(time.Duration(b) * time.Second)
			}
			if b&15 >= 5 && b&15 <= 10 && (err == nil) != valid {
				t.Fatalf("%s under fence %d of %+v, which is %s: %v", worker, fence, before.Lease, before.State, err)
			}
			checkRecord(t, &r, &before)
		}
		settle(t, &r, now, version)
	})
}

func checkRecord(t *testing.T, r, before *Record) {
	t.Helper()
	switch {
	case r.Lease.Fence < before.Lease.Fence:
		t.Fatalf("the fence went back from %d to %d", before.Lease.Fence, r.Lease.Fence)
	case (r.State == Running) == r.Lease.Until.IsZero():
		t.Fatalf("it is %s with a lease until %v", r.State, r.Lease.Until)
	case r.Newer != nil && r.State != Running:
		t.Fatalf("it is %s, and what is newer is forgotten", r.State)
	case r.State == Waiting && r.Next.IsZero():
		t.Fatal("it waits for nothing")
	case r.State == Done && r.Good.Version != r.Job.Version:
		t.Fatalf("version %s is done by an ending of %s", r.Job.Version, r.Good.Version)
	}
}

// settle lets one worker finish the job, including retries.
func settle(t *testing.T, r *Record, now time.Time, version int) {
	t.Helper()
	for range 4 {
		now = now.Add(24 * time.Hour)
		r.Retry(now)
		if err := r.Take("last", now, UsualLease); err == nil {
			r.Finish("last", r.Lease.Fence, Ending{Kind: Right}, now)
		}
	}
	if r.State != Done || r.Job.Version != fmt.Sprint(version) {
		t.Fatalf("version %s is %s, and %d was reported last", r.Job.Version, r.State, version)
	}
}

// FuzzPace checks that no turn is given twice and that a host is held for as long as it asked, up to mostHeld.
func FuzzPace(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 250, 6})
	f.Fuzz(func(t *testing.T, steps []byte) {
		var p Pace
		now, turns := t0, t0
		for _, b := range steps {
			switch n := int(b >> 2); b & 3 {
			case 0:
				now = now.Add(time.Duration(n) * 50 * time.Millisecond)
			case 1:
				first, gap := p.Turns(n, 10, now)
				if first.Before(now) || first.Before(turns) || gap != 100*time.Millisecond {
					t.Fatalf("turns at %v, %v apart, when %v are taken until %v", first, gap, now, turns)
				}
				turns = first.Add(time.Duration(n) * gap)
			case 2, 3:
				before, _ := p.Held(now)
				p.Hold(503, time.Duration(n)*5*time.Minute, now)
				if wait, _ := p.Held(now); wait < before || wait > mostHeld ||
					wait < min(mostHeld, time.Duration(n)*5*time.Minute) {
					t.Fatalf("held for %v, %v before", wait, before)
				}
			}
		}
		if wait, _ := p.Held(now.Add(mostHeld)); wait > 0 {
			t.Fatalf("held for ever: %+v", p)
		}
	})
}
