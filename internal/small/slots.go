package small

import (
	"context"
	"net/url"
	"sync"
	"time"

	"braid/source"
)

const (
	// Free is the size, in bytes, up to which a document needs no slot.
	Free = 64 << 10
	// mostLarge is the maximum number of larger documents that are read and parsed at once.
	mostLarge = 4
	// pace is the longest time that a fetch with a slot takes for Free bytes.
	pace = 10 * time.Second
)

// Slots limit how many large documents are read and parsed at once, however many downloads run. A server has at most one
// slot, so that slow servers do not take all of them.
type Slots struct {
	most int

	mu     sync.Mutex
	taken  map[string]bool // by host and port
	freed  chan struct{}   // closed when a slot is released; nil: no fetch waits
	kept   int             // number of fetches that wait because other servers have all slots
	since  time.Time       // since when kept is positive
	waited time.Duration   // before since, see Waited
}

// NewSlots returns n slots.
func NewSlots(n int) *Slots { return &Slots{most: n, taken: map[string]bool{}} }

// slots are shared by all downloads of the process.
var slots = NewSlots(mostLarge)

// WithSlot returns a context for fetching the document at u and parsing it. Once more than Free bytes have arrived, the
// fetch waits for a slot. The caller must call release when it has parsed the document, and must not wait for another
// document before that.
func WithSlot(ctx context.Context, u *url.URL) (_ context.Context, release func()) {
	return slots.WithSlot(ctx, u)
}

// WithSlot is like the function WithSlot, for these slots.
func (s *Slots) WithSlot(ctx context.Context, u *url.URL) (_ context.Context, release func()) {
	h := &holder{of: s, server: source.HostPort(u)}
	return context.WithValue(ctx, holderKey{}, h), h.release
}

// Waited returns the time during which a fetch had to wait because other servers had all slots.
func Waited() time.Duration { return slots.Waited() }

// Waited is like the function Waited, for these slots.
func (s *Slots) Waited() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept > 0 {
		return s.waited + time.Since(s.since)
	}
	return s.waited
}

// WithTimeout is like context.WithTimeout. The time that Waited returns does not count.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return slots.WithTimeout(ctx, d)
}

// WithTimeout is like the function WithTimeout, for these slots.
func (s *Slots) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	end := time.Now().Add(d - s.Waited())
	var check func()
	check = func() {
		if rest := time.Until(end.Add(s.Waited())); rest > 0 && ctx.Err() == nil {
			time.AfterFunc(max(rest, time.Second/10), check) // rest stays the same while a fetch waits
			return
		}
		cancel(context.DeadlineExceeded)
	}
	time.AfterFunc(d, check)
	return ctx, func() { cancel(nil) }
}

// isPaced reports whether the fetch of a document with ctx has a slot, or needs one, once size bytes have arrived.
func isPaced(ctx context.Context, size int) bool { return size > Free && ctx.Value(holderKey{}) != nil }

type holderKey struct{}

// A holder has a slot, or none yet. All fetches with its context share the slot.
type holder struct {
	of     *Slots
	server string
	mu     sync.Mutex
	has    bool
}

// TakeSlot waits for a slot for a document of size bytes. It returns nil immediately if size is at most Free, or if ctx
// is not from WithSlot.
func TakeSlot(ctx context.Context, size int) error {
	h, ok := ctx.Value(holderKey{}).(*holder)
	if !ok || size <= Free {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.has {
		if err := h.try(ctx); err != nil {
			return err
		}
	}
	return nil
}

// try takes a slot. If none is free for the server, try waits until a slot is released. The error is the cause of ctx.
func (h *holder) try(ctx context.Context) error {
	s := h.of
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.taken[h.server]
	if !own && len(s.taken) < s.most {
		s.taken[h.server], h.has = true, true
		return nil
	}
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	if !own {
		s.count(1)
		defer s.count(-1)
	}
	freed := s.freed
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// count adds n to kept.
func (s *Slots) count(n int) {
	now := time.Now()
	if s.kept > 0 {
		s.waited += now.Sub(s.since)
	}
	s.kept, s.since = s.kept+n, now
}

func (h *holder) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.has {
		return
	}
	s := h.of
	s.mu.Lock()
	defer s.mu.Unlock()
	h.has = false
	if delete(s.taken, h.server); s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}
