package antenna

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/antenna/lirs"
	"braid/internal/fsys"
)

// A loader reads the state from the store when a loop begins.
type loader struct {
	run  *run
	loop *loop
	// gone maps bucket and key to the time since which a feed or watch is not configured. lastSeen maps a URL to the
	// time of the last poll that listed the URL.
	gone     map[string][]byte
	lastSeen map[urlKey]time.Time
}

func newLoader(l *loop) *loader { return &loader{run: &l.run, loop: l} }

// start reads the state, and schedules polls and updates.
func (l *loader) start(now time.Time) error {
	prints := l.prints()
	for _, m := range l.loop.polls.members {
		if err := l.load(m, prints(m), now); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if err := l.loadGone(now); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	restored, err := l.loadTargets(now)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if s := l.run.a.Store; s != nil && s.lost != nil {
		l.run.emit(StoreLost{Why: l.run.text(s.lost), Aside: s.db.Aside, Restored: restored})
	}
	if l.run.a.Publish != nil && !l.run.offline { // published records may have expired or come from another configuration
		l.loop.buffer.news = true
		l.loop.buffer.note(false, now)
	}
	if !l.run.offline {
		l.review(now)
	}
	if l.run.round != nil {
		return l.call(now)
	}
	l.schedule(now)
	return nil
}

// review decides again about the stored reports. When they arrived, an update may have been running, or their times may
// have been in the future. In a round with names, only reports of the named feeds and watches are reviewed.
func (l *loader) review(now time.Time) {
	meant := func(*target) bool { return true }
	if l.run.round != nil && len(l.run.round.names) > 0 {
		named := map[*target]bool{}
		for _, name := range l.run.round.names {
			members, targets := l.loop.named(name)
			for _, t := range targets {
				named[t] = true
			}
			if m := l.loop.polls.byID[feedID(name)]; m != nil && slices.Contains(members, m) {
				maps.Copy(named, m.targets)
			}
		}
		meant = func(t *target) bool { return named[t] }
	}
	for _, t := range l.loop.targets.ordered() {
		if len(t.reports) > 0 && meant(t) {
			l.loop.targets.decide(t, now)
		}
	}
	l.loop.follow.review(now)
}

// wanted adds the updates that Antenna.Wants demands because the configuration has changed.
func (l *loader) wanted(now time.Time) {
	if l.run.a.Wants == nil || l.run.offline {
		return
	}
	for _, t := range l.loop.targets.ordered() {
		if t.w.glob != nil || t.saved.Pending != nil || t.saved.Last.At.IsZero() || !t.isSteady() {
			continue
		}
		p := t.askedFor(now)
		p.Words = "the configuration of the watch has changed"
		if l.run.a.Wants(l.loop.targets.update(t, p, nil)) {
			l.loop.targets.await(t, p, now)
		}
	}
}

// schedule schedules polls and updates for Antenna.Watch. The polls of overdue and new members are spread over time.
func (l *loader) schedule(now time.Time) {
	var overdue []*member
	for _, m := range l.loop.polls.members {
		if next := m.next(now); next.After(now) {
			l.loop.polls.due.put(m, next)
		} else {
			overdue = append(overdue, m)
		}
	}
	for i, m := range overdue {
		l.loop.polls.due.put(m, now.Add(spread(i, len(overdue), m.feed.bounds().First)))
	}
	for _, t := range l.loop.targets.all {
		if t.saved.Pending != nil {
			l.loop.targets.queue(t, now)
		}
	}
	l.wanted(now)
}

// call schedules the polls and updates of a round. A feed that will be due within a quarter of its interval is treated
// as due, because cron runs at fixed times.
func (l *loader) call(now time.Time) error {
	if len(l.run.round.names) == 0 {
		for _, m := range l.loop.polls.members {
			if !m.next(now).After(now.Add(m.saved.Interval / 4)) {
				l.loop.polls.due.put(m, now)
			}
		}
		for _, t := range l.loop.targets.all {
			if t.saved.Pending != nil {
				l.loop.targets.queue(t, now)
			}
		}
		l.wanted(now)
	}
	for _, name := range l.run.round.names {
		if err := l.loop.runNow(name, now); err != nil {
			return err
		}
	}
	return nil
}

// load reads the state of m. If the configuration of the feed or of its watches has changed, it discards the saved
// validators, so that the next poll has no preconditions.
func (l *loader) load(m *member, fingerprint string, now time.Time) error {
	data, err := l.run.a.Store.get(bucketFeeds, m.id)
	if err != nil || data == nil {
		m.saved.Print, m.saved.Asked = fingerprint, m.asked()
		return err
	}
	if err := json.Unmarshal(data, &m.saved); err != nil {
		return fmt.Errorf("%s: %w", m.id, err)
	}
	if asked := m.asked(); m.saved.Asked != asked { // poll immediately
		m.saved.Asked, m.saved.Next, m.anew = asked, time.Time{}, true
	}
	if m.saved.Print != fingerprint {
		if err := l.rememberSeen(m.id, m.saved.Polled); err != nil {
			return err
		}
		m.saved = savedFeed{Print: fingerprint, Asked: m.saved.Asked, Day: m.saved.Day}
		m.anew = true
		return nil
	}
	data, err = l.run.a.Store.get(bucketReports, m.id)
	if err != nil {
		return err
	}
	records, err := restored(data)
	if err != nil {
		return fmt.Errorf("%s: %w", m.id, err)
	}
	l.recall(m, records, now)
	for t := range m.targets {
		l.noteSeen(urlKey{t.w, t.url}, m.saved.Polled)
	}
	return nil
}

// recall restores the reports of m from records. A member with Kind Page uses its stored observation instead.
func (l *loader) recall(m *member, records []feed.Record, now time.Time) {
	c := newCollector(&m.feed, l.loop.poller.match, feed.At(now))
	for _, r := range records {
		c.add(r)
	}
	c.settle()
	if m.feed.Kind == Page && m.saved.Seen.Record.Detected != 0 {
		c.matches = l.loop.poller.matchesOf(&m.feed, m.page, m.saved.Seen.report())
	}
	l.loop.follow.recall(m, c.matches)
	for _, h := range c.matches {
		if h.w.follow != nil {
			continue
		}
		if t := l.loop.targets.target(urlKey{h.w, h.url}, m); t != nil {
			t.reports[m] = append(t.reports[m], h.record)
			m.targets[t] = true
		}
	}
}

// prints returns a function that returns a fingerprint of the configuration of m's feed and of its watches.
func (l *loader) prints() func(m *member) string {
	common, own := sha256.New(), map[string][]string{}
	for _, w := range l.loop.targets.watches {
		line := w.line()
		if w.feeds == nil {
			io.WriteString(common, line)
		}
		for name := range w.feeds {
			own[name] = append(own[name], line)
		}
	}
	sum := common.Sum(nil)
	return func(m *member) string {
		f, h := &m.feed, sha256.New()
		fmt.Fprintf(h, "%q %v %v %v %v %+v\n", f.URL, f.Local, f.Kind, f.Relay, f.HatenaTimes, f.Limits)
		if m.page == nil {
			fmt.Fprintf(h, "%x %q\n", sum, own[f.Name])
		}
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
}

// asked returns a fingerprint of the intervals and the secret parts of m's configuration. Only 16 bits depend on the
// secrets, just enough to detect a change.
func (m *member) asked() string {
	f, h, secret := &m.feed, sha256.New(), sha256.New()
	fmt.Fprintf(h, "%v %v %v\n", f.Every, f.Min, f.Max)
	if m.page != nil {
		fmt.Fprintf(h, "%s\n", m.page.Print)
	}
	fmt.Fprintf(secret, "%v %v%s\n", f.URL, f.Header, f.Token)
	return fmt.Sprintf("%.8x-%.2x", h.Sum(nil), secret.Sum(nil))
}

// loadTargets reads the state of watched URLs. If the store was lost, it restores the state from the cache. restored is
// the number of URLs restored.
func (l *loader) loadTargets(now time.Time) (restored int, err error) {
	saved, err := l.run.a.Store.all(bucketTargets)
	if err != nil {
		return 0, err
	}
	byName := map[string]*watcher{}
	for _, w := range l.loop.targets.watches {
		byName[w.Name] = w
	}
	var others []other
	for key, data := range saved {
		name, _, _ := strings.Cut(key, "\x00")
		taken := false
		if w := byName[name]; w != nil {
			if taken, err = l.loadTarget(w, key, data, now); err != nil {
				return 0, fmt.Errorf("watch %s: %w", name, err)
			}
		}
		l.configured(bucketTargets, key, taken, now)
		if w := byName[name]; w != nil && !w.isMany() && !taken {
			others = append(others, other{w, data})
		}
	}
	if err := l.anew(others, now); err != nil {
		return 0, err
	}
	l.loop.follow.settle(now)
	if s := l.run.a.Store; s != nil && s.lost != nil {
		restored = l.readCache()
	}
	return restored, nil
}

// An other is the stored state of a previous URL of a watch.
type other struct {
	w    *watcher
	data []byte
}

// anew deletes the state of a watch's URL if a file was downloaded later from another URL of the watch, because the
// existing file is then from that other URL.
func (l *loader) anew(others []other, now time.Time) error {
	for _, o := range others {
		var saved savedTarget
		if err := json.Unmarshal(o.data, &saved); err != nil {
			return fmt.Errorf("watch %s: %w", o.w.Name, err)
		}
		if t := l.loop.targets.all[urlKey{o.w, o.w.URL}]; t != nil && saved.Last.At.After(t.saved.Last.At) &&
			!t.saved.Last.At.IsZero() {
			t.saved = savedTarget{Watch: t.saved.Watch, Print: t.saved.Print, Reported: t.saved.Reported}
			l.loop.buffer.target(t, now)
		}
	}
	return nil
}

// loadTarget reads the state of one URL. taken is false if the watch no longer has that URL.
func (l *loader) loadTarget(w *watcher, key string, data []byte, now time.Time) (taken bool, err error) {
	var saved savedTarget
	if err := json.Unmarshal(data, &saved); err != nil {
		return false, err
	}
	s := urlKey{w, w.URL}
	if w.isMany() {
		s.url = saved.URL
	}
	if targetKey(&target{w: w, url: s.url}) != key || w.follow != nil && !w.follow.takes(&saved) {
		return false, nil
	}
	if w.glob != nil {
		if s.url, _ = feed.Key(saved.URL); !w.glob.MatchString(s.url) {
			return false, nil
		}
		if s.url != saved.URL && !l.respelt(s, &saved, key, now) {
			return true, nil
		}
	}
	outdated := l.lastSeen[s].Sub(saved.Reported) > forgotten/3
	if outdated {
		saved.Reported = l.lastSeen[s]
	}
	if w.glob != nil && l.loop.targets.all[s] == nil && saved.Pending == nil && now.Sub(saved.Reported) > forgotten {
		l.loop.buffer.gone(key, now)
		return true, nil
	}
	if t := l.loop.targets.target(s, nil); t != nil {
		t.saved = saved
		l.reconfigured(t, now)
		if outdated {
			l.loop.buffer.target(t, now)
		}
	}
	return true, nil
}

// respelt replaces the stored key of a URL whose normalized form has changed. If both forms are stored, the state with
// the later update is kept. ok reports whether saved is that state.
func (l *loader) respelt(s urlKey, saved *savedTarget, key string, now time.Time) (ok bool) {
	l.loop.buffer.gone(key, now)
	saved.URL = s.url
	t := l.loop.targets.target(s, nil)
	if t == nil || t.saved.Last.At.After(saved.Last.At) {
		return false
	}
	l.loop.buffer.target(t, now)
	return true
}

// reconfigured makes a waiting update of t due, if the configuration of the watch has changed since the update failed,
// or if the configuration of its feed has changed since the feed reached its daily limit.
func (l *loader) reconfigured(t *target, now time.Time) {
	if l.run.offline {
		return
	}
	p := t.saved.Pending
	changed := t.saved.Print != t.w.Print
	if changed {
		t.saved.Print = t.w.Print
		l.loop.buffer.target(t, now)
	}
	if p == nil {
		return
	}
	if m := l.loop.polls.byID[p.Feed]; changed || p.Limited && (m == nil || m.anew) {
		p.At, p.Failures, p.Failed, p.Limited = now, 0, false, false
	}
}

// readCache restores state from the cache in LIRS format. It returns the number of URLs restored.
func (l *loader) readCache() (n int) {
	f, err := fsys.Or(l.run.a.files).Open(l.run.a.Store.cachePath())
	if err != nil {
		return 0
	}
	defer f.Close()
	for r, err := range lirs.NewDecoder(fsys.Reader(f), feed.Options{}).Records() {
		if err != nil {
			break
		}
		slim := slimOf(r)
		fields := r.Fields
		l.loop.poller.match.all(slim, func(w *watcher, url string) {
			if t := l.loop.targets.target(urlKey{w, url}, nil); t != nil {
				n++
				t.restore()
				t.saved.State.HaveCopy = len(fields) > copyField && fields[copyField].Value == haveCopy
				t.saved.State.Baselines = []feed.Baseline{{LastModified: r.LastModified, Detected: r.Detected, Size: r.Size}}
				l.loop.buffer.target(t, time.Now())
			}
		})
	}
	return n
}
