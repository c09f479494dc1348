// Package edges fetches the pieces of a torrent that several of its files share.
//
// A file of a torrent rarely begins and ends with a piece. To check its first and its last piece, bytes of the files
// beside it are needed. Such a piece is fetched whole, from web seeds or peers, and proven by its digest. All files of
// one document share a Pieces, so each piece is fetched once.
package edges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"braid/byterange"
	"braid/internal/small"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/verify"
)

// Pieces are the shared pieces of a torrent that were fetched. They are safe for concurrent use by Fetchers.
type Pieces struct {
	turn   chan struct{} // holds one value: one piece is fetched at a time
	proven map[int][]byte
	order  []int // oldest first
	size   int64
	late   map[int]bool // indices of web seeds that were too slow for a piece: they are asked last
}

const (
	maxBytes = 64 << 20 // maximum number of bytes in all stored pieces, and in one piece
	maxParts = 200      // maximum number of files in a piece, because each needs a request
	maxSeeds = 8        // maximum number of web seeds that are asked for a piece
)

// ErrLarge is the error of a piece that is too much to fetch for a check.
var ErrLarge = errors.New("it has more than 64 MiB or 200 files, too much to download for a check")

// New returns an empty Pieces.
func New() *Pieces {
	return &Pieces{turn: make(chan struct{}, 1), proven: map[int][]byte{}, late: map[int]bool{}}
}

// add stores a piece, and removes the oldest pieces while all together have more than maxBytes.
func (e *Pieces) add(i int, data []byte) {
	e.proven[i] = data
	e.order = append(e.order, i)
	for e.size += int64(len(data)); e.size > maxBytes && len(e.order) > 1; e.order = e.order[1:] {
		e.size -= int64(len(e.proven[e.order[0]]))
		delete(e.proven, e.order[0])
	}
}

// Whole returns the pieces of a file whose first or last piece has bytes of other files, too. edge returns all bytes of
// piece i of the torrent.
func Whole(t metainfo.Torrent, f metainfo.File, edge func(i int) ([]byte, error)) (list verify.Pieces, err error) {
	n := t.PieceLength
	first, last := int(f.Offset/n), int((f.Offset+f.Size-1)/n)
	var before, after []byte
	if lead := f.Offset % n; lead > 0 {
		piece, err := edge(first)
		if err != nil {
			return list, err
		}
		before = piece[:lead]
	}
	start, end := int64(last)*n, f.Offset+f.Size
	if end < min(start+n, t.Size) {
		piece, err := edge(last)
		if err != nil {
			return list, err
		}
		after = piece[end-start:]
	}
	return f.Span.Beside(before, after)
}

// A Fetcher fetches pieces that a file shares with its neighbours.
type Fetcher struct {
	Torrent metainfo.Torrent
	File    metainfo.File
	Known   *Pieces
	// Patience is how long a source may be silent.
	Patience time.Duration
	// Seed returns the source of a file's URL on a web seed. If nil, no web seed is asked.
	Seed func(*url.URL) (source.Source, error)
	// Peers returns the swarm of a file. If nil, no peer is asked.
	Peers func(metainfo.File) source.Swarm
}

// Piece returns piece i of the torrent, proven by its digest.
func (x Fetcher) Piece(ctx context.Context, i int) ([]byte, error) {
	select {
	case x.Known.turn <- struct{}{}:
		defer func() { <-x.Known.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if data, ok := x.Known.proven[i]; ok {
		return data, nil
	}
	parts, want, err := x.Torrent.Piece(i)
	if err != nil {
		return nil, fmt.Errorf("piece %d of the torrent: %w", i, err)
	}
	var data []byte
	if err = Feasible(parts); err == nil {
		data, err = x.fetch(ctx, parts, want)
	}
	if err != nil {
		return nil, fmt.Errorf("piece %d of the torrent, which %s shares with other files: %w", i,
			source.Escape(x.File.Name), err)
	}
	x.Known.add(i, data)
	return data, nil
}

// Feasible returns an error if a piece is too much to fetch for a check.
func Feasible(parts []metainfo.Part) error {
	size, n := int64(0), 0
	for _, p := range parts {
		if size += p.End - p.Start; !p.Zeros {
			n++
		}
	}
	if size > maxBytes || n > maxParts {
		return ErrLarge
	}
	return nil
}

// fetch asks one web seed after another for all of a piece and combines the parts of several seeds. Then it asks the
// swarm. A seed has a time limit for all parts together: a piece may have parts of 200 files, and the other files of
// the torrent wait.
func (x Fetcher) fetch(ctx context.Context, parts []metainfo.Part, want verify.Digest) ([]byte, error) {
	right := func(all [][]byte) []byte {
		h := want.Algorithm().New()
		for _, b := range all {
			h.Write(b)
		}
		if !bytes.Equal(h.Sum(nil), want.Bytes()) {
			return nil
		}
		return bytes.Join(all, nil)
	}
	var last error
	found := make([][][]byte, len(parts)) // for each part, its different versions
	spare := maxBytes                     // bytes that may be kept beyond the first version of each part
	seeds := x.seeds()
	for n, k := range seeds {
		if ctx.Err() != nil {
			break
		}
		within := x.Patience
		if n == len(seeds)-1 && x.Peers == nil {
			within *= small.Longest // no other source is left to try
		}
		brought, err := x.seedParts(ctx, within, parts, k)
		last = cmpErr(err, last)
		addParts(found, brought, &spare)
		if data := combine(found, nil, right, new(int)); data != nil {
			return data, nil
		}
	}
	if x.Peers != nil && ctx.Err() == nil {
		all, err := x.swarmParts(ctx, parts)
		if err == nil {
			if data := right(all); data != nil {
				return data, nil
			}
		}
		last = cmpErr(err, last)
	}
	complete := !slices.ContainsFunc(found, func(all [][]byte) bool { return len(all) == 0 })
	if last == nil || complete {
		err := errors.New("no web seed has its bytes")
		return nil, &source.Error{URL: source.Mask(source.SwarmURL(x.Torrent, x.File)), Fault: source.FaultMismatch, Err: err}
	}
	return nil, last
}

// addParts adds the parts from a web seed to the versions found before. All versions but the first take bytes from
// spare.
func addParts(found [][][]byte, brought [][]byte, spare *int) {
	for j, b := range brought {
		if b == nil || slices.ContainsFunc(found[j], func(o []byte) bool { return bytes.Equal(o, b) }) {
			continue
		}
		if len(found[j]) > 0 {
			if *spare -= len(b); *spare < 0 {
				continue
			}
		}
		found[j] = append(found[j], b)
	}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// mostCombined limits how many combinations of parts are tried after each web seed.
const mostCombined = 256

// combine tries all combinations of the versions of the parts. It returns the piece if a combination is right, or nil.
func combine(found [][][]byte, chosen [][]byte, right func([][]byte) []byte, tried *int) []byte {
	if len(chosen) == len(found) {
		*tried++
		return right(chosen)
	}
	for _, b := range found[len(chosen)] {
		if *tried >= mostCombined {
			return nil
		}
		if data := combine(found, append(slices.Clip(chosen), b), right, tried); data != nil {
			return data
		}
	}
	return nil
}

// seeds returns the indices of the web seeds to ask for a piece, in order. Seeds that were too slow before come last.
func (x Fetcher) seeds() (list []int) {
	if x.Seed == nil {
		return nil
	}
	var late []int
	for k := range x.Torrent.Mirrors(x.File) {
		if x.Known.late[k] {
			late = append(late, k)
			continue
		}
		list = append(list, k)
	}
	list = append(list, late...)
	return list[:min(len(list), maxSeeds)]
}

// seedParts fetches the parts of a piece from web seed k, all of them within the given time. A part that was not
// received is nil.
func (x Fetcher) seedParts(ctx context.Context, within time.Duration, parts []metainfo.Part,
	k int) (all [][]byte, last error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, small.ErrSlow)
	defer cancel()
	all = make([][]byte, len(parts))
	for j, p := range parts {
		b, err := x.seedPart(ctx, p, k)
		if all[j] = b; err == nil {
			continue
		}
		last = err
		if slow := context.Cause(ctx) == small.ErrSlow; slow || source.IsTimeout(err) {
			x.Known.late[k] = true
			return all, &source.Error{URL: source.Mask(x.Torrent.Mirrors(p.File)[k]), Fault: source.FaultNetwork,
				Retry: true, Err: small.ErrSlow}
		}
	}
	return all, last
}

// seedPart fetches a part of a piece from web seed k.
func (x Fetcher) seedPart(ctx context.Context, p metainfo.Part, k int) ([]byte, error) {
	if p.Zeros {
		return make([]byte, p.End-p.Start), nil
	}
	u := x.Torrent.Mirrors(p.File)[k]
	src, err := x.Seed(u)
	if err != nil {
		return nil, err
	}
	return small.Part(ctx, src, x.Patience, byterange.Range{Start: p.Start, End: p.End})
}

// swarmParts fetches all parts of a piece from peers. It requests all parts at once, because peers send a piece as a
// whole.
func (x Fetcher) swarmParts(ctx context.Context, parts []metainfo.Part) ([][]byte, error) {
	all, errs := make([][]byte, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	for j, p := range parts {
		if p.Zeros {
			all[j] = make([]byte, p.End-p.Start)
			continue
		}
		src := x.Peers(p.File)
		defer src.Close()
		wg.Go(func() {
			all[j], errs[j] = small.Part(ctx, src, small.Longest*x.Patience, byterange.Range{Start: p.Start, End: p.End})
		})
	}
	wg.Wait()
	return all, errors.Join(errs...)
}
