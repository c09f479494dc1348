package antenna

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A buffer collects changes for the store. Acknowledged updates are written immediately, together with all other
// changes. A change with news, such as a new report, is written within saveWithin. Changes without news, such as the
// time of a poll, are written with the next round (Antenna.Round), so that ten thousand polls cause few syncs. If such
// a change is lost, one more poll is made.
type buffer struct {
	run   *run
	store *Store
	// memory holds the records of relayed feeds if the antenna has no store.
	memory map[string][]byte

	feeds   map[*member]bool
	stored  map[*member][]byte
	targets map[*target]bool
	batch   batch
	// acknowledged reports that an update was acknowledged, so that save must not wait. urgent is when the first
	// unsaved news was noted. lazy is when the first change since the last round was noted.
	acknowledged bool
	urgent, lazy time.Time
	// events are emitted once the changes that they report are stored.
	events []Event
	// news reports that the published state may have changed since the last round.
	news bool
	// expires is when a published record expires, so that the state must be published again without it.
	expires time.Time
}

const saveWithin = 10 * time.Second

func newBuffer(r *run) buffer {
	b := buffer{run: r, store: r.a.Store, memory: map[string][]byte{}}
	b.clear()
	return b
}

func (b *buffer) clear() {
	b.feeds, b.stored, b.targets, b.batch = map[*member]bool{}, map[*member][]byte{}, map[*target]bool{}, batch{}
	b.acknowledged, b.urgent = false, time.Time{}
}

// feed records that the state of m has changed. With news, the change is saved sooner.
func (b *buffer) feed(m *member, news bool, now time.Time) {
	b.feeds[m] = true
	b.note(news, now)
}

// records sets the stored records of m. The state must be published again even if only the time of the poll differs.
func (b *buffer) records(m *member, stored []byte) {
	b.stored[m] = stored
	b.news = true
}

func (b *buffer) target(t *target, now time.Time) {
	b.targets[t] = true
	b.news = true
	b.note(true, now)
}

// gone deletes the state of a target.
func (b *buffer) gone(key string, now time.Time) {
	b.put(bucketTargets, key, nil)
	b.note(true, now)
}

// goneFeed deletes the state of a feed.
func (b *buffer) goneFeed(id string, now time.Time) {
	b.put(bucketFeeds, id, nil)
	b.put(bucketReports, id, nil)
	b.note(true, now)
}

// stamp records the time since which a feed or watch is no longer configured. A nil since removes the record.
func (b *buffer) stamp(name string, since []byte, now time.Time) {
	b.put(bucketGone, name, since)
	b.note(false, now)
}

// put adds a value to the batch. A nil value deletes the key.
func (b *buffer) put(bucket []byte, key string, value []byte) {
	values := b.batch[string(bucket)]
	if values == nil {
		values = map[string][]byte{}
		b.batch[string(bucket)] = values
	}
	values[key] = value
}

func (b *buffer) note(soon bool, now time.Time) {
	if b.lazy.IsZero() {
		b.lazy = now
	}
	if soon && b.urgent.IsZero() {
		b.urgent = now
	}
}

// afterSave emits an event once everything is written.
func (b *buffer) afterSave(e Event) { b.events = append(b.events, e) }

// wake returns the time at which changes must be written or published. ok is false if there are no changes.
func (b *buffer) wake(round time.Duration) (at time.Time, ok bool) {
	switch {
	case !b.urgent.IsZero():
		return b.urgent.Add(min(saveWithin, round)), true
	case !b.lazy.IsZero():
		return b.lazy.Add(round), true
	case !b.expires.IsZero():
		return b.expires, true
	}
	return at, false
}

// expire starts a publication if a published record has expired.
func (b *buffer) expire(now time.Time) {
	if !b.expires.IsZero() && !now.Before(b.expires) {
		b.expires, b.news = time.Time{}, true
		b.note(false, now)
	}
}

// settle saves all changes if an update was acknowledged. It emits the events of afterSave.
func (b *buffer) settle() {
	if b.acknowledged {
		b.save()
	}
	for _, e := range b.events {
		b.run.emit(e)
	}
	b.events = nil
}

// keep saves changes that have waited long enough, and ends a round that has lasted long enough.
func (l *loop) keep(ctx context.Context, now time.Time) {
	l.buffer.expire(now)
	if !l.buffer.urgent.IsZero() && now.Sub(l.buffer.urgent) >= saveWithin {
		l.buffer.save()
	}
	if l.run.round == nil && !l.buffer.lazy.IsZero() && now.Sub(l.buffer.lazy) >= l.run.a.round() {
		l.closeRound(ctx)
	}
}

// save writes all changes in one transaction.
func (b *buffer) save() {
	if b.run.err != nil || len(b.feeds)+len(b.stored)+len(b.targets)+len(b.batch) == 0 {
		return
	}
	for m := range b.feeds {
		b.put(bucketFeeds, m.id, encode(m.saved))
	}
	for m, stored := range b.stored {
		b.put(bucketReports, m.id, stored)
		if b.store == nil && m.feed.Relay {
			b.memory[m.id] = stored
		}
	}
	for t := range b.targets {
		b.put(bucketTargets, targetKey(t), encode(t.saved))
	}
	if err := b.store.write(b.batch); err != nil {
		b.run.fail(fmt.Errorf("store: %w", err))
		b.events = nil // the events report changes that were not stored
	} else if b.store != nil {
		b.store.lost = nil // the restored state is now stored
	}
	b.clear()
}

// encode returns v as JSON. It cannot fail for the types in the store.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// closeRound saves all changes and publishes the state. If a publication is running, the next publication waits.
func (l *loop) closeRound(ctx context.Context) {
	l.buffer.save()
	switch {
	case l.run.err != nil:
		return
	case l.publisher.running:
		l.buffer.lazy = time.Now()
		return
	}
	news := l.buffer.news
	l.buffer.lazy, l.buffer.news = time.Time{}, false
	if news {
		l.publisher.publish(ctx)
	}
}
