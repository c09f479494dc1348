package news

import (
	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// Codes for the feed. A Fatal code rejects the feed.
var (
	codeForeign    = feedtext.Fatal("not-news", "neither RSS nor Atom nor JSON Feed")
	codeNoSitemap  = feedtext.Fatal("not-sitemap", "not a sitemap")
	codeLargeToken = feedtext.Fatal("line-too-long", "a text is longer than 4 MiB") // the limit of a line in other formats
	codeEntities   = feedtext.Fatal("entities-declared", "the document declares entities, which are not expanded")
	codeDeep       = feedtext.Fatal("nested-too-deep", "elements are nested more than 100 deep")
	codeLargeTag   = feedtext.Fatal("entry-too-large", "a tag has more than 16 KiB or 64 namespaces")
	codeLargeName  = feedtext.Fatal("entry-too-large", "a name has more than 100 octets, or an xml:base more than 512")
	codeTruncated  = feedtext.Fatal("truncated", "the document ends within an element or a value")

	codeCharset = feedtext.Note("charset-unknown", "unknown charset {value}: only ASCII is read")
	codeVersion = feedtext.Note("no-json-feed-version", "the document does not declare the version of JSON Feed")
	codeNoItem  = feedtext.Note("no-item", "the feed has no item")
)

// Codes for entries.
var (
	codeNoURL    = feedtext.Fatal("no-url", "the entry has no URL")
	codeBadURL   = feedtext.Fatal("bad-url", "the URL is not absolute, or longer than 8 KiB: {value}")
	codeTooLarge = feedtext.Fatal("entry-too-large", "the entry is larger than 64 KiB")
	codeUnread   = feedtext.Fatal("unreadable-entry", "the entry cannot be read: {value}")

	codeUndecodable = feedtext.Repair(feed.CodeUndecodable, "the entry is not valid text")
	codeSloppy      = feedtext.Repair("item-not-well-formed", "the entry is not well-formed XML: {value}")
	codeEscaped     = feedtext.Repair("url-not-escaped", "the URL has characters that must be escaped: {value}")
	codeBadDate     = feedtext.Repair("bad-date", "{field} is not a date: {value}")
	codeDateForm    = feedtext.Repair("date-format", "{field} does not have the form that the feed's format requires: {value}")
	codeWeekday     = feedtext.Repair("date-wrong-weekday", "the day of the week of {field} is wrong: {value}")
	codeNoZone      = feedtext.Repair("date-no-zone", "{field} has no time zone, so UTC is assumed: {value}")
	codeBadNumber   = feedtext.Repair("bad-number", "{field} is not a number: {value}")

	codeIRI          = feedtext.Note("url-not-ascii", "the URL has letters beyond ASCII, which are escaped: {value}")
	codeNotWatchable = feedtext.Note("url-not-watchable", "the URL has no host and cannot be watched")
	codeGUID         = feedtext.Note("guid-as-url", "the entry has no link; its guid is used")
	codeUndated      = feedtext.Note("no-date", "the entry has no date")
	codeDay          = feedtext.Note("date-without-time", "{field} is a day without a time: {value}")
)

const malformed = "not-well-formed"

func (d *reader) find(code *feedtext.Code, field, value string) {
	d.reading.Find(code, 0, field, value)
}

// judge reports the violations of r, and whether r is valid.
func (d *reader) judge(r *feed.Record) bool { return d.reading.Judge(r, r.URL) }
