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

// errClosed reports that the server was closed.
var errClosed = errors.New("the server is closed")

// digests computes and caches the SHA-256 of files and, on request, their pieces and signatures. It reads each version
// of a file once, regardless of the number of clients.
//
// A stamp identifies a version. If a program writes through a memory mapping, the content changes before the stamp, and
// some file systems never update the stamp. So a file that was hashed soon after a write is hashed again after
// quietTime.
type digests struct {
	root   *os.Root
	folder string // absolute path of root, stored in the cache file
	file   string // cache file; "" for none
	log    *slog.Logger
	ctx    context.Context // context of the hashing; canceled by close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{} // holds a token for each file that is being read
	sum    func(context.Context, io.Reader) (verify.Digest, error)
	signer verify.Signer // nil if files are not signed
	quiet  time.Duration // quietTime, shorter in tests

	mu     sync.Mutex
	closed bool
	known  *recent[string, known] // by path
	jobs   map[jobKey]*job
	dirty  bool // the cache file is out of date
	saving bool // a goroutine is writing the cache file
}

// known is the result for one version of a file. Of stamp and info, only stamp is stored in the cache file. info is nil
// until the file was seen in this run.
type known struct {
	stamp stamp
	info  fs.FileInfo
	early bool // read before the file was quiet
	facts
}

// quietTime is the time after which the system has written the modified pages of a mapping to disk. Linux writes such
// pages within half a minute. Later writes to these pages change the stamp.
const quietTime = time.Minute

// isQuiet reports whether the last write to the file of s was at least quietTime ago.
func (d *digests) isQuiet(s stamp) bool { return time.Since(s.written()) >= d.quiet }

// maxKnown is the approximate memory limit for the results, enough for 100 000 files of 1 GiB. More files are read
// again.
const maxKnown = 256 << 20

// weight returns the approximate memory usage of k.
func (k known) weight() int {
	const own, piece = 1 << 10, 64
	return own + len(k.signature) + piece*k.pieces.Count()
}

// forget drops the pieces and the signature of a file that was removed. The rest shows whether the next file of that
// name has the same date.
func (d *digests) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if k, ok := d.known.get(name); ok {
		d.known.put(name, known{stamp: k.stamp, info: k.info, early: k.early, facts: facts{digest: k.digest, twice: k.twice}})
	}
}

type jobKey struct {
	name  string
	stamp stamp
	wants
}

// job is the hashing of one version of a file. The results may be read after done was closed.
type job struct {
	done chan struct{}
	info fs.FileInfo // of the file that was read
	// early is set if the file was read before it was quiet.
	early bool
	facts
	err error
}

func newDigests(root *os.Root, folder, file string, by verify.Signer, log *slog.Logger) *digests {
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

// close cancels all hashing, and waits for it and for the cache file.
func (d *digests) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.wg.Wait()
}

// of returns the facts about the open file that info describes, including the facts that w selects. The error is
// errChanged if name is another version now.
func (d *digests) of(ctx context.Context, name string, info fs.FileInfo, w wants) (facts, error) {
	found, j, err := d.lookUp(name, info, w)
	if j == nil {
		return found, err
	}
	select {
	case <-j.done:
	case <-ctx.Done(): // the job continues, for a later request
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

// lookUp returns the facts, or the job that computes the facts.
func (d *digests) lookUp(name string, info fs.FileInfo, w wants) (facts, *job, error) {
	key := jobKey{name, stampOf(info), w}
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.known.get(name)
	if ok && k.stamp == key.stamp && !(k.early && d.isQuiet(k.stamp)) && k.has.cover(w) &&
		(k.info == nil || os.SameFile(k.info, info)) {
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

// run executes j and wakes the goroutines that wait for it.
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

// hash reads the version of a file that key identifies. The error is errChanged if the file changed meanwhile.
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
		_ = f.Sync() // makes later writes through a mapping visible; on an error, the file is hashed again later
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

// settle waits until a change of f would change its change time. The error is errChanged if f is not the version want.
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

// The clocks of file systems tick: two changes within a tick have the same time. Most clocks tick at least a hundred
// times a second. Some have a resolution of one or two seconds.
const (
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// unsettled returns for how long from now a file that was changed at changed may change again and keep that time.
func unsettled(changed, now time.Time) time.Duration {
	tick := fineTick
	if changed.Nanosecond() == 0 {
		tick = coarseTick
	}
	age := now.Sub(changed)
	if age < -tick || age >= tick { // a time in the future was set by a program: a change would set another time
		return 0
	}
	return tick - age
}

// readSize is the size of the read buffer. It is large enough that hashing dominates the time.
const readSize = 1 << 20

// sum reads r to its end and returns the digest.
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
