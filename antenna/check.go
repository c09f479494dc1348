package antenna

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"braid/internal/mask"
	"braid/internal/web"
)

func (a *Antenna) polls() int { return cmp.Or(max(a.Polls, 0), 32) }

func (a *Antenna) handlers() int { return cmp.Or(max(a.Handlers, 0), 4) }

func (a *Antenna) round() time.Duration { return cmp.Or(max(a.Round, 0), time.Minute) }

func (a *Antenna) hostGap() time.Duration { return cmp.Or(max(a.HostGap, 0), time.Second) }

// maskURL returns a URL without its secrets.
func maskURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "an invalid URL"
	}
	return mask.URL(u)
}

// name returns the name of f, by default its URL.
func (f *Feed) name() string {
	if f.Name == "" && f.Local {
		return f.URL
	}
	return cmp.Or(f.Name, maskURL(f.URL))
}

func (w *Watch) name() string { return cmp.Or(w.Name, maskURL(w.URL)) }

// Check returns an error if the configuration of feeds and watches is not valid, for example duplicate names.
func (a *Antenna) Check() error {
	_, err := a.newLoop()
	return err
}

// newLoop returns a loop for the configuration, without any state.
func (a *Antenna) newLoop() (*loop, error) {
	l := &loop{run: run{a: a, inbox: make(chan message, a.polls()+a.handlers()+1)}, poller: &poller{}}
	l.connect()
	for _, f := range a.Feeds {
		if err := l.addFeed(f); err != nil {
			return nil, fmt.Errorf("feed %s: %w", f.name(), err)
		}
	}
	names := map[string]bool{}
	for _, w := range a.Watches {
		w.Name = w.name()
		err := l.addWatch(w)
		if err == nil && names[w.Name] {
			err = fmt.Errorf("another watch has the same name")
		}
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", w.Name, err)
		}
		names[w.Name] = true
	}
	*l.poller = poller{
		agent: cmp.Or(a.UserAgent, "braid"), agentURL: a.AgentURL, match: newMatcher(l.targets.watches),
	}
	var err error
	l.poller.web, err = a.client()
	return l, err
}

// connect creates the parts of l. Each part gets pointers to the parts that it uses.
func (l *loop) connect() {
	r, a := &l.run, l.run.a
	l.buffer = newBuffer(r)
	l.polls = polls{
		run: r, buffer: &l.buffer, poller: l.poller, targets: &l.targets,
		byID: map[string]*member{}, hosts: hosts{gap: a.hostGap(), names: map[string]*host{}},
	}
	l.targets = targets{
		run: r, buffer: &l.buffer, polls: &l.polls, updates: &l.updates, follow: &l.follow,
		all: map[urlKey]*target{}, globbed: map[*watcher]int{},
	}
	l.updates = updates{run: r, buffer: &l.buffer, polls: &l.polls, targets: &l.targets, follow: &l.follow}
	l.updates.tries.places = a.handlers()
	l.follow = followers{
		run: r, buffer: &l.buffer, targets: &l.targets, updates: &l.updates, asked: asked{},
	}
	l.publisher = publisher{run: r, buffer: &l.buffer, poller: l.poller, polls: &l.polls, targets: &l.targets}
}

// shortest is the minimum interval between polls of one feed.
const shortest = time.Second

func (l *loop) addFeed(f Feed) error {
	f.Name = f.name()
	f.Limits = f.Limits.orDefault()
	m := &member{id: feedID(f.Name), feed: f}
	for _, d := range []time.Duration{f.Every, f.Min, f.Max} {
		if d != 0 && d < shortest {
			return fmt.Errorf("an interval of %v between polls is too short", d)
		}
	}
	if f.Max != 0 && f.Min > f.Max {
		return fmt.Errorf("the shortest interval between polls, %v, is longer than the longest, %v", f.Min, f.Max)
	}
	if f.Local {
		return l.join(m)
	}
	if err := checkURL(f.URL); err != nil {
		return err
	}
	return l.join(m)
}

func (l *loop) join(m *member) (err error) {
	if l.polls.byID[m.id] != nil {
		return fmt.Errorf("another feed has the same name")
	}
	if !m.feed.Local {
		u, err := url.Parse(m.feed.URL)
		if err != nil {
			return fmt.Errorf("not a URL")
		}
		m.url = web.Plain(u)
	}
	m.order = len(l.polls.members)
	m.targets, m.revisit = map[*target]bool{}, map[*target]bool{}
	l.polls.byID[m.id] = m
	l.polls.members = append(l.polls.members, m)
	return nil
}

func (l *loop) addWatch(w Watch) error {
	c, err := newWatcher(w)
	if err != nil {
		return err
	}
	for _, name := range w.Feeds {
		if l.polls.byID[feedID(name)] == nil {
			return fmt.Errorf("no feed %q", name)
		}
	}
	l.targets.watches = append(l.targets.watches, c)
	l.updates.tries.lane(c) // before any update, because the number of slots of a lane depends on the number of lanes
	if c.follow != nil {
		l.follow.all = append(l.follow.all, c.follow)
	}
	if c.isMany() {
		return nil
	}
	l.targets.target(urlKey{c, c.URL}, nil)
	if w.CheckEvery == 0 {
		return nil
	}
	if w.CheckEvery < shortest {
		return fmt.Errorf("an interval of %v between checks is too short", w.CheckEvery)
	}
	f := Feed{Name: w.Name, URL: w.URL, Kind: Page, Every: w.CheckEvery, Header: w.Header, Limits: Limits{}.orDefault()}
	return l.join(&member{id: checkID(w.Name), feed: f, page: c})
}
