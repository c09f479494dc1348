package small

import (
	"context"
	"sync"
)

const (
	// Free is the size, in bytes, up to which a document needs no slot.
	Free = 64 << 10
	// mostLarge is the maximum number of larger documents that are read and parsed at once.
	mostLarge = 4
)

// Slots limit how many large documents are read and parsed at once, however many downloads run.
type Slots struct{ taken chan struct{} }

// NewSlots returns n slots.
func NewSlots(n int) *Slots { return &Slots{make(chan struct{}, n)} }

// slots are shared by all downloads of the process.
var slots = NewSlots(mostLarge)

// WithSlot returns a context for fetching a document and parsing it. Once more than Free bytes have arrived, the fetch
// waits for a slot. The caller must call release when it has parsed the document, and must not wait for another
// document before that.
func WithSlot(ctx context.Context) (_ context.Context, release func()) { return slots.WithSlot(ctx) }

// WithSlot is like the function WithSlot, for these slots.
func (s *Slots) WithSlot(ctx context.Context) (_ context.Context, release func()) {
	h := &holder{of: s}
	return context.WithValue(ctx, holderKey{}, h), h.release
}

type holderKey struct{}

// A holder has a slot, or none yet. All fetches with its context share the slot.
type holder struct {
	of  *Slots
	mu  sync.Mutex
	has bool
}

// TakeSlot waits for a slot for a document of size bytes. It returns nil at once if size is at most Free, or if ctx is
// not from WithSlot.
func TakeSlot(ctx context.Context, size int) error {
	h, ok := ctx.Value(holderKey{}).(*holder)
	if !ok || size <= Free {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.has {
		return nil
	}
	select {
	case h.of.taken <- struct{}{}:
		h.has = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *holder) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.has {
		h.has = false
		<-h.of.taken
	}
}
