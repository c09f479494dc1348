// Package feed is what the feeds of antennas (hina-di, LIRS, SOIF) have in common: the Record, which says what was seen of
// one URL and when; the keys by which URLs are the same; and the decision whether what feeds report is an update.
//
//	next := feed.Decide(state, reports, now)
//	if next.Action == feed.Download { ... } // a hint: the download asks and verifies by itself
//
// It is values only. It reads no format, fetches nothing, and never makes a feed's word more than a hint: what is
// downloaded, from where and with what proof is not its matter.
package feed

import (
	"slices"
	"strings"
	"time"
)

// A Record is the report of one feed about one URL. What a feed does not say is the zero value. A record is used whole or
// not at all: records of several agents are never mixed (hina-di, section 12).
type Record struct {
	Format FormatID
	// Line is where the record begins in the decoded feed, from 1. Offset says the same in octets, from 0, where lines mean
	// little (SOIF).
	Line   int
	Offset int64

	// URL is what the record is about, as the feed spells it: for comparing (Key), never for a request.
	URL string
	// Virtual is from where the metadata was taken instead of from URL (hina-di, section 5.5).
	Virtual string

	Title, Author string
	ContentType   string
	Server        string
	Keywords      []string
	// Zone is the offset of the site's time zone in seconds, east positive, for display (LIRS). Times need no zone.
	Zone int64

	LastModified Time
	// Detected is when the metadata was obtained from the site itself: Last-Modified-Detected, Last-Detected, Update-Time.
	Detected Time
	// Date is when the record was output, FeedDate when its feed was (hina-di).
	Date, FeedDate Time
	// Received stands in for all of them: when the feed was last modified by the word of the server that sent it, or else
	// when it came. The caller sets it.
	Received Time
	// Expires is when the record says that it stops being valid: the earlier of several such fields.
	Expires Time
	// Size is the length of the content in octets. Feeds write 0 when they do not know it, and so does a Record.
	Size int64
	// MD5 is that of the content, in 32 lower-case hexadecimal digits.
	MD5 string

	// Agent and AgentURL name the agent that obtained the metadata from the site: Authorized and Authorized-url, LIRS'
	// antenna URL, SOIF's Gatherer. Method is how, with a REMOTE on the left for each agent since; Result is what the
	// site answered.
	Agent, AgentURL string
	Method          []string
	Result          string

	// Complete: the agent warrants that every obtainable field is there (hina-di, section 9).
	Complete bool
	// Failed: the agent could not obtain anything (LIRS 0,0). Such a record says that the site is on the list, no more.
	Failed bool

	// Extract: it is not kept whole, and must not be passed on.
	Extract bool

	// Fields are the fields as the feed has them, in its order and with duplicates: the whole block of a hina-di feed,
	// the attributes of a SOIF object, the extension fields of LIRS, which have no names. Of news and sitemaps they are
	// what the record was made of.
	Fields []Field
	// Warnings are the codes of what was odd about the record, each once, in the order they were met. A code that is about a
	// field has its name behind a colon.
	Warnings []string
}

// A Field is one field of a record.
type Field struct{ Name, Value string }

// Get returns the value of the first field with that name, in any letter case.
func (r Record) Get(name string) (value string, ok bool) {
	i := slices.IndexFunc(r.Fields, func(f Field) bool { return strings.EqualFold(f.Name, name) })
	if i < 0 {
		return "", false
	}
	return r.Fields[i].Value, true
}

// Hops counts the agents between the one that obtained the metadata and the feed that it was read from.
func (r Record) Hops() (n int) {
	for _, word := range r.Method {
		if strings.EqualFold(word, "REMOTE") {
			n++
		}
	}
	return n
}

// A Time is a moment in seconds since 1970, UTC. Zero is no moment: the formats write it, or the day that it stands for, when
// they do not know.
type Time int64

// At returns the Time of t, and no moment for the zero time.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.Unix())
}

// UTC returns t as package time has it; the zero time for no moment.
func (t Time) UTC() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(int64(t), 0).UTC()
}

// String writes t for people.
func (t Time) String() string {
	if t == 0 {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}
