package search

import (
	"context"
	"sync"
	"time"
)

// Limits of the results that searches share in a run.
const (
	mostFolders = 16
	mostShared  = 8        // lists of one folder
	mostKept    = 16 << 20 // bytes of the parsed lists of all folders; a list of maxList bytes fits
	mostFailed  = 3        // temporary failures of an index or a list until it is given up
	folderAge   = 10 * time.Minute
	emptyAge    = 10 * time.Second // until a folder that has nothing about a file is looked at again
	mostAbsent  = 3                // missing lists named after their files until the folder is assumed to have none
	maxList     = 4 << 20          // bytes of a list
	slowAfter   = 4 * time.Second  // without an answer, until a folder is skipped for other files
)

// Folders caches the contents of folders for all downloads of a run. The zero value is empty.
type Folders struct {
	mu   sync.Mutex
	all  map[string]*folder
	made int
}

// A folder caches the index and the lists of one folder.
type folder struct {
	begun time.Time
	made  int // number of the folder in the order of making
	index once[listing]
	bytes int       // bytes of its lists; guarded by Folders.mu
	slow  time.Time // when a request was given up after slowAfter; zero: never; guarded by Folders.mu
	vain  int       // patient searches, one after another, that took too long; guarded by Folders.mu

	mu     sync.Mutex
	lists  map[string]*once[response]
	signed map[signedList]*once[endorsement]
	misses int
}

// at returns the cached folder, or an empty one if the cached folder is older than age.
func (x *Folders) at(key string, age time.Duration) *folder {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := x.all[key]
	if d != nil && time.Since(d.begun) < age {
		return d
	}
	if x.all == nil {
		x.all = map[string]*folder{}
	}
	if d == nil && len(x.all) >= mostFolders {
		x.dropOldest(nil)
	}
	x.made++
	fresh := &folder{begun: time.Now(), made: x.made, index: newOnce[listing](), lists: map[string]*once[response]{}}
	if d != nil {
		fresh.slow, fresh.vain = d.slow, d.vain // looking at the contents anew makes the server no faster
	}
	d = fresh
	x.all[key] = d
	return d
}

// known returns the cached folder, or nil if no folder is cached or the cached folder is older than age.
func (x *Folders) known(key string, age time.Duration) *folder {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d := x.all[key]; d != nil && time.Since(d.begun) < age {
		return d
	}
	return nil
}

// isSlow reports whether the server was too slow within the last folderAge: for a patient search, mostFailed times.
func (x *Folders) isSlow(d *folder, patient bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !d.slow.IsZero() && time.Since(d.slow) < folderAge && (!patient || d.vain >= mostFailed)
}

// noteSlow records that a request was given up, if it began at least slowAfter ago. The caller adds the time of
// small.Waited to began. vain means that a patient search found nothing in all its time.
func (x *Folders) noteSlow(d *folder, began time.Time, vain bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if time.Since(began) < slowAfter {
		return
	}
	if vain && !began.Before(d.slow) { // searches that run at once count once
		d.vain++
	}
	d.slow = time.Now()
}

// noteAnswered records that a patient search got its answers in time.
func (x *Folders) noteAnswered(d *folder) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d.vain = 0
}

// dropOldest drops the oldest folder other than d.
func (x *Folders) dropOldest(d *folder) {
	oldest := ""
	for key, o := range x.all {
		if o != d && (oldest == "" || o.made < x.all[oldest].made) {
			oldest = key
		}
	}
	delete(x.all, oldest)
}

// keep reports whether d may keep a list of n bytes. It drops the oldest other folders while all lists exceed mostKept.
func (x *Folders) keep(d *folder, n int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d.bytes+n > mostKept {
		return false
	}
	d.bytes += n
	for x.bytes() > mostKept {
		x.dropOldest(d)
	}
	return true
}

func (x *Folders) bytes() (n int) {
	for _, d := range x.all {
		n += d.bytes
	}
	return n
}

// list returns a list of the folder. It is shared with other files, unless the folder already shares mostShared lists.
func (d *folder) list(name string) *once[response] {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lists[name]
	if l == nil {
		fresh := newOnce[response]()
		if l = &fresh; len(d.lists) < mostShared {
			d.lists[name] = l
		}
	}
	return l
}

// note records whether a list that is named after its file could not be fetched. After mostAbsent of these in a row,
// missed reports true, and no more such lists are requested.
func (d *folder) note(missing bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.misses++; !missing {
		d.misses = 0
	}
}

func (d *folder) missed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.misses >= mostAbsent
}

// A once makes a value at the first call of get. Concurrent calls wait.
type once[T any] struct {
	turn   chan struct{} // holds a token while get or peek runs
	value  T
	made   bool
	failed int // for make, which counts failures here
}

func newOnce[T any]() once[T] { return once[T]{turn: make(chan struct{}, 1)} }

// get returns the value. It calls make if there is none yet, and keeps the result if make reports so. If ctx is done
// while get waits, get calls make, which then fails.
func (o *once[T]) get(ctx context.Context, make func() (value T, keep bool)) T {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		value, _ := make()
		return value
	}
	if !o.made {
		value, keep := make()
		if !keep {
			return value
		}
		o.value, o.made = value, true
	}
	return o.value
}

// peek returns the value if it is made already. It does not wait.
func (o *once[T]) peek() (value T, ok bool) {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
		return o.value, o.made
	default:
		return value, false
	}
}
