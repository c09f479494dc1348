// Package feed has the common parts of the feed formats of antennas (hina-di, LIRS, SOIF) and of those of sites (news,
// sitemaps, index pages, release APIs): the Record, which describes a URL at some time; the keys by which URLs are
// compared; and the decision whether reports announce an update.
//
//	next := feed.Decide(state, reports, now)
//	if next.Action == feed.Download { ... } // a hint: the download asks and verifies by itself
//
// The package does no input or output. It neither parses formats nor decides how a file is downloaded or verified.
package feed

import (
	"slices"
	"strings"
	"time"
)

// A Record is the report of one feed about one URL. A missing value is the zero value. A record is used completely or
// not at all: values of records of different agents are never mixed (hina-di, section 12).
type Record struct {
	Format FormatID
	// Line is where the record begins in the decoded feed, from 1. Offset is the same position in octets, from 0, for
	// SOIF, because lines mean little there.
	Line   int
	Offset int64

	// URL is the URL as spelled in the feed. It is for comparison (Key), never for a request.
	URL string
	// Virtual is the URL from which the metadata was taken instead of URL (hina-di, section 5.5).
	Virtual string

	// Tag is the tag of the release with the file at the URL, as a release API states it. PreRelease reports that the
	// API marks the release as a pre-release.
	Tag        string
	PreRelease bool

	Title, Author string
	ContentType   string
	Server        string
	Keywords      []string
	// Zone is the offset of the site's time zone in seconds, east positive, for display (LIRS). It does not affect
	// times.
	Zone int64

	LastModified Time
	// Detected is when the metadata was obtained from the site: Last-Modified-Detected, Last-Detected, Update-Time.
	Detected Time
	// Date is when the record was written, and FeedDate when its feed was written (hina-di).
	Date, FeedDate Time
	// Received is used if Detected, Date and FeedDate are missing. It is when the feed was last modified according to
	// its server, or else when the feed was received. The caller sets it.
	Received Time
	// Expires is the expiry of the record; of several, the earliest.
	Expires Time
	// Size is the size of the content in bytes, or 0 if unknown, as in feeds.
	Size int64
	// MD5 is the MD5 of the content in 32 lower-case hexadecimal digits.
	MD5 string

	// Agent and AgentURL name the agent that obtained the metadata from the site: Authorized and Authorized-url, LIRS'
	// antenna URL, SOIF's Gatherer. Method is how the metadata was obtained, preceded by a REMOTE for each agent that
	// passed it on. Result is the status of the site's response.
	Agent, AgentURL string
	Method          []string
	Result          string

	// Complete reports that the agent guarantees that all obtainable fields are present (hina-di, section 9).
	Complete bool
	// Failed reports that the agent could not obtain anything (LIRS 0,0). Such a record only shows that the site is on
	// the agent's list.
	Failed bool

	// Extract reports that the record is not complete and must not be passed on.
	Extract bool

	// Fields are the fields of the feed in their order and with duplicates: the whole block of hina-di, the attributes
	// of a SOIF object, the extension fields of LIRS, which have no names. For the formats of sites they are the
	// parts that the record was made from.
	Fields []Field
	// Warnings are the codes of irregularities in the record, without duplicates, in the order of their detection. A
	// code for a field is followed by a colon and the field's name.
	Warnings []string
}

// A Field is a field of a record.
type Field struct{ Name, Value string }

// DigestField and MirrorField are the names of Fields of News and ReleaseAPI. The first has a digest of the file at the
// URL, as sha256:HEX or Subresource Integrity. The second has another URL of the same file.
const (
	DigestField = "digest"
	MirrorField = "mirror"
)

// Proof returns the digests of the file at the URL, and other URLs of the same file, as the feed states them. Both are
// evidence only if the feed is on the server of the file.
func (r Record) Proof() (digests, mirrors []string) {
	if r.Format != News && r.Format != ReleaseAPI {
		return nil, nil
	}
	for _, f := range r.Fields {
		switch f.Name {
		case DigestField:
			digests = append(digests, strings.Fields(f.Value)...)
		case MirrorField:
			mirrors = append(mirrors, f.Value)
		}
	}
	return digests, mirrors
}

// Get returns the value of the first field with a name, ignoring case.
func (r Record) Get(name string) (value string, ok bool) {
	i := slices.IndexFunc(r.Fields, func(f Field) bool { return strings.EqualFold(f.Name, name) })
	if i < 0 {
		return "", false
	}
	return r.Fields[i].Value, true
}

// Hops returns the number of agents between the agent that obtained the metadata and the feed of r.
func (r Record) Hops() (n int) {
	for _, word := range r.Method {
		if strings.EqualFold(word, "REMOTE") {
			n++
		}
	}
	return n
}

// A Time is a moment in seconds since 1970, UTC. Zero means an unknown moment, because the formats write 0, or the
// first day of 1970, for an unknown time.
type Time int64

// At returns the Time of t, or 0 for the zero time.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.Unix())
}

// UTC returns t as a time.Time, or the zero time if t is 0.
func (t Time) UTC() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(int64(t), 0).UTC()
}

// String returns t in a readable form.
func (t Time) String() string {
	if t == 0 {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}
