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
	// boardAfter is the number of records that a process reads before it stores the board again. lookAfter is the
	// number of changes before a worker does so.
	boardAfter, lookAfter = 500, 2000
	// goneFor is how long followers can find out that a record was removed.
	goneFor = 10 * time.Minute
)

// A board is a summary of all records up to a revision. Only later changes must be read, so a status costs the same
// however many records are done. The server counts the done records.
type board struct {
	Upto    uint64    `json:"upto"`
	Created time.Time `json:"created"` // when the bucket was created; a new bucket has new revisions
	// Open has the records that are not done, by key. Gone has the times when records were removed, by key, in Unix
	// seconds; 0 is the time for a value of another program.
	Open map[string]brief `json:"open,omitempty"`
	Gone map[string]int64 `json:"gone,omitempty"`
	// Highest is the highest format of the values that newer versions of braid have stored, or 0.
	Highest int `json:"highest,omitempty"`

	read int                     // records read since the board was stored
	told map[string]int64        // Gone as in the stored board; its readers know these removals
	full map[string]fleet.Record // the running records
	done int
}

// A brief is the part of a record that a status needs of a job without a worker.
type brief struct {
	State    fleet.State    `json:"s"`
	Since    time.Time      `json:"t,omitzero"`
	Priority fleet.Priority `json:"p,omitempty"`
}

// readBoard reads the stored board and applies later changes. revision is the revision of the stored board.
func readBoard(ctx context.Context, q *Queue) (b board, revision uint64, err error) {
	if b, revision, err = read[board](ctx, q.storage.leases, keyBoard); err != nil {
		if _, newer := errors.AsType[*NewerError](err); !newer && !errors.Is(err, errUnreadable) {
			return b, 0, err
		}
		b, revision = board{}, 0
	}
	b.told = maps.Clone(b.Gone)
	for looks := 0; ; looks++ {
		s, err := q.storage.js.Stream(ctx, "KV_"+q.storage.jobs.Bucket())
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
		if b.Upto >= now.State.LastSeq || looks == 2 { // in a busy queue, later changes may be missing
			return b, revision, nil
		}
		if err := changed(ctx, q, &b); err != nil {
			return b, 0, err
		}
		b.Upto = max(b.Upto, now.State.LastSeq)
	}
}

// changed applies to b the changes of records after the revision b.Upto.
func changed(ctx context.Context, q *Queue, b *board) error {
	var since []jetstream.WatchOpt
	if b.Upto > 0 {
		since = append(since, jetstream.ResumeFromRevision(b.Upto+1))
	}
	w, err := q.storage.jobs.Watch(ctx, jetstream.AllKeys, since...)
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

// take applies e, a changed entry, to b.
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

// storeBoard stores b in place of the board with the given revision. If that fails, the next reader must read more records.
func storeBoard(ctx context.Context, q *Queue, b *board, revision uint64) {
	data, err := encode(b)
	if err == nil && int64(len(data)) > q.storage.conn.MaxPayload()/2 { // too many open records: the board would save little
		return
	}
	if s, err := q.storage.js.Stream(ctx, "KV_"+q.storage.jobs.Bucket()); err == nil {
		forget(ctx, q, s, b)
	}
	data, err = encode(b)
	if err == nil && revision == 0 {
		if _, err = q.storage.leases.Create(ctx, keyBoard, data); errors.Is(err, jetstream.ErrKeyExists) {
			return
		}
	} else if err == nil {
		_, err = q.storage.leases.Update(ctx, keyBoard, data, revision)
	}
	if err != nil {
		q.log.Debug("queue", "board", err)
	}
}

// forget purges the deletion markers of records that were removed more than goneFor ago. It purges only markers that
// are in the stored board: if this process were killed before it stores b, readers of the stored board would otherwise
// count such a record as open.
func forget(ctx context.Context, q *Queue, s jetstream.Stream, b *board) {
	before := q.clock.now().Add(-goneFor).Unix()
	for key, at := range b.Gone {
		if _, told := b.told[key]; !told || at == 0 || at > before {
			continue
		}
		about := "$KV." + q.storage.jobs.Bucket() + "." + key
		// WithPurgeSequence spares a record that was stored after b.Upto.
		if s.Purge(ctx, jetstream.WithPurgeSubject(about), jetstream.WithPurgeSequence(b.Upto+1)) != nil {
			return
		}
		delete(b.Gone, key)
	}
}
