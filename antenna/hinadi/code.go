package hinadi

import (
	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// Codes for the feed.
var (
	codeForeign     = feedtext.Fatal("not-hina-di", "not a hina-di feed")
	codeLargeHeader = feedtext.Fatal("block-too-large", "the header block is too large")
	codeUndeclared  = feedtext.Note("charset-undeclared",
		"the text is not in EUC-JP, and no charset is declared: read as {value} (hina-di, section 8)")
	codeMismatch = feedtext.Note("charset-mismatch",
		"the text is not in the charset that is declared: read as {value} (hina-di, section 8)")
	codeUnknownCharset = feedtext.Note("charset-unknown", "unknown charset {value}")
	codeExtraBlank     = feedtext.Note("extra-blank-line", "a blank line is not at the end of a block")
	codeNoEntity       = feedtext.Note("no-entity-block", "the feed has no entity block (hina-di, section 4)")
	codeNoHINA         = feedtext.Note("hina-line-missing", "the first line is not HINA/2.2beta (hina-di, section 5.1)")
	codeNoHeader       = feedtext.Note("header-missing", "the feed has no header block (hina-di, section 4.2)")
	codeVersionLine    = feedtext.Note("hina-version",
		"the first line has version {value} in place of 2.2beta (hina-di, section 5.1)")
	codeNoUserAgent     = feedtext.Note("no-user-agent", "the header block has no User-Agent (hina-di, section 5.2)")
	codeMalformedHeader = feedtext.Note("malformed-header-line",
		"a line of the header block is not a field (hina-di, section 4.1)")
	codeUndefinedHeader = feedtext.Note("undefined-header-field",
		"{field} does not belong in the header block (hina-di, section 4.2)")
	codeDuplicateHeader = feedtext.Note("duplicate-header-field", "{field} appears twice in the header block")
)

// Codes for blocks.
var (
	codeTruncated      = feedtext.Fatal("truncated", "the feed ends within a line")
	codeMalformed      = feedtext.Fatal("malformed-line", "the line is not a field (hina-di, sections 4.1 and 11)")
	codeDuplicate      = feedtext.Fatal("duplicate-field", "{field} appears twice (hina-di, section 10)")
	codeNoURL          = feedtext.Fatal("no-url", "the block has no URL (hina-di, section 5.3)")
	codeBadURL         = feedtext.Fatal("bad-url", "{field} is not an absolute URI: {value} (hina-di, sections 5.3 and 11)")
	codeURLTooLong     = feedtext.Fatal("url-too-long", "{field} is longer than 8 KiB")
	codeBadDate        = feedtext.Fatal("bad-date", "{field} is not a date: {value} (hina-di, sections 5.7 and 11)")
	codeBadNumber      = feedtext.Fatal("bad-number", "{field} is not a number: {value} (hina-di, sections 5.19 and 11)")
	codeBadContentType = feedtext.Fatal("bad-content-type", "{field} is not a media type: {value} (hina-di, sections 5.6 and 11)")
	codeBadVersion     = feedtext.Fatal("bad-version", "{field} is not a version: {value} (hina-di, sections 5.4 and 11)")
	codeBadMethod      = feedtext.Fatal("bad-method", "{field} is not a method: {value} (hina-di, sections 5.17 and 11)")
	codeBlockTooLarge  = feedtext.Fatal("block-too-large", "the block is too large")

	codeURLNotFirst  = feedtext.Repair("url-not-first", "URL is not the first field (hina-di, section 5.3)").Untagged()
	codeEmpty        = feedtext.Repair("empty-value", "{field} has no value (hina-di, section 4.1)")
	codeNoBlank      = feedtext.Repair("no-blank-after-colon", "no blank follows the colon of {field} (hina-di, section 4.1)")
	codeUndecodable  = feedtext.Repair(feed.CodeUndecodable, "{field} is not valid text (hina-di, section 8)")
	codeNoFinalBlank = feedtext.Repair("no-final-blank-line", "no blank line follows the last block (hina-di, section 4.3)")
	codeVersionBeta  = feedtext.Repair("hina-version-beta",
		"{field} has other characters than digits and dots (hina-di, section 5.4)").InStrict("bad-version")
	codeMethodWord = feedtext.Repair("method-word",
		"{field} has a word that is not in the specification: {value} (hina-di, section 5.17)").InStrict("bad-method")
	codeMethodResult = feedtext.Repair("method-result",
		"{field} has a result that is not an HTTP status: {value} (hina-di, section 5.17)").InStrict("bad-method")
	codeNoResult = feedtext.Repair("method-without-result",
		"{field} has no result: {value} (hina-di, section 5.17)").InStrict("bad-method")

	codeVitural       = feedtext.Note("vitural-spelling", "Virtual is misspelled (as in hina-di, section 5.5)").Untagged()
	codeNotWatchable  = feedtext.Note("url-not-watchable", "the URL has no host and cannot be watched").Untagged()
	codeExpiresDiffer = feedtext.Note("expires-differ", "{field} differs between Expires and Expire (hina-di, section 5.11)")
	codeNoImage       = feedtext.Note("image-size-of-no-image",
		"an image size is given, but {field} is not an image (hina-di, section 5.19)").StrictOnly()
)

// Codes for deviations of a date from the grammar that can still be read (repairs H4 and H5).
var (
	dateOneDigit = feedtext.Repair("date-one-digit-day",
		"the day in {field} has one digit: {value} (hina-di, section 5.7)").InStrict("date-format")
	dateJST = feedtext.Repair("date-zone-JST",
		"{field} has the time zone JST in place of GMT: {value} (hina-di, section 5.7)").InStrict("date-format")
	dateUTC = feedtext.Repair("date-zone-UTC",
		"{field} has the time zone UTC in place of GMT: {value} (hina-di, section 5.7)").InStrict("date-format")
	dateNumeric = feedtext.Repair("date-numeric-zone",
		"{field} has a numeric time zone in place of GMT: {value} (hina-di, section 5.7)").InStrict("date-format")
	dateNoZone = feedtext.Repair("date-no-zone",
		"{field} has no time zone, so GMT is assumed: {value} (hina-di, section 5.7)").InStrict("date-format")
	dateRFC850 = feedtext.Repair("date-rfc850",
		"{field} is a date in the obsolete form of RFC 850: {value} (hina-di, section 5.7)").InStrict("date-format")
	dateAsctime = feedtext.Repair("date-asctime",
		"{field} is a date in the obsolete form of asctime: {value} (hina-di, section 5.7)").InStrict("date-format")
	dateWrongDay = feedtext.Repair("date-wrong-weekday", "the day of the week of {field} is wrong: {value}")
	dateNoTime   = feedtext.Note("date-unknown", "{field} is a date that feed software writes if it knows no date: {value}")
)
