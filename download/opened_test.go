package download_test

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"sync/atomic"
	"testing"

	"braid/byterange"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source"
)

// An object is a program's own source: bytes in memory.
type object struct {
	data  []byte
	shift int64 // offset by which the bytes are misplaced
	fails error
	asked *atomic.Bool
}

func (o object) Traits() source.Traits { return source.Traits{Align: 1, InOrder: true} }

func (o object) Fetch(_ context.Context, r byterange.Range, w source.Sink) error {
	defer o.asked.Store(true) // and has sent its bytes
	if o.fails != nil {
		return o.fails
	}
	end := min(r.End, int64(len(o.data)))
	if err := w.Answer(source.Answer{Start: r.Start, End: end, Size: int64(len(o.data)), Ranged: true}); err != nil {
		return err
	}
	for off := r.Start; off < end; {
		n, err := w.WriteAt(o.data[off:min(off+32<<10, end)], off+o.shift)
		if errors.Is(err, source.ErrEnough) {
			return nil
		}
		if err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}

// A program's own source is a mirror like others: it is used, and its faults do not get into the file.
func TestOpen_C4(t *testing.T) {
	const size = 4 * mib
	good := made(size, 7)
	for name, tt := range map[string]struct {
		source object
		digest bool
		helps  bool
	}{
		"right":      {object{data: good}, true, true},
		"no digest":  {object{data: good}, false, false},
		"other":      {object{data: made(size, 8)}, true, false},
		"short":      {object{data: good[:size/2]}, true, false},
		"misplaced":  {object{data: good, shift: 1}, true, false},
		"fails":      {object{fails: errors.New("no such bucket")}, true, false},
		"all zeroes": {object{data: bytes.Repeat([]byte{0}, size)}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.source.asked = &atomic.Bool{}
			options := []mirrortest.Option{held(4*mib, func() bool { return !tt.digest || tt.source.asked.Load() })}
			if tt.digest {
				options = append(options, mirrortest.Digest())
			}
			r := newRun(t, sized(t, size, options...).URL)
			r.client.Open = map[string]func(*url.URL) source.Source{"memory": func(*url.URL) source.Source { return tt.source }}
			r.req.Mirrors = []*url.URL{parse(t, "memory://here/file.bin")}
			res := r.right(mirrortest.Generate(size, 7))
			brought := int64(0)
			banned := false
			for _, src := range res.Sources {
				if src.Host == "here:80" {
					brought, banned = src.Bytes, src.Banned
				}
			}
			if brought > 0 && !tt.helps && !banned || brought == 0 && tt.helps {
				t.Errorf("it brought %d bytes: %+v", brought, res.Sources)
			}
		})
	}
}

// Client.Open is for mirrors that the caller named: the URL of a download is of the web, FTP or a document.
func TestOpenIsForMirrors(t *testing.T) {
	r := newRun(t, "memory://here/file.bin")
	r.client.Open = map[string]func(*url.URL) source.Source{"memory": func(*url.URL) source.Source { return object{} }}
	r.wrong(download.Usage)
}
