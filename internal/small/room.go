package small

import (
	"context"
	"sync"
)

const (
	// Free is the size up to which a document needs no place of a Room.
	Free = 64 << 10
	// places is the number of larger documents that may be read and parsed at once.
	places = 4
)

// A Room limits how many large documents are read and parsed at once, however many downloads run.
type Room struct{ taken chan struct{} }

// NewRoom returns a Room with this number of places.
func NewRoom(places int) *Room { return &Room{make(chan struct{}, places)} }

// room is the Room of all downloads of the process.
var room = NewRoom(places)

// Enter returns a context for fetching a document and parsing it. Once more than Free bytes have arrived, the fetch
// waits for a place in the Room of all downloads. The caller calls leave when it has parsed the document. Before that
// it waits for no other one.
func Enter(ctx context.Context) (_ context.Context, leave func()) { return room.Enter(ctx) }

// Enter is like the function Enter, for this Room.
func (r *Room) Enter(ctx context.Context) (_ context.Context, leave func()) {
	g := &guest{room: r}
	return context.WithValue(ctx, guestKey{}, g), g.leave
}

type guestKey struct{}

// A guest is a caller of Enter, which may have a place. All fetches with its context share the place.
type guest struct {
	room *Room
	mu   sync.Mutex
	has  bool
}

// Sit waits for a place for a document of size bytes. It needs none up to Free, or if ctx is not from Enter.
func Sit(ctx context.Context, size int) error {
	g, ok := ctx.Value(guestKey{}).(*guest)
	if !ok || size <= Free {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has {
		return nil
	}
	select {
	case g.room.taken <- struct{}{}:
		g.has = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *guest) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has {
		g.has = false
		<-g.room.taken
	}
}
