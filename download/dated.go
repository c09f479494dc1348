package download

import (
	"errors"
	"time"

	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// errDated ends the first request to a mirror that has the file of another date.
var errDated = errors.New("its Last-Modified is another than the server's, and no digest of its own speaks for it: it is used last")

// dated reports whether what a mirror answers contradicts the date that the asked server gives, while nothing shows that it has the
// same version. A mirror without a date contradicts nothing.
func (s *session) dated(o *origin, a source.Answer) bool {
	asked := s.askedDate()
	if o.first || asked.IsZero() || a.LastModified.IsZero() || a.LastModified.Equal(asked) || verify.Strong(common(s.claims, a.Claims)) {
		return false
	}
	etag := metalink.StrongETag(a.ETag)
	return !o.pref || etag == "" || etag != s.tag.etag
}

// otherDate reports whether a mirror's Last-Modified is another than that of the asked server, or than its own was before in this run. Where
// no digest decides, that is another version, also with the same ETag.
func (s *session) otherDate(o *origin, a source.Answer) bool {
	other := func(t time.Time) bool { return !t.IsZero() && !a.LastModified.IsZero() && !t.Equal(a.LastModified) }
	return other(s.askedDate()) || other(o.showing.modified)
}

// askedDate is the Last-Modified of the server that the user asked; zero if it gave none itself.
func (s *session) askedDate() time.Time {
	if o := s.sources.first(); o != nil && o.showing.asked {
		return o.showing.modified
	}
	return time.Time{}
}

// useLast lets a mirror be used when all others are and much is left, or when there are no others. It does so once.
func (s *session) useLast(o *origin) {
	if o.last > 0 {
		return
	}
	o.last = s.sources.lane(o)
	s.note("%s: %v", o.masked, errDated)
	s.step(scheduler.SourceAdded{ID: o.last, Host: o.host, Trips: o.src.Traits().Trips, Last: true})
}
