package jetstream

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

const (
	keyBoard = "board"
	// boardAfter is how many records may be read until what they say is stored, and lookAfter how many changes of
	// records there may be until a worker does.
	boardAfter, lookAfter = 500, 2000
	// goneFor is for how long the queue says that a record was removed, to those that follow.
	goneFor = 10 * time.Minute
)

// A board is how the queue stands up to a revision of its records. From there on only what has changed is read, so that
// a status costs the same however many records of what is done there are: those are counted by the server.
type board struct {
	Upto    uint64    `json:"upto"`
	Created time.Time `json:"created"` // of the bucket: another one has other revisions
	// Open are the records that are not done. Gone is when the others were removed, in seconds; 0: another program has
	// stored what is there.
	Open map[string]brief `json:"open,omitempty"`
	Gone map[string]int64 `json:"gone,omitempty"`
	// Highest is the highest format of a newer braid.
	Highest int `json:"highest,omitempty"`

	read int                     // records, since it was stored
	told map[string]int64        // Gone as it was stored: whoever reads that board needs nothing else that says so
	full map[string]fleet.Record // of those that run
	done int
}

// A brief is what a status needs of a record that no worker has.
type brief struct {
	State    fleet.State    `json:"s"`
	Since    time.Time      `json:"t,omitzero"`
	Priority fleet.Priority `json:"p,omitempty"`
}

// readBoard reads the board and what has changed since it was stored.
func readBoard(ctx context.Context, q *Queue) (b board, revision uint64, err error) {
	if b, revision, err = read[board](ctx, q.leases, keyBoard); err != nil {
		if _, newer := errors.AsType[*NewerError](err); !newer && !errors.Is(err, errUnreadable) {
			return b, 0, err
		}
		b, revision = board{}, 0
	}
	b.told = maps.Clone(b.Gone)
	for looks := 0; ; looks++ {
		s, err := q.js.Stream(ctx, "KV_"+q.jobs.Bucket())
		if err != nil {
			return b, 0, err
		}
		now := s.CachedInfo()
		if !b.Created.Equal(now.Created) || b.Upto > now.State.LastSeq {
			b = board{Created: now.Created}
		}
		if b.Open == nil {
			b.Open = map[string]brief{}
		}
		if b.Gone == nil {
			b.Gone = map[string]int64{}
		}
		if b.full == nil {
			b.full = map[string]fleet.Record{}
		}
		b.done = max(0, int(now.State.NumSubjects)-len(b.Open)-len(b.Gone))
		if b.Upto >= now.State.LastSeq || looks == 2 { // in a busy queue it is a little late
			return b, revision, nil
		}
		if err := changed(ctx, q, &b); err != nil {
			return b, 0, err
		}
		b.Upto = max(b.Upto, now.State.LastSeq)
	}
}

// changed reads what has changed since a board.
func changed(ctx context.Context, q *Queue, b *board) error {
	var since []jetstream.WatchOpt
	if b.Upto > 0 {
		since = append(since, jetstream.ResumeFromRevision(b.Upto+1))
	}
	w, err := q.jobs.Watch(ctx, jetstream.AllKeys, since...)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case e, more := <-w.Updates():
			if !more {
				return errors.New("the connection was closed")
			}
			if e == nil {
				return nil
			}
			b.take(e)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take takes an entry that is new.
func (b *board) take(e jetstream.KeyValueEntry) {
	key := e.Key()
	b.Upto = max(b.Upto, e.Revision())
	b.read++
	delete(b.Open, key)
	delete(b.Gone, key)
	delete(b.full, key)
	if e.Operation() != jetstream.KeyValuePut {
		b.Gone[key] = e.Created().Unix()
		return
	}
	var r fleet.Record
	err := decode(e.Value(), &r)
	if newer, ok := errors.AsType[*NewerError](err); ok {
		b.Open[key] = brief{State: fleet.Newer}
		b.Highest = max(b.Highest, newer.Format)
		return
	}
	switch {
	case err != nil || r.State == "":
		b.Gone[key] = 0
	case r.State != fleet.Done:
		b.Open[key] = brief{r.State, r.Since, r.Job.Priority}
	}
	if r.State == fleet.Running {
		b.full[key] = r
	}
}

// storeBoard stores a board for those that look later, in place of the one of a revision. That may fail: then more is
// read the next time.
func storeBoard(ctx context.Context, q *Queue, b *board, revision uint64) {
	data, err := encode(b)
	if err == nil && int64(len(data)) > q.conn.MaxPayload()/2 { // so many are open that they are what a status costs
		return
	}
	if s, err := q.js.Stream(ctx, "KV_"+q.jobs.Bucket()); err == nil {
		forget(ctx, q, s, b)
	}
	data, err = encode(b)
	if err == nil && revision == 0 {
		if _, err = q.leases.Create(ctx, keyBoard, data); errors.Is(err, jetstream.ErrKeyExists) {
			return
		}
	} else if err == nil {
		_, err = q.leases.Update(ctx, keyBoard, data, revision)
	}
	if err != nil {
		q.log.Debug("queue", "board", err)
	}
}

// forget removes what says that records were removed long ago, if the board that is stored says so, too. Else whoever
// reads that one would take them for open for ever, should this process be killed before it stores another one.
func forget(ctx context.Context, q *Queue, s jetstream.Stream, b *board) {
	before := q.now().Add(-goneFor).Unix()
	for key, at := range b.Gone {
		if _, told := b.told[key]; !told || at == 0 || at > before {
			continue
		}
		about := "$KV." + q.jobs.Bucket() + "." + key
		if s.Purge(ctx, jetstream.WithPurgeSubject(about), jetstream.WithPurgeSequence(b.Upto+1)) != nil { // but for one that was made since
			return
		}
		delete(b.Gone, key)
	}
}

// keepBoard stores how the queue stands after many changes, so that whoever looks has few records to read. One of all
// workers does it.
func keepBoard(ctx context.Context, q *Queue) error {
	s, err := q.js.Stream(ctx, "KV_"+q.jobs.Bucket())
	if err != nil || s.CachedInfo().State.LastSeq < q.looked+lookAfter && s.CachedInfo().State.LastSeq >= q.looked {
		return err
	}
	if _, err := change(ctx, q.leases, "look",
		func(l *fleet.Lease) error { return l.Take(q.name, q.now(), min(q.lease, 2*oneCall)) }); err != nil {
		return err
	}
	b, revision, err := readBoard(ctx, q)
	if err != nil {
		return err
	}
	if q.looked = b.Upto; b.read >= boardAfter {
		storeBoard(ctx, q, &b, revision)
	}
	return nil
}
