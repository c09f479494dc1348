package recheck

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/source"
)

const size = 4 * Unit

// stored is a file at one place.
type stored []byte

func (stored) Traits() source.Traits { return source.Traits{} }

func (s stored) Fetch(_ context.Context, r byterange.Range, w source.Sink) error {
	if err := w.Answer(source.Answer{Ranged: true, Start: r.Start, Size: int64(len(s))}); err != nil {
		return err
	}
	if _, err := w.WriteAt(s[r.Start:r.End], r.Start); err != source.ErrEnough {
		return err
	}
	return nil
}

// A rig is a complete file whose first half is of place 0, and the second of place 1. Place 2 has sent nothing.
type rig struct {
	right  []byte
	part   *partfile.File
	places []*Place
	marked int
}

// newRig returns a rig. The places in wrong have another byte at Unit+1.
func newRig(t *testing.T, wrong ...int) *rig {
	t.Helper()
	x := &rig{right: bytes.Repeat([]byte("right bytes "), size/12+1)[:size]}
	part, err := partfile.OpenTemp(fsys.Or(nil), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x.part = part
	for i := range 3 {
		content := bytes.Clone(x.right)
		for _, w := range wrong {
			if w == i {
				content[Unit+1] ^= 1
			}
		}
		sent := byterange.Set{}
		if i < 2 {
			r := byterange.Range{Start: int64(i) * size / 2, End: int64(i+1) * size / 2}
			sent.Add(r)
			if _, err := part.WriteAt(content[r.Start:r.End], r.Start); err != nil {
				t.Fatal(err)
			}
		}
		host := string(rune('a' + i))
		x.places = append(x.places, &Place{
			ID: i, URL: &url.URL{Scheme: "http", Host: host, Path: "/f"}, Masked: "http://" + host + "/f", Host: host,
			Source: stored(content), Sent: &sent,
			Check: func(source.Answer) error { return nil }, Failed: func(error) error { return nil },
		})
	}
	return x
}

func (x *rig) search(t *testing.T) *Search {
	t.Helper()
	s, err := New(Config{Files: fsys.Or(nil), Part: x.part, Silence: time.Minute, Pause: time.Millisecond,
		Mark: func() error { x.marked++; return nil }}, x.places)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func (x *rig) isRight(t *testing.T) bool {
	t.Helper()
	got := make([]byte, size)
	if _, err := x.part.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(got, x.right)
}

// Two places outvote the one that sent a wrong byte. Its unit is exchanged, and Restore puts it back.
func TestSearch(t *testing.T) {
	x := newRig(t, 0)
	s := x.search(t)
	found, err := s.Round(t.Context(), func() {})
	if err != nil || !found || !x.isRight(t) {
		t.Fatalf("found %v, %v; the file is right: %v", found, err, x.isRight(t))
	}
	n := 0
	for p, r := range s.Wrong() {
		if n++; p.ID != 0 || !r.Contains(Unit+1) {
			t.Errorf("place %d is wrong at %v", p.ID, r)
		}
	}
	if n != 1 || x.marked != 1 || !s.Replaced() {
		t.Errorf("%d places are wrong, marked %d times, replaced %v", n, x.marked, s.Replaced())
	}
	if x.places[0].Sent.Contains(byterange.Range{Start: Unit, End: 2 * Unit}) {
		t.Error("the first place is still taken for the source of what was replaced")
	}
	if err := s.Restore(); err != nil || x.isRight(t) || s.Replaced() {
		t.Errorf("restored: %v; the file is right: %v", err, x.isRight(t))
	}
}

// If all places have the same bytes, nothing is exchanged, and little more than the file is asked for.
func TestSearchUnanimous(t *testing.T) {
	x := newRig(t, 0, 1, 2)
	s := x.search(t)
	found, err := s.Round(t.Context(), func() {})
	if found || err != nil || x.isRight(t) || s.Replaced() {
		t.Errorf("found %v, %v", found, err)
	}
	if s.Done() > 3*size {
		t.Errorf("%d bytes were compared, of a file of %d", s.Done(), size)
	}
}

// What a place says about the file ends the search, whatever the others have.
func TestSearchEnds(t *testing.T) {
	over := errors.New("the file has changed")
	for name, change := range map[string]func(*Place){
		"check": func(p *Place) { p.Check = func(source.Answer) error { return &EndError{over} } },
		"failed": func(p *Place) {
			p.Check = func(source.Answer) error { return &source.Error{Fault: source.FaultNetwork, Err: errors.New("cut")} }
			p.Failed = func(error) error { return &EndError{over} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRig(t, 0)
			for _, p := range x.places {
				change(p)
			}
			if found, err := x.search(t).Round(t.Context(), func() {}); found || err != over {
				t.Errorf("found %v, %v", found, err)
			}
			if x.marked != 0 {
				t.Error("something was replaced")
			}
		})
	}
}
