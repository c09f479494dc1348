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

// sources are the sources of a session and their state. The fields belong to the session's loop.
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
	host   string // host:port that answered, or of the URL
	first  bool   // the server that is asked what the file is, or the mirror that stands in for it
	swarm  bool   // a swarm, not a server
	pref   bool   // the mirror shares ETag or Digest with the server (RFC 6249, section 3.3)
	user   bool   // a mirror that the user named
	named  address.Scope
	tree   *mirrorTree // the folder of another file that led to this mirror; nil: none
	up     bool
	lanes  int                // number of fetches that may run at a time
	last   scheduler.SourceID // the lane for use as a last resort; see useLast; 0: none
	bytes  int64
	busy   time.Duration
	err    error
	banned bool
	other  bool // excluded because its answer was about another file

	claimed int64 // size of the file in its answer, if different from the known size; -1: none

	brought byterange.Set // existing bytes that only this source sent
	showing recheck.Showing
}

// A past is the state of a source after earlier sessions.
type past struct {
	brought byterange.Set // existing bytes that only this source sent
	bytes   int64
	busy    time.Duration
	banned  error // why the source is not asked again; nil if it may be asked
	other   bool  // see origin
	claimed int64 // see origin
}

// has reports whether a source has the URL u.
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

// gaveUp reports whether a source with the URL u was used, and not only excluded because the output is a pipe.
func (x *sources) gaveUp(u *url.URL) bool {
	return slices.ContainsFunc(x.all, func(o *origin) bool {
		return o.url.String() == u.String() && !errors.Is(o.err, errLoose)
	})
}

// sameSize reports whether a source with the URL u has stated no other size than the known one.
func (x *sources) sameSize(u *url.URL) bool {
	return slices.ContainsFunc(x.all, func(o *origin) bool { return o.url.String() == u.String() && o.claimed < 0 })
}

// first returns the asked server, or nil.
func (x *sources) first() *origin {
	if i := slices.IndexFunc(x.all, func(o *origin) bool { return o.first }); i >= 0 {
		return x.all[i]
	}
	return nil
}

// oldest returns the oldest date of the sources that have the file, or zero if no source gave a date. A copy is never
// older than its original.
func (x *sources) oldest() (date time.Time) {
	for _, o := range x.all {
		if t := usable(o.showing.Modified); !t.IsZero() && !o.banned && (date.IsZero() || t.Before(date)) {
			date = t
		}
	}
	return date
}

// add adds o. before is the state of o after earlier sessions.
func (x *sources) add(o *origin, before *past) {
	o.id = len(x.all)
	if before != nil {
		o.brought, o.bytes, o.busy = before.brought, before.bytes, before.busy
		o.banned, o.err, o.other, o.claimed = before.banned != nil, before.banned, before.other, before.claimed
	}
	x.all = append(x.all, o)
}

// lane adds a lane to o, which can then run one more fetch at a time.
func (x *sources) lane(o *origin) scheduler.SourceID {
	o.lanes++
	x.lanes = append(x.lanes, o)
	return scheduler.SourceID(len(x.lanes) - 1)
}

// failed records why a fetch of o ended, and excludes o if it has another file or sent wrong bytes.
func (x *sources) failed(o *origin, err error, fault scheduler.Fault) {
	var e *source.Error
	if !o.first && errors.As(err, &e) {
		e.Hops = nil // nothing reads them, and they need memory: 200 mirrors may have 10 redirects each (rule 20)
	}
	if o.err = err; x.last == nil || !errors.Is(err, errUntied) { // errUntied is no failure
		x.last = err
	}
	o.other = o.other || fault == scheduler.FaultWrong
	o.banned = o.banned || o.other || fault == scheduler.FaultWrongBytes
}

// silent records that a fetch was cancelled because o sent nothing. The source may be asked again.
func (x *sources) silent(o *origin) {
	o.err = o.breaks(small.ErrSilent)
	x.last = o.err
}

// breaks returns err as the error of a source that may be asked again.
func (o *origin) breaks(err error) error {
	return &source.Error{URL: o.masked, Host: o.host, Fault: source.FaultNetwork, Retry: true, Err: err}
}

// ban excludes o, which sent wrong bytes.
func (x *sources) ban(o *origin, format string, args ...any) {
	o.banned, o.err = true, mismatch(o, "wrong bytes: "+format, args...)
	x.last = o.err
}

// credit records that o sent the bytes that a fetch wrote, except bytes that another fetch had written before. The
// other fetch may report its bytes later, because a fetch does not report each write at once.
func (x *sources) credit(o *origin, m message) {
	for own := range m.theirs.Gaps(m.wrote) {
		for g := range x.credited.Gaps(own) {
			o.brought.Add(g)
		}
		x.credited.Add(own)
	}
}

// void removes r from the bytes that sources have sent.
func (x *sources) void(r byterange.Range) {
	x.credited.Remove(r)
	for _, o := range x.all {
		o.brought.Remove(r)
	}
}

// contender returns a size that a source states for the file and for which possible returns true, preferably the size
// of the asked server. It returns -1 if there is no such size.
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

// several reports whether more than one source sent bytes.
func (x *sources) several() bool {
	n := 0
	for _, o := range x.all {
		if o.bytes > 0 {
			n++
		}
	}
	return n > 1
}

// report returns the results of the sources for the user, sorted by the number of bytes that they sent.
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

// none returns the error of a download if no source is left.
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
	Errs []error // the last error of each source that failed, the origin first
	Last error   // the latest of these errors
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

// Unwrap returns the latest error.
func (e *NoSourceError) Unwrap() error { return e.Last }

// Budget reports whether the error of a source allows a retry, so that the download ended because all tries were used.
func (e *NoSourceError) Budget() bool {
	return slices.ContainsFunc(e.Errs, func(err error) bool {
		var src *source.Error
		return errors.As(err, &src) && src.Retry
	})
}
