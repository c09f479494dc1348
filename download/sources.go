package download

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/internal/recheck"
	"braid/internal/small"
	"braid/scheduler"
	"braid/source"
)

// sources are the sources of a session and their state. They belong to the session's loop.
type sources struct {
	all   []*origin
	held  []SourceResult // mirrors that were not asked, each with the reason
	lanes []*origin      // by scheduler.SourceID; each lane runs one fetch at a time
	last  error          // the last failure of a source

	credited byterange.Set // bytes with a known source
}

// An origin is a source and its state in this download.
type origin struct {
	id     int
	src    source.Source
	url    *url.URL
	masked string
	host   string // as it answered, or as named
	first  bool   // the server that is asked what the file is, or its stand-in
	swarm  bool   // it is a swarm, not a server
	pref   bool   // it shares ETag or Digest with the server (RFC 6249, section 3.3)
	user   bool   // a mirror that the user named
	named  address.Scope
	tree   *mirrorTree // the folder that led to it; nil if none did
	up     bool
	lanes  int                // how many fetches it may run at a time
	last   scheduler.SourceID // the lane of a mirror that is used last; 0: it is not one
	bytes  int64
	busy   time.Duration
	err    error
	banned bool
	other  bool // excluded: its own answer described another file

	claimed int64 // the file's size by its answer, if not the one being fetched; -1: none

	brought byterange.Set // bytes in place that only it sent
	showing recheck.Showing
}

// A past is the state of a source after earlier sessions.
type past struct {
	brought byterange.Set // bytes in place that only it sent
	bytes   int64
	busy    time.Duration
	banned  error // why it is not asked again; nil if it may be
	other   bool  // it has another file
	claimed int64 // see origin
}

// has reports whether a source has this URL.
func (x *sources) has(u *url.URL) bool {
	return slices.ContainsFunc(x.all, func(o *origin) bool { return o.url.String() == u.String() })
}

// hold records why a mirror is not asked.
func (x *sources) hold(u *url.URL, why error) {
	r := SourceResult{URL: source.Mask(u), Host: source.HostPort(u), Err: why}
	if !slices.ContainsFunc(x.held, func(h SourceResult) bool { return h.URL == r.URL }) {
		x.held = append(x.held, r)
	}
}

// gaveUp reports whether the source with this URL was asked and failed, and was not only held back from a pipe.
func (x *sources) gaveUp(u *url.URL) bool {
	return slices.ContainsFunc(x.all, func(o *origin) bool {
		return o.url.String() == u.String() && !errors.Is(o.err, errLoose)
	})
}

// first returns the asked server, or nil.
func (x *sources) first() *origin {
	if i := slices.IndexFunc(x.all, func(o *origin) bool { return o.first }); i >= 0 {
		return x.all[i]
	}
	return nil
}

// oldest returns the oldest date of the sources that have the file, because no copy is older than its
// original; zero if none has a date.
func (x *sources) oldest() (date time.Time) {
	for _, o := range x.all {
		if t := usable(o.showing.Modified); !t.IsZero() && !o.banned && (date.IsZero() || t.Before(date)) {
			date = t
		}
	}
	return date
}

// add adds a source with its state after earlier sessions.
func (x *sources) add(o *origin, before *past) {
	o.id = len(x.all)
	if before != nil {
		o.brought, o.bytes, o.busy = before.brought, before.bytes, before.busy
		o.banned, o.err, o.other, o.claimed = before.banned != nil, before.banned, before.other, before.claimed
	}
	x.all = append(x.all, o)
}

// lane lets a source run one more fetch at a time.
func (x *sources) lane(o *origin) scheduler.SourceID {
	o.lanes++
	x.lanes = append(x.lanes, o)
	return scheduler.SourceID(len(x.lanes) - 1)
}

// failed records why a fetch ended, and excludes a source that has another file or sent wrong bytes.
func (x *sources) failed(o *origin, err error, fault scheduler.Fault) {
	var e *source.Error
	if !o.first && errors.As(err, &e) {
		e.Hops = nil // nothing reads them, and 200 mirrors may have led through 10 redirects each (rule 20)
	}
	if o.err = err; x.last == nil || !errors.Is(err, errUntied) { // it is no failure
		x.last = err
	}
	o.other = o.other || fault == scheduler.FaultWrong
	o.banned = o.banned || o.other || fault == scheduler.FaultWrongBytes
}

// silent records that a source was given up because nothing came from it. It may be asked again.
func (x *sources) silent(o *origin) {
	o.err = o.breaks(small.ErrSilent)
	x.last = o.err
}

// breaks returns the error of a source that may answer again.
func (o *origin) breaks(err error) error {
	return &source.Error{URL: o.masked, Host: o.host, Fault: source.FaultNetwork, Retry: true, Err: err}
}

// ban excludes a source that sent wrong bytes.
func (x *sources) ban(o *origin, format string, args ...any) {
	o.banned, o.err = true, mismatch(o, "wrong bytes: "+format, args...)
	x.last = o.err
}

// pardon allows all sources again.
func (x *sources) pardon() {
	for _, o := range x.all {
		o.banned, o.err = false, nil
	}
}

// credit records that o sent the bytes that a fetch wrote, except those that another fetch had written
// before: that one may report them later, because a fetch does not report each write.
func (x *sources) credit(o *origin, m message) {
	for own := range m.theirs.Gaps(m.wrote) {
		for g := range x.credited.Gaps(own) {
			o.brought.Add(g)
		}
		x.credited.Add(own)
	}
}

// void removes wrong bytes from those of the sources.
func (x *sources) void(r byterange.Range) {
	x.credited.Remove(r)
	for _, o := range x.all {
		o.brought.Remove(r)
	}
}

// contender is a possible size that a source gives for the file, the asked server's first; -1: there is none.
func (x *sources) contender(possible func(int64) bool) int64 {
	best := int64(-1)
	for _, o := range x.all {
		if o.claimed >= 0 && possible(o.claimed) && (best < 0 || o.first) {
			best = o.claimed
		}
	}
	return best
}

// past returns the state of the sources for the next session.
func (x *sources) past() map[string]*past {
	all := map[string]*past{}
	for _, o := range x.all {
		p := &past{brought: o.brought.Clone(), bytes: o.bytes, busy: o.busy, other: o.other, claimed: o.claimed}
		if o.banned {
			p.banned = o.err
		}
		all[o.url.String()] = p
	}
	return all
}

// report returns the results of the sources for the user, those that sent most first.
func (x *sources) report() (out []SourceResult) {
	for _, o := range x.all {
		r := SourceResult{ID: o.id, URL: o.masked, Host: o.host, Bytes: o.bytes, Err: o.err, Banned: o.banned}
		if o.busy > 0 {
			r.Rate = float64(o.bytes) / o.busy.Seconds()
		}
		out = append(out, r)
	}
	for _, r := range x.held {
		if r.ID = len(out); !slices.ContainsFunc(x.all, func(o *origin) bool { return o.masked == r.URL }) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b SourceResult) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return out
}

// none returns the error of a download without a source left: the last problem that was not solved.
func (x *sources) none() error {
	e := &NoSourceError{Last: x.last}
	for _, o := range x.all {
		if o.err != nil {
			e.Errs = append(e.Errs, o.err)
		}
	}
	return e
}

// A NoSourceError is the error of a download after all sources failed.
type NoSourceError struct {
	Errs []error // the last error of each source that had one, the origin's first
	Last error   // the latest of them
}

func (e *NoSourceError) Error() string {
	switch {
	case e.Last == nil:
		return "no source"
	case len(e.Errs) == 1:
		return e.Last.Error()
	}
	return fmt.Sprintf("all %d sources failed, the last: %v", len(e.Errs), e.Last)
}

// Unwrap returns the last error, which is the problem that was not solved.
func (e *NoSourceError) Unwrap() error { return e.Last }

// Budget reports whether tries were used up at a source that might still have served.
func (e *NoSourceError) Budget() bool {
	return slices.ContainsFunc(e.Errs, func(err error) bool {
		var src *source.Error
		return errors.As(err, &src) && src.Retry
	})
}
