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
	// boardAfter is the number of records after which a process that reads the board stores it again. lookAfter is the
	// number of changes after which a worker stores it.
	boardAfter, lookAfter = 500, 2000
	// goneFor is how long followers can learn that a record was removed.
	goneFor = 10 * time.Minute
)

// A board is a summary of the records up to a revision. Only later changes are read, so the cost of a status does not
// depend on the number of done records, which the server counts.
type board struct {
	Upto    uint64    `json:"upto"`
	Created time.Time `json:"created"` // of the bucket: a new one has new revisions
	// Open has the records that are not done, by key. Gone has the times at which records were removed, in Unix
	// seconds; 0 stands for a value of another program.
	Open map[string]brief `json:"open,omitempty"`
	Gone map[string]int64 `json:"gone,omitempty"`
	// Highest is the highest format among the values of newer versions of braid, or 0.
	Highest int `json:"highest,omitempty"`

	read int                     // records read since the board was stored
	told map[string]int64        // Gone as stored: readers of the stored board know these removals
	full map[string]fleet.Record // the running records
	done int
}

// A brief is the part of a record without a worker that a status needs.
type brief struct {
	State    fleet.State    `json:"s"`
	Since    time.Time      `json:"t,omitzero"`
	Priority fleet.Priority `json:"p,omitempty"`
}

// readBoard reads the stored board and the later changes.
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
		if b.Upto >= now.State.LastSeq || looks == 2 { // in a busy queue the board may lag a little
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

// take applies a changed entry.
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

// storeBoard replaces the stored board of the given revision. It may fail: the next reader then reads more records.
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

// forget purges the deletion markers of records that were removed more than goneFor ago, if the stored board lists
// them. Otherwise, if this process were killed before it stores b, readers of the stored board would count the record
// as open.
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
