package small

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"braid/byterange"
	"braid/source"
)

// A dripping sends size bytes, one after each pause, and ignores ranges.
type dripping struct {
	size  int64
	pause time.Duration
	whole bool // it says the size
}

func (dripping) Traits() source.Traits { return source.Traits{} }

func (d dripping) Fetch(ctx context.Context, r byterange.Range, w source.Sink) error {
	a := source.Answer{Size: -1}
	if d.whole {
		a.Size = d.size
	}
	err := w.Answer(a)
	for off := int64(0); off < d.size && err == nil; off++ {
		select {
		case <-time.After(d.pause):
			_, err = w.WriteAt([]byte{byte(off)}, off)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == source.ErrEnough {
		return nil
	}
	return err
}

var at = &url.URL{Scheme: "http", Host: "a.example", Path: "/f"}

func TestWhole_Rule21(t *testing.T) {
	const patience = time.Second
	for _, tt := range []struct {
		name string
		src  dripping
		len  int
		want error
	}{
		{"short", dripping{size: 8}, 8, nil},
		{"long", dripping{size: 9}, 0, &LongError{}},
		{"long, as it says", dripping{size: 9, whole: true}, 0, &LongError{}},
		{"silent", dripping{size: 8, pause: 2 * patience}, 0, ErrSilent},
		{"slow", dripping{size: 8, pause: patience - 1}, 8, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				data, _, err := Whole(t.Context(), tt.src, at, patience, 8)
				_, long := errors.AsType[*LongError](err)
				if _, want := tt.want.(*LongError); want != long || !want && !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				if len(data) != tt.len {
					t.Errorf("%d bytes, want %d", len(data), tt.len)
				}
			})
		})
	}
}

// A server that is never silent is given up after ten times the patience.
func TestSlow_Rule21(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, _, err := Whole(t.Context(), dripping{size: 1000, pause: time.Second / 2}, at, time.Second, 1000)
		if e, ok := errors.AsType[*source.Error](err); !ok || e.Err != ErrSlow || e.Host != "a.example:80" {
			t.Errorf("%v, want that it is slow", err)
		}
		if took := time.Since(begun); took != Longest*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// First takes the beginning of a longer file, Part a range of one that is sent whole.
func TestFirstAndPart(t *testing.T) {
	data, _, err := First(t.Context(), dripping{size: 100}, at, time.Minute, 3)
	if err != nil || string(data) != "\x00\x01\x02" {
		t.Errorf("%q, %v", data, err)
	}
	data, err = Part(t.Context(), dripping{size: 100}, time.Minute, byterange.Range{Start: 5, End: 7})
	if err != nil || string(data) != "\x05\x06" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err = Part(t.Context(), dripping{size: 6}, time.Minute, byterange.Range{Start: 5, End: 7}); err == nil {
		t.Error("a range beyond the end: no error")
	}
}
