package download

import (
	"strings"
	"time"

	"braid/download/state"
	"braid/source"
)

// This file compares the dates and ETags of a file in place with those that a server sends (-N).

// A relation is how an answer relates to the existing file.
type relation uint8

const (
	unknown relation = iota // it may be newer
	same
	older
)

// compare compares ETags and dates. Equal ones show that a file is the same only if they are of one server. An earlier
// date of any server keeps the file, because the asked server may redirect to another one that is behind.
func compare(here *state.Version, a source.Answer) relation {
	if here == nil {
		return unknown
	}
	elsewhere := here.Host != "" && here.Host != a.Host
	if !elsewhere && a.ETag != "" && opaque(a.ETag) == opaque(here.ETag) {
		return same
	}
	then := usable(a.LastModified)
	switch {
	case then.IsZero() || here.LastModified.IsZero():
		return unknown
	case then.Before(here.LastModified):
		return older
	case elsewhere:
		return unknown
	case then.Equal(here.LastModified) && (a.ETag == "" || here.ETag == "") && !differs(a.Size, here.Size):
		return same
	}
	return unknown
}

// opaque returns a tag for the weak comparison, which If-None-Match uses (RFC 9110, section 8.8.3.2).
func opaque(etag string) string { return strings.TrimPrefix(etag, "W/") }

// firstDate is the earliest usable date. Earlier dates, and those in the future, are of clocks that were never set.
var firstDate = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

const dateSlack = time.Hour

// usable returns t, or zero if the clock that it is from was not set.
func usable(t time.Time) time.Time {
	if t.Before(firstDate) || t.After(time.Now().Add(dateSlack)) {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
