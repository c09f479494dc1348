package serve

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"braid/verify"
)

// errClosed says that the server was closed.
var errClosed = errors.New("the server is closed")

// digests knows the SHA-256 of files, and their pieces and signatures where they are wanted, and finds out what
// it does not know: it reads each version of a file once, however many ask.
//
// A version is told by its stamp. A program that writes through a mapping of a file in memory changes it before its
// stamp, where the file system says so at all: what was hashed soon after it was written is hashed again when it has
// been quiet.
type digests struct {
	root   *os.Root
	folder string // absolute: what the cache file speaks of
	file   string // cache file; "": none
	log    *slog.Logger
	ctx    context.Context // of the hashing; ends with close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{} // one for each file that is read at the same time
	sum    func(context.Context, io.Reader) (verify.Digest, error)
	signer *signer       // nil: nothing is signed
	quiet  time.Duration // quietTime

	mu     sync.Mutex
	closed bool
	known  *recent[string, known] // by path
	jobs   map[jobKey]*job
	dirty  bool // known has what the cache file has not
	saving bool // a goroutine writes the cache file
}

// known is a version of a file that was read. Only the stamp survives a restart; info is nil until the file has been
// seen in this run.
type known struct {
	stamp stamp
	info  fs.FileInfo
	early bool // it was read before the file was quiet
	facts
}

// quietTime is how long after a write the system has brought pages that are written through a mapping to the disk:
// Linux does within half a minute. After that another write to them shows.
const quietTime = time.Minute

// isQuiet reports whether the last write to the file of s is long enough ago.
func (d *digests) isQuiet(s stamp) bool { return time.Since(s.written()) >= d.quiet }

// maxKnown is how much memory is for what is known of files, about: that of 100 000 files of 1 GiB. Files beyond are read again.
const maxKnown = 256 << 20

// weight is how much memory k takes, about.
func (k known) weight() int {
	const own, piece = 1 << 10, 64
	return own + len(k.signature) + piece*k.pieces.Count()
}

// forget drops what is known of a file that is gone.
func (d *digests) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known.forget(name)
}

type jobKey struct {
	name  string
	stamp stamp
	wants
}

// A job is the hashing of one version of a file. Its results may be read when done is closed.
type job struct {
	done chan struct{}
	info fs.FileInfo // of the file that was read
	// early: it was read before it was quiet.
	early bool
	facts
	err error
}

func newDigests(root *os.Root, folder, file string, by *signer, log *slog.Logger) *digests {
	d := &digests{
		root: root, folder: folder, file: file, signer: by, log: log, quiet: quietTime,
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)),
		sum:   sum,
		known: newRecent[string](maxKnown, known.weight),
		jobs:  map[jobKey]*job{},
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.load()
	return d
}

// close ends all hashing and waits for it, and for the cache file.
func (d *digests) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.wg.Wait()
}

// of is what the bytes of the open file give that info describes, w included. The error is errChanged if there
// is another version under the name now.
func (d *digests) of(ctx context.Context, name string, info fs.FileInfo, w wants) (facts, error) {
	found, j, err := d.lookUp(name, info, w)
	if j == nil {
		return found, err
	}
	select {
	case <-j.done:
	case <-ctx.Done(): // the job goes on: this client or another will come again
		return facts{}, ctx.Err()
	}
	if j.err != nil {
		return facts{}, j.err
	}
	if !os.SameFile(info, j.info) {
		return facts{}, errChanged
	}
	return j.facts, nil
}

// lookUp finds the facts or the job that will bring them.
func (d *digests) lookUp(name string, info fs.FileInfo, w wants) (facts, *job, error) {
	key := jobKey{name, stampOf(info), w}
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.known.get(name)
	if ok && k.stamp == key.stamp && !(k.early && d.isQuiet(k.stamp)) && k.has.cover(w) && (k.info == nil || os.SameFile(k.info, info)) {
		k.info = info
		d.known.put(name, k)
		return k.facts, nil, nil
	}
	if j, ok := d.jobs[key]; ok {
		return facts{}, j, nil
	}
	if d.closed {
		return facts{}, nil, errClosed
	}
	j := &job{done: make(chan struct{})}
	d.jobs[key] = j
	d.wg.Go(func() { d.run(key, j) })
	return facts{}, j, nil
}

// run does j and wakes all that wait for it.
func (d *digests) run(key jobKey, j *job) {
	defer close(j.done)
	j.early = !d.isQuiet(key.stamp)
	j.info, j.facts, j.err = d.hash(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.jobs, key)
	if j.err == nil {
		before, _ := d.known.get(key.name)
		j.twice = before.stamp.Sec == key.stamp.Sec && (before.twice || !before.digest.IsZero() && before.digest != j.digest)
		d.known.put(key.name, known{key.stamp, j.info, j.early, j.facts})
		d.saveSoon()
	}
}

// hash reads a version of a file. It fails with errChanged unless the version is there from beginning to end.
func (d *digests) hash(key jobKey) (fs.FileInfo, facts, error) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-d.ctx.Done():
		return nil, facts{}, errClosed
	}
	f, err := d.root.Open(filepath.FromSlash(key.name))
	if err != nil {
		return nil, facts{}, err
	}
	defer f.Close()
	began := time.Now()
	if !d.isQuiet(key.stamp) {
		_ = f.Sync() // so that a further write through a mapping shows; where that cannot be, a second look does it
	}
	if err := d.settle(f, key.stamp); err != nil {
		return nil, facts{}, err
	}
	found, err := d.measure(f, key)
	if err != nil {
		return nil, facts{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, facts{}, err
	}
	if stampOf(info) != key.stamp {
		return nil, facts{}, errChanged
	}
	d.log.LogAttrs(d.ctx, slog.LevelDebug, "hashed", slog.String("file", printable(key.name)),
		slog.Int64("bytes", key.stamp.Size), slog.Duration("took", time.Since(began)))
	return info, found, nil
}

// settle waits until a change of f would show in its time of change.
func (d *digests) settle(f *os.File, want stamp) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	now := time.Now()
	if wait := max(unsettled(info.ModTime(), now), unsettled(stampOf(info).written(), now)); wait > 0 {
		select {
		case <-time.After(wait):
		case <-d.ctx.Done():
			return errClosed
		}
		if info, err = f.Stat(); err != nil {
			return err
		}
	}
	if stampOf(info) != want {
		return errChanged
	}
	return nil
}

// The clocks of file systems tick: two changes within a tick have the same time. Most tick at least a
// hundred times a second; some know whole or even seconds only.
const (
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// unsettled is how long a file that was changed at changed may still change without showing it.
func unsettled(changed, now time.Time) time.Duration {
	tick := fineTick
	if changed.Nanosecond() == 0 {
		tick = coarseTick
	}
	age := now.Sub(changed)
	if age < -tick || age >= tick { // a time in the future was set by hand: a change would set another
		return 0
	}
	return tick - age
}

// readSize is large enough that the hash is what takes the time.
const readSize = 1 << 20

// sum reads r to its end.
func sum(ctx context.Context, r io.Reader) (verify.Digest, error) {
	h := sha256.New()
	buf := make([]byte, readSize)
	for {
		if ctx.Err() != nil {
			return verify.Digest{}, errClosed
		}
		n, err := r.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			return verify.NewDigest(verify.SHA256, h.Sum(nil))
		}
		if err != nil {
			return verify.Digest{}, err
		}
	}
}
