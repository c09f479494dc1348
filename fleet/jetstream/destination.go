package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

const keyDestination = "destination"

// A Destination is where the workers of a queue place their files.
type Destination struct {
	ID       string `json:"id"`
	Endpoint string `json:"endpoint,omitempty"` // of the object store; empty for a folder, and for a worker of an older version
	Name     string `json:"name"`               // a path or URL, as configured at the worker that stored it
}

func (d *Destination) String() string {
	if d.Endpoint == "" {
		return d.Name
	}
	return d.Name + " at " + d.Endpoint
}

// is reports whether d may be the destination with this ID and endpoint. An empty endpoint is unknown and matches any other.
func (d *Destination) is(id, endpoint string) bool {
	return d.ID == id && (d.Endpoint == endpoint || d.Endpoint == "" || endpoint == "")
}

// A DestinationError reports that a running worker of the queue places files elsewhere.
type DestinationError struct{ Worker, Name string }

func (e *DestinationError) Error() string {
	return fmt.Sprintf("the worker %s of this queue places files elsewhere, in %s", e.Worker, e.Name)
}

var errElsewhere = errors.New("another destination")

// PlaceAt stores where this worker places files. It is called before the worker takes a job. The error is a
// *DestinationError if a running worker places files elsewhere.
func (q *Queue) PlaceAt(ctx context.Context, d Destination) error {
	q.destination.Store(&d)
	ctx, stop := context.WithTimeout(ctx, openTime)
	defer stop()
	return answered(ctx, func(once context.Context) error { return placeAt(once, q, d) })
}

// placeAt makes one attempt at PlaceAt.
func placeAt(ctx context.Context, q *Queue, d Destination) error {
	set := func(is func(old *Destination) error) (Destination, error) {
		return change(ctx, q.storage.leases, keyDestination, func(old *Destination) error {
			err := is(old)
			if err == nil {
				*old = d
			}
			return err
		})
	}
	old, err := set(func(old *Destination) error {
		switch {
		case old.ID == "", old.is(d.ID, d.Endpoint) && old.Endpoint == "" && d.Endpoint != "":
			return nil
		case old.is(d.ID, d.Endpoint):
			return errSame
		}
		return errElsewhere
	})
	switch {
	case err == errSame:
		return nil
	case err != errElsewhere:
		return err
	}
	workers, err := q.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		if w.Name != q.name && w.Place != "" && !d.is(w.Place, w.Endpoint) {
			return &DestinationError{w.Name, old.String()}
		}
	}
	q.log.Warn("queue", "files are now placed in", d.String(), "before", old.String())
	_, err = set(func(*Destination) error { return nil })
	return err
}

// Gone returns those of keys that have no record. The value is true if the queue still knows that the record was
// removed; it forgets removals after some time.
func (q *Queue) Gone(ctx context.Context, keys []string) (map[string]bool, error) {
	gone := map[string]bool{}
	if len(keys) == 0 {
		return gone, nil
	}
	// Only the leader is sure to know that a dropped job was reported again.
	s, err := atLeader(ctx, q.storage.js, q.storage.jobs)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		m, err := s.GetLastMsgForSubject(ctx, "$KV."+q.storage.jobs.Bucket()+"."+key)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			gone[key] = false
		case err != nil:
			return nil, err
		case m.Header.Get("KV-Operation") != "":
			gone[key] = true
		}
	}
	return gone, nil
}
