package report

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/metalink"
	"braid/scheduler"
	"braid/verify"
)

// fiction generates events from arbitrary bytes, in an order that no real download has.
func fiction(data []byte) *Recorder {
	zero := time.Unix(0, 0)
	r := NewRecorder(zero)
	at := time.Duration(0)
	next := func() int64 {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int64(b)
	}
	text := func() string { return hostile[int(next())%len(hostile)] }
	offset := func() int64 { return next() << (next() % 56) & math.MaxInt64 }
	for len(data) > 0 {
		at += time.Duration(next()) << (next() % 40)
		id, fetch, why := int(next()%8), int(next()%8), scheduler.Reason(next())
		var ev download.Event
		switch next() % 14 {
		case 0:
			ev = download.Started{URL: text(), Path: text()}
		case 1:
			ev = download.Resumed{Bytes: offset(), Have: byterange.NewSet(byterange.Range{Start: offset(), End: offset()})}
		case 2:
			ev = download.Offered{File: metalink.File{Size: offset() - 1}}
		case 3:
			ev = download.SourceUp{ID: id, URL: text(), Host: text(), RTT: time.Duration(offset())}
		case 4:
			ev = download.SourceDown{ID: id, URL: text(), Host: text(), Err: errors.New(text()), Gone: id == 0,
				Banned: id == 1, Back: time.Duration(offset())}
		case 5:
			ev = download.Progress{Size: offset() - 1}
		case 6:
			ev = download.Restarted{Reason: text()}
		case 7:
			ev = download.Complete{Size: offset()}
		case 8:
			ev = download.Verified{Proof: verify.Unchecked(1)}
		case 9:
			ev = download.RangeStarted{ID: id, URL: text(), Host: text(),
				Range: byterange.Range{Start: offset(), End: offset()}, Fetch: fetch, Why: why}
		case 10:
			ev = download.RangeAnswered{Fetch: fetch, ID: id, Host: text(), RTT: time.Duration(offset())}
		case 11:
			ev = download.RangeCut{Fetch: fetch, ID: id, Host: text(), End: offset(), Ended: id == 0, Why: why}
		case 12:
			ev = download.RangeEnded{Fetch: fetch, ID: id, Host: text(), Err: errors.New(text())}
		case 13:
			start := offset()
			ev = download.Brought{Pieces: []download.Piece{{Fetch: fetch,
				Range: byterange.Range{Start: start &^ (1 << 62), End: start&^(1<<62) + offset()&(1<<50-1)}}}}
		}
		r.Observe(zero.Add(at), ev)
	}
	r.End(zero.Add(at), download.Result{}, errors.New(text()))
	return r
}

// FuzzRecorder: for every sequence of events there is a page. It is safe and deterministic, and no byte is counted
// twice.
func FuzzRecorder(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 20, 0, 0, 1, 9, 0, 0, 0, 0, 9, 40, 5, 20, 1, 0, 0, 10, 0, 0, 0, 100, 20, 1, 0, 0, 13, 0, 0, 7, 20,
		1, 20, 1, 0, 0, 12, 0, 0})
	for seed := range byte(16) { // long inputs, which the fuzzer would find late
		data := make([]byte, 4096)
		rand.NewChaCha8([32]byte{seed}).Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		r := fiction(data)
		html := page(r)
		safe(t, html)
		if len(html) > mib {
			t.Errorf("%d bytes", len(html))
		}
		if !bytes.Equal(html, page(fiction(data))) {
			t.Error("the same events make another page")
		}
		var drawn float64
		for _, x := range r.columns.bytes {
			drawn += x
		}
		if want := float64(r.Fetched); math.Abs(drawn-want) > 1e-6*want+1 {
			t.Errorf("%g bytes are drawn of %g", drawn, want)
		}
	})
}
