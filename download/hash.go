package download

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"braid/verify"
)

// hashBuffer is large enough that reading costs little, and small enough to stay in the processor's cache.
const hashBuffer = 256 << 10

var hashBuffers = sync.Pool{New: func() any { return new([hashBuffer]byte) }}

// hashStep is the number of bytes for which the hasher waits, unless fewer are left. Waking the hasher costs as much as
// hashing some ten KiB. At the end of a transfer, hashStep bytes are hashed within a millisecond.
const hashStep = 1 << 20

// releaseSize is the number of bytes written to a stream after which their space on disk is released.
const releaseSize = 16 << 20

// A backlog is the part file, as the input of a hasher.
type backlog interface {
	WaitFront(ctx context.Context, past int64) (front int64, err error)
	ReadAt(p []byte, off int64) (int, error)
	Release(off int64) error
}

// A hasher reads the part file as its front advances and feeds the checker and the stream, if any. It reads each byte
// once, after the last write of that byte, through the descriptor that was written to (rule 2). A hasher that keeps up
// is never more than hashStep behind, so the verification ends soon after the transfer.
type hasher struct {
	part   backlog
	gate   *gate // part as a gate
	check  *verify.Checker
	stream io.Writer
	upload *uploading
	from   int64        // for an upload: bytes before this offset were hashed before
	size   atomic.Int64 // -1 until known
	cancel context.CancelFunc
	woken  context.CancelFunc
	done   chan error // gets one value when the goroutine ends
	moved  func(int64)
	freed  int64       // for a stream: the space of bytes before this offset was released
	failed func(error) // called with the error that ends the hasher, unless ctx ended
}

// startHasher starts the goroutine of a hasher. The goroutine ends when size bytes were read, or when ctx is done. For
// a stream or an upload, h.moved is called with the number of bytes that were written so far.
func startHasher(ctx context.Context, h *hasher, size int64) {
	ctx, cancel := context.WithCancel(ctx)
	waiting, woken := context.WithCancel(ctx)
	h.cancel, h.woken, h.done = cancel, woken, make(chan error, 1)
	h.size.Store(size)
	go func() {
		defer cancel()
		err := h.run(ctx, waiting)
		if err != nil && ctx.Err() == nil {
			h.failed(err)
		}
		h.done <- err
	}()
}

// end sets the size if it was not known at the start, or differs from the expected size. In the latter case the checker
// returns a SizeError.
func (h *hasher) end(size int64) {
	if h.size.Swap(size) != size {
		h.woken()
	}
}

func (h *hasher) run(ctx, waiting context.Context) error {
	buf := hashBuffers.Get().(*[hashBuffer]byte)
	defer hashBuffers.Put(buf)
	pos := h.from
	for pos != h.size.Load() {
		front, err := h.part.WaitFront(waiting, h.past(pos))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && waiting.Err() == nil:
			return local(err)
		case err != nil: // end was called: the size is known, and all bytes are present
			front = h.size.Load()
		}
		if err := h.read(ctx, buf[:], pos, front); err != nil {
			return err
		}
		pos = front
	}
	if h.upload != nil {
		return h.upload.put(ctx, h.part, pos, pos, h.check, h.uploaded)
	}
	return nil
}

// past returns the offset that the front must exceed before the bytes from pos are read. A stream gets each byte
// immediately, and an upload each part.
func (h *hasher) past(pos int64) int64 {
	if h.stream != nil {
		return pos
	}
	end, size := pos+hashStep, h.size.Load()
	if h.upload != nil {
		end = min(end, h.upload.next(size))
	}
	if size >= 0 {
		end = min(end, size)
	}
	return end - 1
}

// read hashes the bytes from pos to front and passes them to the stream or the upload.
func (h *hasher) read(ctx context.Context, buf []byte, pos, front int64) error {
	for pos < front {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		end, size := front, h.size.Load()
		if h.upload != nil {
			end = min(end, h.upload.next(size))
		}
		n, err := h.part.ReadAt(buf[:min(int64(len(buf)), end-pos)], pos)
		if n == 0 {
			return local(err)
		}
		h.check.Write(buf[:n])
		pos += int64(n)
		if h.upload != nil {
			if err := h.upload.put(ctx, h.part, pos, size, h.check, h.uploaded); err != nil {
				return err
			}
		}
		if h.stream == nil {
			continue
		}
		if _, err := h.stream.Write(buf[:n]); err != nil {
			return outputFault(err)
		}
		if pos >= h.freed+releaseSize {
			if err := h.part.Release(pos); err != nil {
				return local(err)
			}
			h.freed = pos
		}
		h.moved(pos)
	}
	return nil
}

// uploaded releases the space on disk of the bytes before front, which are uploaded.
func (h *hasher) uploaded(front int64) {
	if err := h.part.Release(front); err != nil {
		h.failed(local(err))
	}
	h.moved(front)
}

// A reading copies bytes of a file and reports the progress.
type reading struct {
	observe         func(Event)
	size            int64 // total number of bytes to copy
	done, first     int64 // bytes copied so far, and before this reading
	began, reported time.Time
	buf             []byte
}

func newReading(observe func(Event), size, done int64) *reading {
	now, buf := time.Now(), int64(hashBuffer)
	if size > done { // a small buffer suffices for a small file
		buf = min(buf, size-done+1)
	}
	return &reading{observe: observe, size: size, done: done, first: done, began: now, reported: now, buf: make([]byte, buf)}
}

// reportEvery is the interval between two reports.
const reportEvery = 100 * time.Millisecond

// copy copies from to w, until from ends or ctx is done.
func (r *reading) copy(ctx context.Context, w io.Writer, from io.Reader) error {
	for ctx.Err() == nil {
		n, err := from.Read(r.buf)
		if _, err := w.Write(r.buf[:n]); err != nil {
			return local(err)
		}
		r.done += int64(n)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return local(err)
		}
		if now := time.Now(); now.Sub(r.reported) >= reportEvery {
			r.reported = now
			r.observe(Progress{Done: r.done, Size: r.size, Rate: float64(r.done-r.first) / now.Sub(r.began).Seconds()})
		}
	}
	return context.Cause(ctx)
}

// compareWith returns an error if the file of proof does not have the digests of claims.
func compareWith(ctx context.Context, file io.ReaderAt, proof verify.Proof, claims []verify.Claim) error {
	known := proof.Digests()
	for _, c := range claims {
		at := slices.IndexFunc(known, func(d verify.Digest) bool { return d.Algorithm() == c.Digest.Algorithm() })
		if at < 0 { // the hasher did not compute this algorithm
			d, err := digestOf(ctx, file, c.Digest.Algorithm(), proof.Size())
			if err != nil {
				return err
			}
			known, at = append(known, d), len(known)
		}
		if known[at] != c.Digest {
			return &verify.MismatchError{Claim: c, Got: known[at]}
		}
	}
	return nil
}

// digestOf returns the digest of the first size bytes of a file.
func digestOf(ctx context.Context, file io.ReaderAt, a verify.Algorithm, size int64) (verify.Digest, error) {
	h, buf := a.New(), make([]byte, hashBuffer)
	for r := io.NewSectionReader(file, 0, size); ; {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		switch {
		case ctx.Err() != nil:
			return verify.Digest{}, context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return verify.NewDigest(a, h.Sum(nil))
		case err != nil:
			return verify.Digest{}, err
		}
	}
}
