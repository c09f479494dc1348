package antenna

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A buffer is what is to be written to the store. What is acknowledged is written at once, with everything else that
// waits; news within saveWithin; what is only newer (a poll that brought nothing) with the next round. Losing the
// latter costs a poll, so that ten thousand polls without news are not ten thousand times fsync.
type buffer struct {
	store *Store
	// memory has the records of feeds that are relayed if there is no store.
	memory map[string][]byte

	feeds   map[*member]bool
	stored  map[*member][]byte
	targets map[*target]bool
	batch   batch
	// acknowledged: now. urgent and lazy are since when something waits.
	acknowledged bool
	urgent, lazy time.Time
	// events are told when what they say is stored.
	events []Event
	// news: what is published may be another since the last round.
	news bool
	// expires is when something that is published stops being good; it is taken out then, without any news.
	expires time.Time
}

const saveWithin = 10 * time.Second

func newBuffer(store *Store) buffer {
	b := buffer{store: store, memory: map[string][]byte{}}
	b.clear()
	return b
}

func (b *buffer) clear() {
	b.feeds, b.stored, b.targets, b.batch = map[*member]bool{}, map[*member][]byte{}, map[*target]bool{}, batch{}
	b.acknowledged, b.urgent = false, time.Time{}
}

// feed notes that m is to be written, soon if there is news.
func (b *buffer) feed(m *member, news bool, now time.Time) {
	b.feeds[m] = true
	b.note(news, now)
}

// records notes what is kept of m now. A later look at the same is worth publishing, too.
func (b *buffer) records(m *member, stored []byte) {
	b.stored[m] = stored
	b.news = true
}

func (b *buffer) target(t *target, now time.Time) {
	b.targets[t] = true
	b.news = true
	b.note(true, now)
}

// gone notes that what is known of a target is to be removed.
func (b *buffer) gone(key string, now time.Time) {
	b.put(bucketTargets, key, nil)
	b.note(true, now)
}

// goneFeed notes that what is known of a feed is to be removed.
func (b *buffer) goneFeed(id string, now time.Time) {
	b.put(bucketFeeds, id, nil)
	b.put(bucketReports, id, nil)
	b.note(true, now)
}

// stamp notes since when something is no longer configured; nil: it is.
func (b *buffer) stamp(name string, since []byte, now time.Time) {
	b.put(bucketGone, name, since)
	b.note(false, now)
}

// put has a value written; nil removes it.
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

// afterSave has an event emitted when everything is written.
func (b *buffer) afterSave(e Event) { b.events = append(b.events, e) }

// wake is when something is to be written.
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

// expire has something to be written when what is published stops being good.
func (b *buffer) expire(now time.Time) {
	if !b.expires.IsZero() && !now.Before(b.expires) {
		b.expires, b.news = time.Time{}, true
		b.note(false, now)
	}
}

// settle writes at once if something was acknowledged, and tells what had to wait for that.
func (l *loop) settle() {
	if l.buffer.acknowledged {
		l.save()
	}
	for _, e := range l.buffer.events {
		l.emit(e)
	}
	l.buffer.events = nil
}

// keep writes what has waited long enough, and ends a round that has lasted long enough.
func (l *loop) keep(ctx context.Context, now time.Time) {
	l.buffer.expire(now)
	if !l.buffer.urgent.IsZero() && now.Sub(l.buffer.urgent) >= saveWithin {
		l.save()
	}
	if l.round == nil && !l.buffer.lazy.IsZero() && now.Sub(l.buffer.lazy) >= l.a.round() {
		l.closeRound(ctx)
	}
}

// save writes everything that waits, whole or not at all.
func (l *loop) save() {
	b := &l.buffer
	if l.err != nil || len(b.feeds)+len(b.stored)+len(b.targets)+len(b.batch) == 0 {
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
		l.fail(fmt.Errorf("store: %w", err))
		b.events = nil // they are not true
	} else if b.store != nil {
		b.store.lost = nil // what could be restored is in it
	}
	b.clear()
}

// encode cannot fail: there is nothing in what is stored that JSON has no word for.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// closeRound writes everything, and has it published. While a publication runs the next one waits.
func (l *loop) closeRound(ctx context.Context) {
	l.save()
	switch {
	case l.err != nil:
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
