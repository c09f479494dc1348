package antenna

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// forgotten is how long a URL of a glob is remembered that no feed has, and a feed or a watch that is no longer configured.
const forgotten = 90 * 24 * time.Hour

// loadGone finds what is known of feeds that are not configured.
func (l *loader) loadGone(now time.Time) error {
	since, err := l.a.Store.all(bucketGone)
	if err != nil {
		return err
	}
	l.gone = since
	feeds, err := l.a.Store.all(bucketFeeds)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(feeds)) {
		known := l.polls.byID[id] != nil
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

// rememberSeen notes that a feed, of which no report counts any more, had certain URLs when it was asked last.
func (l *loader) rememberSeen(id string, polled time.Time) error {
	data, err := l.a.Store.get(bucketReports, id)
	if err != nil {
		return err
	}
	records, err := restored(data)
	for _, r := range records {
		l.poller.match.all(r, func(w *watcher, url string) { l.noteSeen(urlKey{w, url}, polled) })
	}
	return err
}

// noteSeen notes that a feed had the URL of s at that time.
func (l *loader) noteSeen(s urlKey, at time.Time) {
	if l.lastSeen == nil {
		l.lastSeen = map[urlKey]time.Time{}
	}
	if at.After(l.lastSeen[s]) {
		l.lastSeen[s] = at
	}
}

// configured notes whether what the store has under a key is of a feed or a watch that there is. What is of none is
// kept for a while: a line of the configuration may come back.
func (l *loader) configured(bucket []byte, key string, is bool, now time.Time) {
	if l.offline {
		return
	}
	name := string(bucket) + "\x00" + key
	stamp, stamped := l.gone[name]
	at, err := time.Parse(time.RFC3339, string(stamp))
	switch {
	case is && stamped:
		l.buffer.stamp(name, nil, now)
	case is:
	case !stamped || err != nil || at.After(now):
		l.buffer.stamp(name, []byte(now.UTC().Format(time.RFC3339)), now)
	case now.Sub(at) > forgotten:
		l.remove(bucket, key, now)
	}
}

// remove takes a key out of the store.
func (l *loader) remove(bucket []byte, key string, now time.Time) {
	if string(bucket) == string(bucketFeeds) {
		l.buffer.goneFeed(key, now)
	} else {
		l.buffer.gone(key, now)
	}
	l.buffer.stamp(string(bucket)+"\x00"+key, nil, now)
}

// forgetGone forgets what the store has of a feed or a watch of that name that is not configured, or was for another
// URL. It reports whether there was anything.
func (l *loader) forgetGone(name string, now time.Time) (found bool, err error) {
	feeds, err := l.a.Store.all(bucketFeeds)
	if err != nil {
		return false, err
	}
	for _, id := range []string{feedID(name), checkID(name)} {
		if feeds[id] != nil && l.polls.byID[id] == nil {
			l.remove(bucketFeeds, id, now)
			found = true
		}
	}
	targets, err := l.a.Store.all(bucketTargets)
	if err != nil {
		return found, err
	}
	known := map[string]bool{}
	for _, t := range l.targets.all {
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

// far is how far in the future something may be due: what is further was written by a clock that was wrong.
func (m *member) far() time.Duration { return max(2*maxRetryAfter, 2*m.feed.bounds().Max) }

// next is when m is to be asked by what the store knows; a time that has passed is now.
func (m *member) next(now time.Time) time.Time {
	if next := m.saved.Next; next.Before(now.Add(m.far())) {
		return next
	}
	return now
}

// farthest is how far in the future an update may be due: none waits longer than for another day.
const farthest = 26 * time.Hour

// inReach corrects the time of an update that a clock wrote that was wrong.
func (p *pending) inReach(now time.Time) {
	if p.At.Sub(now) > farthest {
		p.At = now
	}
}
