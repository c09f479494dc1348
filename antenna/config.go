package antenna

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/antenna/formats"
)

// A Feed is a feed to poll. It must not be changed after use.
type Feed struct {
	// Name identifies the feed to users and in the store. It must be unique. If empty, it is the URL without secrets.
	Name string
	// URL is an http or https URL, or the path of a file if Local is set.
	URL   string
	Local bool
	Kind  Kind

	// Every is the fixed interval between polls. With Min or Max, it is the interval until the adaptive interval is
	// known.
	Every time.Duration
	// Min and Max limit the adaptive interval. If zero, Min is 5 minutes and Max is an hour.
	Min, Max time.Duration

	// Relay keeps all records of the feed for Antenna.Publish, not only those of watched URLs.
	Relay bool
	// Trust lists the URLs of agents whose records may be published again (Authorized-url, LIRS' antenna URL, SOIF's
	// gatherer).
	Trust []string

	Limits Limits
	// HatenaTimes uses Hatena's X-Hatena-Last-Modified as the modification time (repair H12).
	HatenaTimes bool
	// Header is sent with requests to the URL's own host. It may contain secrets and is never logged or stored.
	Header http.Header
	// Token is sent as a bearer token (RFC 6750) to the URL's own scheme, host and port, unless Header or the URL has
	// credentials. It is for a server that also answers without a token. If the server refuses the token (status 401),
	// the feed is polled without it from then on, and TokenRefused is emitted. Token is never logged or stored.
	Token string
}

// hasToken reports whether requests have the token of f.
func (f *Feed) hasToken() bool {
	u, err := url.Parse(f.URL)
	return f.Token != "" && !f.Local && f.Header.Get("Authorization") == "" && err == nil && u.User == nil
}

const (
	// defaultMin and defaultMax limit the interval between polls of a feed that changes often or never.
	defaultMin = 5 * time.Minute
	defaultMax = time.Hour
)

// Limits limits the cost of a feed.
type Limits struct {
	feed.Limits
	// Time is the time limit of one request. If zero, it is 10 minutes. A request also fails after 30 seconds without
	// data.
	Time time.Duration
	// Relayed is the number of records kept for publication. If zero, it is 10,000.
	Relayed int
	// Updates is the number of updates per day (UTC). Failed updates are not counted. If zero, it is 1,000. A negative
	// value means no limit.
	Updates int
	// DayBytes is the number of bytes that the updates may transfer per day (UTC). If zero, it is 100 GiB. A negative
	// value means no limit.
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

// A Watch is a file, or a set of files, to keep up to date.
type Watch struct {
	// Name identifies the watch. It must be unique. If empty, it is the URL without secrets.
	Name string
	// URL is the URL of the file. With Glob it is a pattern of URLs, where * matches any text without a slash and **
	// any text. Scheme and host must not contain stars, so that a feed cannot choose the host of a request.
	URL  string
	Glob bool
	// Feeds lists the feeds that may report the file. If empty, all feeds may.
	Feeds []string
	// AnyNews makes the watch check the file whenever one of its feeds has any new entry, because release feeds often
	// list pages and not files. AnyNews has no effect with Glob.
	AnyNews bool
	// CheckEvery is the interval at which the URL itself is checked while no feed has a fresh report. If zero, the URL
	// is not checked. CheckEvery has no effect with Glob.
	CheckEvery time.Duration
	// Releases makes the watch follow releases. The watch then has the URL of the template, and Glob, AnyNews and
	// CheckEvery must not be set.
	Releases *Releases
	// Header is sent with the requests of CheckEvery. It may contain secrets.
	Header http.Header
	// Print identifies the configuration of the watch, including parts that the package does not know. When Print
	// changes, failed updates are retried immediately. Print is stored, so it must not contain secrets.
	Print string
	// Title, Author and Zone (seconds east of UTC) are published with the antenna's own observations.
	Title, Author string
	Zone          int64
}

// A Kind is the feed.FormatID of the format of a feed, or one of the special values Auto and Page.
type Kind feed.FormatID

const (
	Auto Kind = 0  // determined by the beginning of the feed
	Page Kind = -1 // no feed: the response of the watched URL itself to HEAD
)

// format returns the format of k, unless k is a special value.
func (k Kind) format() (*feed.Format, bool) { return formats.Of(feed.FormatID(k)) }

// PassesOn reports whether feeds of kind k may name the agent that obtained a record. Only such records are passed on.
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

// MarshalText returns the name of k.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the name of a kind.
func (k *Kind) UnmarshalText(text []byte) error {
	kinds := []Kind{Auto, Page}
	for _, f := range formats.All() {
		kinds = append(kinds, Kind(f.ID))
	}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.String() == string(text) })
	if i < 0 { // Page is not listed, because it is no format of a feed
		return fmt.Errorf("%q is not a kind of feed; the kinds are %v, %s", text, Auto, strings.Join(formats.Names(), ", "))
	}
	*k = kinds[i]
	return nil
}
