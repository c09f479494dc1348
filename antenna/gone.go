package antenna

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// forgotten is how long the state is kept for a URL of a glob that no feed lists, and for a feed or watch that is no
// longer configured.
const forgotten = 90 * 24 * time.Hour

// loadGone reads the state of feeds that are not configured.
func (l *loader) loadGone(now time.Time) error {
	since, err := l.run.a.Store.all(bucketGone)
	if err != nil {
		return err
	}
	l.gone = since
	feeds, err := l.run.a.Store.all(bucketFeeds)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(feeds)) {
		known := l.loop.polls.byID[id] != nil
		if !known {
			var saved savedFeed
			if err := json.Unmarshal(feeds[id], &saved); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			if err := l.rememberSeen(id, saved.Polled); err != nil {
				return err
			}
		}
		l.configured(bucketFeeds, id, known, now)
	}
	return nil
}

// rememberSeen records which URLs a feed listed at its last poll, because the reports of the feed are no longer used.
func (l *loader) rememberSeen(id string, polled time.Time) error {
	data, err := l.run.a.Store.get(bucketReports, id)
	if err != nil {
		return err
	}
	records, err := restored(data)
	for _, r := range records {
		l.loop.poller.match.all(r, func(w *watcher, url string) { l.noteSeen(urlKey{w, url}, polled) })
	}
	return err
}

// noteSeen records that a feed listed the URL of s at that time.
func (l *loader) noteSeen(s urlKey, at time.Time) {
	if l.lastSeen == nil {
		l.lastSeen = map[urlKey]time.Time{}
	}
	if at.After(l.lastSeen[s]) {
		l.lastSeen[s] = at
	}
}

// configured records whether the feed or watch of a key in the store is configured. If not, its state is kept for 90
// days (forgotten), because the feed or watch may be configured again.
func (l *loader) configured(bucket []byte, key string, is bool, now time.Time) {
	if l.run.offline {
		return
	}
	name := string(bucket) + "\x00" + key
	stamp, stamped := l.gone[name]
	at, err := time.Parse(time.RFC3339, string(stamp))
	switch {
	case is && stamped:
		l.loop.buffer.stamp(name, nil, now)
	case is:
	case !stamped || err != nil || at.After(now):
		l.loop.buffer.stamp(name, []byte(now.UTC().Format(time.RFC3339)), now)
	case now.Sub(at) > forgotten:
		l.remove(bucket, key, now)
	}
}

// remove deletes a key from the store.
func (l *loader) remove(bucket []byte, key string, now time.Time) {
	if string(bucket) == string(bucketFeeds) {
		l.loop.buffer.goneFeed(key, now)
	} else {
		l.loop.buffer.gone(key, now)
	}
	l.loop.buffer.stamp(string(bucket)+"\x00"+key, nil, now)
}

// forgetGone deletes the stored state of a feed or watch with this name that is not configured, or that had another
// URL. found reports whether it deleted any.
func (l *loader) forgetGone(name string, now time.Time) (found bool, err error) {
	feeds, err := l.run.a.Store.all(bucketFeeds)
	if err != nil {
		return false, err
	}
	for _, id := range []string{feedID(name), checkID(name)} {
		if feeds[id] != nil && l.loop.polls.byID[id] == nil {
			l.remove(bucketFeeds, id, now)
			found = true
		}
	}
	targets, err := l.run.a.Store.all(bucketTargets)
	if err != nil {
		return found, err
	}
	known := map[string]bool{}
	for _, t := range l.loop.targets.all {
		known[targetKey(t)] = true
	}
	for key := range targets {
		if strings.HasPrefix(key, name+"\x00") && !known[key] {
			l.remove(bucketTargets, key, now)
			found = true
		}
	}
	return found, nil
}

// far is how far in the future m may be due. A later time was stored with a wrong clock.
func (m *member) far() time.Duration { return max(2*maxRetryAfter, 2*m.feed.bounds().Max) }

// next returns when m is due according to the store. An implausible time is replaced by now.
func (m *member) next(now time.Time) time.Time {
	if next := m.saved.Next; next.Before(now.Add(m.far())) {
		return next
	}
	return now
}

// farthest is how far in the future an update may be due. The longest wait is until the next day.
const farthest = 26 * time.Hour

// inReach replaces the time of an update by now, if it was stored with a wrong clock.
func (p *pending) inReach(now time.Time) {
	if p.At.Sub(now) > farthest {
		p.At = now
	}
}
