package antenna

import (
	"cmp"
	"slices"
	"time"
)

// A release begins when the handler gets its update. From then on, its file may be in place although the update is not
// done: the user's program for the update may fail, or the process may be killed. Until the update is done or it is
// known that the file is not in place, the handler gets no update to an older version, which would replace the newer
// file.

// begin stores that the release of t begins. It reports whether that was stored before.
func (f *followers) begin(t *target, now time.Time) (before bool) {
	r := t.saved.Release
	if r == nil || r.Stage == inPlace || r.Begun {
		return r != nil && r.Begun
	}
	r.Begun = true
	f.buffer.target(t, now)
	f.buffer.save()
	return false
}

// failed records whether the file of t may be in place after its update failed or was interrupted.
func (f *followers) failed(t *target, o *Outcome) {
	if r := t.saved.Release; r != nil {
		r.Begun = r.Begun && o.Path != ""
	}
}

// ahead returns a release that has begun and is newer than the release of t, or nil.
func (g *following) ahead(t *target) *target {
	for _, other := range g.targets {
		if other != t && other.saved.Release.Begun && other.saved.Pending != nil && newerFirst(other, t) < 0 {
			return other
		}
	}
	return nil
}

// hold reports whether the update of t must wait, and until when. The update waits for a newer release that has begun,
// and for a host that was asked too often.
func (f *followers) hold(t *target, now time.Time) (until time.Time, held bool) {
	if t.saved.Release == nil {
		return until, false
	}
	if other := t.w.follow.ahead(t); other != nil {
		until = now.Add(retryBase)
		if at := other.saved.Pending.At; at.After(until) {
			until = at
		}
		return until, true
	}
	return f.full(t, now)
}

// awaitsPoll reports whether a feed that may report the release of t is still to be polled in this round. The update of
// t must then wait for the poll, because the feed may report proof of the release, or no longer report the release. It
// does not wait for polls of a host that must not be asked for a while.
func (f *followers) awaitsPoll(t *target, now time.Time) bool {
	polls := f.targets.polls
	return f.run.round != nil && t.w.follow != nil && slices.ContainsFunc(polls.members, func(m *member) bool {
		// m is in the queue, or is being polled, or waits for its host.
		return t.w.mayHear(m) && (m.place > 0 || m.asking && !polls.hosts.rests(m, now))
	})
}

// polled is called after m was polled in a round. It schedules the updates of releases that waited for that poll.
func (f *followers) polled(m *member, now time.Time) {
	if f.run.round == nil || m.asking {
		return
	}
	for _, g := range f.all {
		for _, t := range g.targets {
			if t.held && g.w.mayHear(m) && t.saved.Pending != nil && !t.running {
				t.held = false
				f.updates.tries.put(t, now)
			}
		}
	}
}

// last returns the target of the current version or, if there is none, the target that left returns.
func (g *following) last() *target {
	return cmp.Or(g.placed(), g.left())
}

// left returns the target that was current when the user renounced it, or nil once another target is current.
func (g *following) left() *target {
	for _, t := range g.in(unwanted) {
		if t.saved.Release.Left {
			return t
		}
	}
	return nil
}

// replaced clears Left of the release that left returns, because another version is now the current one.
func (f *followers) replaced(g *following, now time.Time) {
	for t := g.left(); t != nil; t = g.left() {
		t.saved.Release.Left, t.saved.Last = false, Outcome{}
		f.buffer.target(t, now)
	}
}
