package small

import (
	"context"
	"sync"
)

const (
	// Free is how many bytes of a document need no place of a Room.
	Free = 64 << 10
	// places is how many larger documents may be read and parsed at once.
	places = 4
)

// A Room limits how many large documents are read and parsed at once, however many downloads run.
type Room struct{ taken chan struct{} }

// NewRoom returns a room with so many places.
func NewRoom(places int) *Room { return &Room{make(chan struct{}, places)} }

// room is that of all downloads of the process.
var room = NewRoom(places)

// Enter returns a context for the fetch of a document and its parsing, which waits for a place in the room of all
// downloads once more than Free bytes have come. The caller calls leave when it has parsed the document, and waits for no
// other document before.
func Enter(ctx context.Context) (_ context.Context, leave func()) { return room.Enter(ctx) }

// Enter is like the function Enter, for this room.
func (r *Room) Enter(ctx context.Context) (_ context.Context, leave func()) {
	g := &guest{room: r}
	return context.WithValue(ctx, guestKey{}, g), g.leave
}

type guestKey struct{}

// A guest may have a place. Several fetches, one after another, share it.
type guest struct {
	room *Room
	mu   sync.Mutex
	has  bool
}

// Sit waits for a place for a document of size bytes, unless that is no more than Free or ctx is not from Enter.
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
