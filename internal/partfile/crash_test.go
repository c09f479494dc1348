package partfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// story is a random sequence of operations on a part file, with the guarantees that it must keep.
type story struct {
	t      *testing.T
	disk   *fsystest.Disk
	f      *File
	want   []byte
	old    []byte // under the final name before; nil if none
	synced []promise
	lies   []lie
	began  int // length of the log when the commit began
	ended  int // length of the log when it ended
}

// promise is a successful Sync: from then on these bytes must survive.
type promise struct {
	at   int
	have byterange.Set
}

// lie is a range of wrong bytes. Until they are voided, they are marked as done like all others.
type lie struct {
	byterange.Range
	from, to int
}

// tell performs random operations of a download: writes in several places, syncs, voids, ends of runs, and a commit.
func tell(t *testing.T, seed uint64) *story {
	r := rand.New(rand.NewPCG(seed, 7))
	s := &story{t: t, disk: fsystest.NewDisk(), want: content(8<<10 + r.IntN(8<<10))}
	must(t, fsys.MkdirAll(s.disk, "/d", 0o777))
	if r.IntN(2) == 0 {
		s.old = []byte("the version before")
		d, err := s.disk.OpenDir("/d")
		must(t, err)
		f, err := d.Create("x", 0o644)
		must(t, err)
		_, err = f.WriteAt(s.old, 0)
		must(t, errors.Join(err, f.Close()))
	}
	s.disk.Settle()
	s.open(s.disk)
	size := int64(len(s.want))
	for s.have().Len() < size {
		s.act(r)
	}
	s.began = s.disk.Changes()
	must(t, s.f.Commit(proof(t, s.want), Final{Replace: true}))
	s.ended = s.disk.Changes()
	return s
}

func (s *story) have() *byterange.Set {
	have := s.f.Have()
	return &have
}

func (s *story) open(disk *fsystest.Disk) {
	s.t.Helper()
	var err error
	s.f, err = Open(disk, "/d", "x")
	must(s.t, err)
	must(s.t, s.f.Recover(s.t.Context()))
	must(s.t, s.f.Begin(Identity{URL: "https://a.example/x", Size: int64(len(s.want))}))
}

// act performs one random operation.
func (s *story) act(r *rand.Rand) {
	size := int64(len(s.want))
	switch r.IntN(12) {
	case 0:
		must(s.t, s.f.Sync())
		s.promise()
	case 1:
		s.lie(r)
	case 2:
		must(s.t, s.f.Close())
		if s.have().Len() > 0 {
			s.promise()
		}
		s.open(s.disk)
	case 3, 4, 5:
		must(s.t, s.f.Flush())
	default:
		have := s.have()
		at := have.FirstGap(r.Int64N(size) * r.Int64N(2))
		end := min(at+r.Int64N(1500)+1, size)
		if at < end {
			_, err := s.f.WriteAt(s.want[at:end], at)
			must(s.t, err)
		}
	}
}

// lie writes wrong bytes, and voids a range that contains them.
func (s *story) lie(r *rand.Rand) {
	size, have := int64(len(s.want)), s.have()
	l := lie{from: s.disk.Changes()}
	at := have.FirstGap(r.Int64N(size))
	for l.Range = range have.Gaps(span(at, min(at+r.Int64N(600)+1, size))) {
		_, err := s.f.WriteAt(bytes.Repeat([]byte("lie "), int(l.Len())/4+1)[:l.Len()], l.Start)
		must(s.t, errors.Join(err, s.f.Flush()))
		if r.IntN(2) == 0 {
			must(s.t, s.f.Sync())
		}
		break
	}
	bad := span(max(l.Start-r.Int64N(300), 0), min(l.End+r.Int64N(300)+1, size))
	must(s.t, voided(s.f, bad))
	l.to = s.disk.Changes()
	s.lies = append(s.lies, l)
	for i := range s.synced { // these bytes are not needed any more
		s.synced[i].have.Remove(bad)
	}
}

func (s *story) promise() { s.synced = append(s.synced, promise{s.disk.Changes(), *s.have()}) }

// found checks the state of the disk after the first n changes, and continues the download.
func (s *story) found(n int, fate fsystest.Fate) (err error) {
	disk := s.disk.Crash(n, fate)
	got, err := fsys.ReadFile(disk, "/d/x", 1<<20)
	isNew := err == nil && bytes.Equal(got, s.want)
	isOld := err == nil && s.old != nil && bytes.Equal(got, s.old) || errors.Is(err, fs.ErrNotExist) && s.old == nil
	switch {
	case !isNew && !isOld, isNew && n <= s.began:
		return fmt.Errorf("the final name has %d bytes (%v)", len(got), err)
	case n >= s.ended && !isNew:
		return errors.New("it was committed, and is not there")
	case isNew:
		return nil
	}
	f, err := Open(disk, "/d", "x")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Recover(s.t.Context()); err != nil {
		return err
	}
	have := f.Have()
	for _, l := range s.lies {
		if l.from < n && n < l.to { // not voided yet
			err = errors.Join(f.Begin(Identity{}), voided(f, l.Range))
			have.Remove(l.Range)
		}
	}
	if err = errors.Join(err, s.holds(f, &have)); err != nil {
		return err
	}
	for _, p := range s.synced {
		for r := range p.have.All() {
			if p.at <= n && !have.Contains(r) {
				return fmt.Errorf("%v was synced and is lost; there is %v", r, &have)
			}
		}
	}
	return s.finish(disk, f)
}

// holds checks that the bytes marked as done are right.
func (s *story) holds(f *File, have *byterange.Set) error {
	for r := range have.All() {
		got := make([]byte, r.Len())
		if _, err := f.ReadAt(got, r.Start); err != nil || !bytes.Equal(got, s.want[r.Start:r.End]) {
			return fmt.Errorf("%v is marked as done, and is not there (%v)", r, err)
		}
	}
	return nil
}

// finish writes the missing bytes.
func (s *story) finish(disk *fsystest.Disk, f *File) error {
	if err := f.Begin(Identity{URL: "https://a.example/x", Size: int64(len(s.want))}); err != nil {
		return err
	}
	if _, err := f.WriteAt(s.want, 0); err != nil {
		return err
	}
	if err := f.Commit(proof(s.t, s.want), Final{Replace: true}); err != nil {
		return err
	}
	if got, err := fsys.ReadFile(disk, "/d/x", 1<<20); err != nil || !bytes.Equal(got, s.want) {
		return fmt.Errorf("the end is %d bytes, %v", len(got), err)
	}
	return nil
}

// Power is lost after each change of many downloads, with every fate of the unsynced changes. The bytes marked as done
// are right, synced bytes are not lost, the final name has the old file, the new one or none, and the next run ends
// successfully.
func TestPowerLoss_Rule6_Rule8(t *testing.T) {
	t.Parallel()
	const torn = 4
	stories, points := uint64(4), 40
	if fsystest.Everything() {
		stories = 60
	}
	tried := 0
	for seed := range stories {
		s := tell(t, seed)
		for _, n := range fsystest.Sample(s.disk.Changes(), points, seed) {
			for _, fate := range fsystest.Fates(seed<<32|uint64(n)<<8, torn) {
				tried++
				if err := s.found(n, fate); err != nil {
					t.Fatalf("story %d, after %d of %d changes, %v: %v", seed, n, s.disk.Changes(), fate, err)
				}
			}
		}
	}
	t.Logf("%d losses of power", tried)
}

// Valid bytes beside wrong ones are not lost, wherever the records that void the wrong ones are torn.
func TestTornVoid_Rule8(t *testing.T) {
	t.Parallel()
	bad := span(1000, 1010)
	for pad := range 24 { // the records are aligned differently to sectors each time
		s := &story{t: t, disk: fsystest.NewDisk(), want: content(3000 + pad)}
		must(t, fsys.MkdirAll(s.disk, "/d", 0o777))
		s.disk.Settle()
		f, err := Open(s.disk, "/d", "x")
		must(t, err)
		must(t, f.Begin(Identity{URL: "https://a.example/" + strings.Repeat("x", 21*pad)}))
		_, err = f.WriteAt(s.want, 0)
		must(t, errors.Join(err, f.Sync()))
		before := s.disk.Changes()
		must(t, voided(f, bad))
		s.synced = []promise{{before, byterange.NewSet(span(0, 1000), span(1010, int64(len(s.want))))}}
		for n := before; n <= s.disk.Changes(); n++ {
			for _, fate := range fsystest.Fates(uint64(pad), 5) {
				s.began = n
				s.ended = n + 1
				if err := s.found(n, fate); err != nil {
					t.Fatalf("after %d of %d changes, %v: %v", n, s.disk.Changes(), fate, err)
				}
			}
		}
	}
}
