package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A stored is a value of a bucket with its revision. The revision is 0 if the value does not exist.
type stored[T any] struct {
	value    T
	revision uint64
}

// change applies f to the value of key and stores the result. If another process has changed the value in the meantime,
// change calls f again with the new value. A missing value is the zero value. If f returns an error, nothing is stored.
func change[T any](ctx context.Context, bucket jetstream.KeyValue, key string, f func(*T) error) (T, error) {
	now, err := changeFrom(ctx, bucket, key, nil, f)
	return now.value, err
}

// changeFrom is like change, but begins with from, the value that the process knows. If from is nil or outdated,
// changeFrom reads the value.
func changeFrom[T any](ctx context.Context, bucket jetstream.KeyValue, key string, from *stored[T],
	f func(*T) error) (now stored[T], err error) {
	for {
		if from != nil {
			now, from = *from, nil
		} else if now.value, now.revision, err = read[T](ctx, bucket, key); err != nil {
			return now, err
		}
		if err = f(&now.value); err != nil {
			return now, err
		}
		data, err := encode(now.value)
		if err != nil {
			return now, err
		}
		if now.revision == 0 {
			now.revision, err = bucket.Create(ctx, key, data)
		} else {
			now.revision, err = bucket.Update(ctx, key, data, now.revision)
		}
		if !errors.Is(err, jetstream.ErrKeyExists) { // the error for any conflict
			return now, err
		}
		if err := rest(ctx, rand.N(20*time.Millisecond)); err != nil {
			return now, err
		}
	}
}

// read returns the value of key and its revision. The revision is 0 if the value does not exist.
func read[T any](ctx context.Context, bucket jetstream.KeyValue, key string) (value T, revision uint64, err error) {
	e, err := bucket.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return value, 0, nil
	}
	if err != nil {
		return value, 0, err
	}
	if err := decode(e.Value(), &value); err != nil {
		return value, 0, fmt.Errorf("%s %s %w: %w", bucket.Bucket(), key, errUnreadable, err)
	}
	return value, e.Revision(), nil
}

var errUnreadable = errors.New("cannot be read")

// each calls f with each value of keys. It skips values that are unreadable because another program stored them. If a
// newer version of braid has stored values, each also skips these and returns a *NewerError.
func each[T any](ctx context.Context, bucket jetstream.KeyValue, keys string, f func(T)) error {
	w, err := bucket.Watch(ctx, keys, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer w.Stop()
	var passed *NewerError
	for {
		select {
		case e, more := <-w.Updates():
			if !more {
				return errors.New("the connection was closed")
			}
			if e == nil && passed != nil {
				return passed
			}
			if e == nil {
				return nil
			}
			var value T
			err := decode(e.Value(), &value)
			if newer, ok := errors.AsType[*NewerError](err); ok {
				passed = newer.with(passed)
			} else if err == nil {
				f(value)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A sure is a bucket that is read from the leader of a cluster. Other servers may answer without the last change. A worker
// that sees a job as done although the job is queued again would acknowledge its message, and the job would wait forever.
type sure struct {
	jetstream.KeyValue
	stream jetstream.Stream
}

func newSure(ctx context.Context, js jetstream.JetStream, bucket jetstream.KeyValue) (jetstream.KeyValue, error) {
	stream, err := atLeader(ctx, js, bucket)
	if err != nil {
		return nil, err
	}
	return sure{bucket, stream}, nil
}

// atLeader returns the stream of bucket. Reads of the stream are answered by the leader of a cluster.
func atLeader(ctx context.Context, js jetstream.JetStream, bucket jetstream.KeyValue) (jetstream.Stream, error) {
	stream, err := js.Stream(ctx, "KV_"+bucket.Bucket())
	if err == nil {
		stream.CachedInfo().Config.AllowDirect = false
	}
	return stream, err
}

// Get implements jetstream.KeyValue. Only Value and Revision of the entry may be called.
func (b sure) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if strings.ContainsAny(key, "*> ") || key == "" {
		return nil, jetstream.ErrInvalidKey
	}
	m, err := b.stream.GetLastMsgForSubject(ctx, "$KV."+b.Bucket()+"."+key)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.Header.Get("KV-Operation") != "" {
		return nil, jetstream.ErrKeyNotFound
	}
	if err != nil {
		return nil, err
	}
	return entry{value: m.Data, revision: m.Sequence}, nil
}

// An entry has a value and its revision. Other methods of the embedded interface must not be called.
type entry struct {
	jetstream.KeyValueEntry
	value    []byte
	revision uint64
}

func (e entry) Value() []byte    { return e.value }
func (e entry) Revision() uint64 { return e.revision }

// rest waits for the duration d. It returns an error if ctx is done earlier.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answered calls do until it answers in time or ctx is done. An answer is lost if the process that runs the queue's
// server ends and another process takes over.
func answered(ctx context.Context, do func(once context.Context) error) error {
	for {
		once, stop := context.WithTimeout(ctx, oneCall)
		err := do(once)
		stop()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}
