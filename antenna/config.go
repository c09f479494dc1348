package antenna

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/antenna/formats"
)

// A Feed is one feed that is polled. It is not changed after use.
type Feed struct {
	// Name is unique among feeds, for people and for the store. If empty, it is the URL, masked.
	Name string
	// URL is an http or https URL, or the path of a file if Local.
	URL   string
	Local bool
	Kind  Kind

	// Every says how far polls are apart. Alone it fixes that. Together with Min or Max it is where the adaptive interval begins
	// before anything is known.
	Every time.Duration
	// Min and Max bound the adaptive interval. If zero, they are 5 minutes and an hour.
	Min, Max time.Duration

	// Relay keeps all records of the feed for Antenna.Publish, and not only those that are watched.
	Relay bool
	// Trust are the URLs of agents (Authorized-url, LIRS' antenna URL, SOIF's gatherer) whose records may be published again.
	Trust []string

	Limits Limits
	// HatenaTimes takes Hatena's X-Hatena-Last-Modified for the time of modification (repair H12).
	HatenaTimes bool
	// Header is sent with each request to the URL's own host. It may be secret: it is never logged nor stored.
	Header http.Header
}

const (
	// defaultMin is how far polls of a feed that changes all the time are apart, and defaultMax those of one that never does.
	defaultMin = 5 * time.Minute
	defaultMax = time.Hour
)

// Limits bound what a feed may cost.
type Limits struct {
	feed.Limits
	// Time is how long one request may take in all. If zero, it is 10 minutes. Without a byte it takes 30 seconds at most.
	Time time.Duration
	// Relayed is how many records are kept to be published again. If zero, it is 10,000.
	Relayed int
	// Updates is how many updates of a feed are handled in a day (UTC). Those that fail are not counted. If zero, it is
	// 1,000; if negative, there is no limit.
	Updates int
	// DayBytes is how many bytes its updates may bring in a day (UTC). If zero, it is 100 GiB; if negative, there is no limit.
	DayBytes int64
}

func (l Limits) orDefault() Limits {
	l.Limits = l.Limits.OrDefault()
	if l.Time <= 0 {
		l.Time = 10 * time.Minute
	}
	if l.Relayed <= 0 {
		l.Relayed = 10_000
	}
	if l.Updates == 0 {
		l.Updates = 1000
	}
	if l.DayBytes == 0 {
		l.DayBytes = 100 << 30
	}
	return l
}

// A Watch is what is kept up to date.
type Watch struct {
	// Name is unique among watches. If empty, it is the URL, masked.
	Name string
	// URL is the file. With Glob it is a pattern of URLs: * stands for anything without a slash, and ** for anything.
	// Scheme and host have none of them, so that no feed chooses where requests go.
	URL  string
	Glob bool
	// Feeds are the names of the feeds that may report it. If empty, all may.
	Feeds []string
	// AnyNews has the file looked at whenever a feed that may report it has anything new, be it another URL: feeds of
	// releases list pages. Globs are not.
	AnyNews bool
	// CheckEvery is how often the URL itself is asked for, while no fresh report of a feed exists. If zero, it is not.
	// Globs are not.
	CheckEvery time.Duration
	// Header is sent with these requests. It may be secret.
	Header http.Header
	// Print tells this configuration of the watch from others, whatever else belongs to it: where it is another one
	// than before, what has failed is tried at once. It is stored, so there must be no secret in it.
	Print string
	// Title, Author and Zone (seconds east of UTC) are what own observations are published with.
	Title, Author string
	Zone          int64
}

// A Kind is how a feed is read: as the format with this number, or one of the two that are none.
type Kind feed.FormatID

const (
	Auto Kind = 0  // by what it begins with
	Page Kind = -1 // no feed: what the watched URL itself answers to HEAD
)

// format returns the format of k, if it says one.
func (k Kind) format() (*feed.Format, bool) { return formats.Of(feed.FormatID(k)) }

// PassesOn reports whether feeds of the kind may say which agent obtained a record, so that it can be passed on.
func (k Kind) PassesOn() bool {
	f, ok := k.format()
	return !ok || f.Agents
}

func (k Kind) String() string {
	switch k {
	case Auto:
		return "auto"
	case Page:
		return "page"
	}
	return formats.Name(feed.FormatID(k))
}

// MarshalText writes k as String does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what String writes.
func (k *Kind) UnmarshalText(text []byte) error {
	kinds := []Kind{Auto, Page}
	for _, f := range formats.All() {
		kinds = append(kinds, Kind(f.ID))
	}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.String() == string(text) })
	if i < 0 { // a page is no kind of feed
		return fmt.Errorf("%q is no kind of feed: there are %v, %s", text, Auto, strings.Join(formats.Names(), ", "))
	}
	*k = kinds[i]
	return nil
}
