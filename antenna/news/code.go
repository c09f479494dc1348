package news

import "braid/antenna/feed"

// The codes of what is found, for programs.
const (
	// The feed is rejected for them.
	codeForeign    = "not-news"
	codeNoSitemap  = "not-sitemap"
	codeLargeToken = "line-too-long" // as a line is for other formats
	codeEntities   = "entities-declared"
	codeDeep       = "nested-too-deep"
	codeMalformed  = "not-well-formed"
	codeTruncated  = "truncated"

	// About the feed.
	codeCharset = "charset-unknown"
	codeVersion = "no-json-feed-version"
	codeNoItem  = "no-item"

	// A record is discarded for them, in both modes.
	codeNoURL    = "no-url"
	codeBadURL   = "bad-url"
	codeTooLarge = "entry-too-large"
	codeUnread   = "unreadable-entry"

	// A record is discarded for them in strict mode, else repaired.
	codeUndecodable = feed.CodeUndecodable
	codeSloppy      = "item-not-well-formed"
	codeEscaped     = "url-not-escaped"
	codeBadDate     = "bad-date"
	codeDateForm    = "date-format"
	codeNoZone      = "date-no-zone"
	codeWeekday     = "date-wrong-weekday"
	codeBadNumber   = "bad-number"

	// A record is never discarded for them.
	codeIRI          = "url-not-ascii"
	codeNotWatchable = "url-not-watchable"
	codeGUID         = "guid-as-url"
	codeUndated      = "no-date"
	codeDay          = "date-without-time"
)

// texts say the codes in words. {value} is what was found, in quotes.
var texts = map[string]string{
	codeCharset: "unknown charset {value}: only ASCII is read",
	codeVersion: "the document does not say that it is a JSON Feed",
	codeNoItem:  "there is no item",

	codeNoURL:    "the entry has no URL",
	codeBadURL:   "no absolute URL, or longer than 8 KiB: {value}",
	codeTooLarge: "the entry says more about itself than 64 KiB",
	codeUnread:   "the entry cannot be read: {value}",

	codeUndecodable: "the entry has octets that are no text",
	codeSloppy:      "the entry is not well-formed XML: {value}",
	codeEscaped:     "the URL has characters that must be escaped: {value}",
	codeBadDate:     "{field} is no date: {value}",
	codeDateForm:    "{field} has not the form that the format has: {value}",
	codeWeekday:     "the day of the week of {field} is wrong: {value}",
	codeNoZone:      "{field} has no zone, UTC is assumed: {value}",
	codeBadNumber:   "{field} is no number: {value}",

	codeIRI:          "the URL has letters beyond ASCII, which are escaped: {value}",
	codeNotWatchable: "the URL has no host and cannot be watched",
	codeGUID:         "the entry has no link, its guid is taken",
	codeUndated:      "the entry has no date",
	codeDay:          "{field} is a day without a time: {value}",
}

func (d *reader) find(w feed.Weight, code, field, value string) {
	d.reading.Find(feed.Finding{Weight: w, Code: code, Field: field, Value: value})
}

// judge decides whether r is a record by what was found, reports that, and forgets it.
func (d *reader) judge(r *feed.Record) bool { return d.reading.Judge(r, r.URL) }
