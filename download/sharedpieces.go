package download

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"braid/byterange"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/verify"
)

// sharedPieces are pieces of a torrent that several of its files share. To check such a piece, a file needs
// the neighbours' bytes. All files of one document use the same sharedPieces, so each piece is fetched once.
type sharedPieces struct {
	turn   chan struct{} // holds one value: one piece is fetched at a time
	proven map[int][]byte
	order  []int // oldest first
	size   int64
	late   map[int]bool // indices of web seeds that were too slow for a piece: they are asked last
}

const (
	maxSharedBytes = 64 << 20 // bytes of pieces that are kept, and the most that a piece may have
	maxSharedParts = 200      // files that may be in a piece, as each is a request
	maxSharedSeeds = 8        // web seeds that are asked for a piece
)

var errLargeSharedPiece = errors.New("it has more than 64 MiB or than 200 files, which is too much to fetch for a check")

func newSharedPieces() *sharedPieces {
	return &sharedPieces{turn: make(chan struct{}, 1), proven: map[int][]byte{}, late: map[int]bool{}}
}

// add records a piece, and drops the oldest ones if they are too large together.
func (e *sharedPieces) add(i int, data []byte) {
	e.proven[i] = data
	e.order = append(e.order, i)
	for e.size += int64(len(data)); e.size > maxSharedBytes && len(e.order) > 1; e.order = e.order[1:] {
		e.size -= int64(len(e.proven[e.order[0]]))
		delete(e.proven, e.order[0])
	}
}

// whole returns the pieces of a file that shares its first or its last one with others, each with its
// neighbours' bytes. edge returns all of piece i of the torrent.
func (x *sharing) whole(edge func(i int) ([]byte, error)) (list verify.Pieces, err error) {
	n, f := x.torrent.PieceLength, x.file
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
	if end < min(start+n, x.torrent.Size) {
		piece, err := edge(last)
		if err != nil {
			return list, err
		}
		after = piece[end-start:]
	}
	return f.Span.Beside(before, after)
}

// A sharedPieceFetcher fetches pieces that a file shares with its neighbours.
type sharedPieceFetcher struct {
	*sharing
	http network
	req  *Request
}

// piece returns piece i of the torrent, proven by its digest.
func (x sharedPieceFetcher) piece(ctx context.Context, i int) ([]byte, error) {
	select {
	case x.shared.turn <- struct{}{}:
		defer func() { <-x.shared.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if data, ok := x.shared.proven[i]; ok {
		return data, nil
	}
	parts, want, err := x.torrent.Piece(i)
	if err != nil {
		return nil, fmt.Errorf("piece %d of the torrent: %w", i, err)
	}
	var data []byte
	if err = feasible(parts); err == nil {
		data, err = x.fetch(ctx, parts, want)
	}
	if err != nil {
		return nil, fmt.Errorf("piece %d of the torrent, which %s shares with other files: %w", i,
			source.Escape(x.file.Name), err)
	}
	x.shared.add(i, data)
	return data, nil
}

// feasible returns an error if a piece is too much to fetch for a check.
func feasible(parts []metainfo.Part) error {
	size, n := int64(0), 0
	for _, p := range parts {
		if size += p.End - p.Start; !p.Zeros {
			n++
		}
	}
	if size > maxSharedBytes || n > maxSharedParts {
		return errLargeSharedPiece
	}
	return nil
}

// fetch asks one web seed after another for all of a piece and combines the parts of several seeds. Then it
// asks the swarm. Each has a time limit for all parts together: a piece may be of 200 files, and all other
// files of the torrent wait for it.
func (x sharedPieceFetcher) fetch(ctx context.Context, parts []metainfo.Part, want verify.Digest) ([]byte, error) {
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
	spare := maxSharedBytes               // bytes that may be kept beyond the first version of each part
	seeds := x.seeds()
	for n, k := range seeds {
		if ctx.Err() != nil {
			break
		}
		within := x.http.patience()
		if n == len(seeds)-1 && !x.req.Peers.asked() {
			within *= longest // no other place is left
		}
		brought, err := x.seedParts(ctx, within, parts, k)
		last = cmpErr(err, last)
		addParts(found, brought, &spare)
		if data := combine(found, nil, right, new(int)); data != nil {
			return data, nil
		}
	}
	if x.req.Peers.asked() && ctx.Err() == nil {
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
		return nil, &source.Error{URL: source.Mask(x.url()), Fault: source.FaultMismatch, Err: err}
	}
	return nil, last
}

// addParts adds the parts from a web seed to the versions found before. The bytes of all versions but the
// first are taken from spare.
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

// combine tries the versions of each part with those of the others.
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

// seeds returns the indices of the web seeds to ask for a piece, in order. Those that were late come last.
func (x sharedPieceFetcher) seeds() (list []int) {
	if x.req.Peers == PeersOnly {
		return nil
	}
	var late []int
	for k := range x.torrent.Mirrors(x.file) {
		if x.shared.late[k] {
			late = append(late, k)
			continue
		}
		list = append(list, k)
	}
	list = append(list, late...)
	return list[:min(len(list), maxSharedSeeds)]
}

// seedParts fetches the parts of a piece from web seed k, all of them within the given time. A part that it
// does not get is nil.
func (x sharedPieceFetcher) seedParts(ctx context.Context, within time.Duration, parts []metainfo.Part,
	k int) (all [][]byte, last error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errSlow)
	defer cancel()
	all = make([][]byte, len(parts))
	for j, p := range parts {
		b, err := x.seedPart(ctx, p, k)
		if all[j] = b; err == nil {
			continue
		}
		last = err
		if slow := context.Cause(ctx) == errSlow; slow || source.IsTimeout(err) {
			x.shared.late[k] = true
			return all, &source.Error{URL: source.Mask(x.torrent.Mirrors(p.File)[k]), Fault: source.FaultNetwork,
				Retry: true, Err: errSlow}
		}
	}
	return all, last
}

// seedPart fetches a part of a piece from web seed k.
func (x sharedPieceFetcher) seedPart(ctx context.Context, p metainfo.Part, k int) ([]byte, error) {
	if p.Zeros {
		return make([]byte, p.End-p.Start), nil
	}
	u := x.torrent.Mirrors(p.File)[k]
	if !x.req.usable(u) {
		return nil, &source.Error{URL: source.Mask(u), Fault: source.FaultRefused, Err: errors.New("FTP is off")}
	}
	src := x.http.Source(u, x.req.optionsFor(u, x.named, false))
	return fetchPart(ctx, src, x.http.patience(), byterange.Range{Start: p.Start, End: p.End})
}

// swarmParts fetches all parts of a piece from peers. It asks for them at once, because the piece comes as a
// whole.
func (x sharedPieceFetcher) swarmParts(ctx context.Context, parts []metainfo.Part) ([][]byte, error) {
	all, errs := make([][]byte, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	for j, p := range parts {
		if p.Zeros {
			all[j] = make([]byte, p.End-p.Start)
			continue
		}
		src := x.http.swarms.Swarm(x.torrent, p.File, source.SwarmOptions{Dir: x.req.Dir, Peers: x.peers, Named: x.named})
		defer src.Close()
		wg.Go(func() {
			all[j], errs[j] = fetchPart(ctx, src, longest*x.http.patience(), byterange.Range{Start: p.Start, End: p.End})
		})
	}
	wg.Wait()
	return all, errors.Join(errs...)
}
