package antenna

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/antenna/lirs"
	"braid/internal/fsys"
)

// A publisher publishes the state, one publication at a time.
type publisher struct {
	run     *run
	buffer  *buffer
	poller  *poller
	polls   *polls
	targets *targets
	running bool
}

// publish writes the cache in LIRS format and calls Publish in a worker. Both get copies of the state.
func (l *publisher) publish(ctx context.Context) {
	now := time.Now()
	cache, path := l.cached(), l.buffer.store.cachePath()
	own := l.observations()
	var from []*Feed
	load := l.relayed()
	for _, m := range l.polls.members {
		if m.feed.Relay {
			from = append(from, &m.feed)
		}
	}
	s := feed.Snapshot{Agent: l.poller.agent, AgentURL: l.poller.agentURL, Now: now}
	l.running = true
	l.buffer.expires = time.Time{}
	l.run.wg.Go(func() {
		var e Published
		var expires time.Time
		err := writeCache(l.run.a.files, path, cache)
		if l.run.a.Publish != nil {
			e, expires = l.run.a.publishOne(ctx, s, own, from, load)
		}
		e.Err = errors.Join(err, e.Err)
		l.run.inbox <- func(l *loop, now time.Time) {
			l.publisher.running = false
			l.buffer.expires = expires
			if l.run.a.Publish != nil || e.Err != nil {
				l.publisher.published(e)
			}
		}
	})
}

func (l *publisher) published(e Published) {
	l.run.emit(e)
	if e.Err != nil && l.run.round != nil {
		l.run.round.errs = append(l.run.round.errs, &PublishError{e.Err})
	}
}

// publishOne calls Publish with all records. expires is when the first of the trusted records expires.
func (a *Antenna) publishOne(ctx context.Context, s feed.Snapshot, own []feed.Known, from []*Feed,
	load func(id string) ([]byte, error)) (e Published, expires time.Time) {
	start := time.Now()
	s.Records = own
	var errs []error
	for _, f := range from {
		records, err := relays(f, load)
		errs = append(errs, err)
		s.Records = append(s.Records, records...)
	}
	errs = append(errs, a.Publish(ctx, s))
	return Published{Records: len(s.Records), Took: time.Since(start), Err: errors.Join(errs...)}, expiry(&s)
}

// expiry returns when the first of the trusted records expires, or the zero time if none does.
func expiry(s *feed.Snapshot) (first time.Time) {
	now := feed.At(s.Now)
	for i := range s.Records {
		k := &s.Records[i]
		until, ends := k.GoodUntil(now)
		if !k.Trusted || !ends || until < now {
			continue
		}
		if at := until.UTC().Add(time.Second); first.IsZero() || at.Before(first) { // the record is still valid in that second
			first = at
		}
	}
	return first
}

// relays returns the records of a feed that are kept for publication.
func relays(f *Feed, load func(id string) ([]byte, error)) ([]feed.Known, error) {
	stored, err := load(feedID(f.Name))
	if err != nil {
		return nil, err
	}
	records, err := restored(stored)
	list := make([]feed.Known, len(records))
	for i, r := range records {
		list[i] = feed.Known{Record: r, Feed: f.Name, Trusted: f.trusts(r)}
	}
	return list, err
}

// trusts reports whether the agent of a record is trusted. The gatherer of a SOIF record is compared as a host name,
// because it has no URL.
func (f *Feed) trusts(r feed.Record) bool {
	key := feed.Key
	if r.Format == feed.LIRS {
		key = feed.FoldedKey
	}
	agent, ok := key(r.AgentURL)
	return slices.ContainsFunc(f.Trust, func(trusted string) bool {
		if k, is := key(trusted); ok && is {
			return k == agent
		}
		return r.AgentURL != "" && strings.EqualFold(trusted, r.AgentURL)
	})
}

// observations returns the latest observation of each watched URL, made by a check of the URL or by the handler. An
// observation may be a failure to reach the URL.
func (l *publisher) observations() []feed.Known {
	var list []feed.Known
	var seen []time.Time
	places := map[string]int{}
	add := func(k feed.Known, at time.Time) {
		if !isPublic(k.URL) {
			return
		}
		i, known := places[k.URL]
		switch {
		case !known:
			places[k.URL] = len(list)
			list, seen = append(list, k), append(seen, at)
		case seen[i].Before(at):
			describe(&k.Record, &list[i].Record)
			list[i], seen[i] = k, at
		default:
			describe(&list[i].Record, &k.Record)
		}
	}
	for _, m := range l.polls.members {
		if r := m.saved.Seen.Record; m.feed.Kind == Page && !m.saved.Polled.IsZero() {
			if m.saved.Failed {
				r = feed.Record{Failed: true, Title: r.Title, Author: r.Author, Zone: r.Zone}
			}
			r.URL = m.feed.URL
			add(feed.Known{Record: r, Own: true, TimeDetected: m.saved.Seen.TimeDetected}, m.saved.Polled)
		}
	}
	for _, t := range l.targets.ordered() {
		if k, ok := l.downloaded(t); ok {
			add(k, t.saved.Last.At)
		}
	}
	return list
}

// describe copies the content type and the server from other to r if both are of the same version. Only checks receive
// these values, updates do not.
func describe(r, other *feed.Record) {
	if r.LastModified == other.LastModified && r.Size == other.Size {
		r.ContentType, r.Server = cmp.Or(r.ContentType, other.ContentType), cmp.Or(r.Server, other.Server)
	}
}

// downloaded returns what the last update of t observed. ok is false before the first update.
func (l *publisher) downloaded(t *target) (k feed.Known, ok bool) {
	o := &t.saved.Last
	if o.At.IsZero() {
		return k, false
	}
	at := feed.At(o.At)
	k = feed.Known{Own: true, Record: feed.Record{
		URL: t.url, Title: t.w.Title, Author: t.w.Author, Zone: t.w.Zone, LastModified: feed.At(o.LastModified), Size: o.Size,
		Detected: at, Date: at, Agent: l.poller.agent, AgentURL: l.poller.agentURL, Method: []string{http.MethodGet},
		Result: "200",
	}}
	if !o.LastModified.IsZero() {
		k.TimeDetected = at
	}
	return k, true
}

// isPublic reports whether a URL may be published. User information and queries may be secret.
func isPublic(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.User == nil && u.RawQuery == "" && !u.ForceQuery
}

const (
	// copyField is the index of the extension field of the cache that records that a file was downloaded. Other agents
	// use only lower indexes.
	copyField = 5
	haveCopy  = "have-copy"
)

// cached returns the records of the cache, from which a lost store can be restored.
func (l *publisher) cached() []feed.Record {
	var list []feed.Record
	for _, t := range l.targets.ordered() {
		b, ok := t.saved.baseline()
		if !isPublic(t.url) || !ok && !t.saved.State.HaveCopy {
			continue
		}
		r := feed.Record{Format: feed.LIRS, URL: t.url, Title: t.w.Title, Author: t.w.Author, Zone: t.w.Zone,
			LastModified: b.LastModified, Detected: b.Detected, Size: b.Size}
		if t.saved.State.HaveCopy {
			r.Fields = make([]feed.Field, copyField+1)
			r.Fields[copyField].Value = haveCopy
		}
		list = append(list, r)
	}
	return list
}

// baseline returns the Baseline of the URL itself, not of another URL that a record described instead.
func (s *savedTarget) baseline() (b feed.Baseline, ok bool) {
	i := slices.IndexFunc(s.State.Baselines, func(b feed.Baseline) bool { return b.Virtual == "" })
	if i < 0 {
		return b, false
	}
	return s.State.Baselines[i], true
}

func writeCache(files fsys.FS, path string, list []feed.Record) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := lirs.Encode(&b, slices.Values(list)); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	return fsys.WriteFile(files, path, b.Bytes(), 0o600)
}

// relayed returns a function that reads the records of a relayed feed by its id. Any goroutine may call it.
func (l *publisher) relayed() func(id string) ([]byte, error) {
	if s := l.run.a.Store; s != nil {
		return func(id string) ([]byte, error) { return s.get(bucketReports, id) }
	}
	memory := maps.Clone(l.buffer.memory)
	return func(id string) ([]byte, error) { return memory[id], nil }
}
