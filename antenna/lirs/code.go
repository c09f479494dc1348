package lirs

import "braid/antenna/feed"

// The codes of what is found, for programs.
const (
	// About the feed, or a line that is no record.
	codeNotGzip = "not-gzip"
	codeNotEUC  = "charset-not-euc-jp"
	codeBlank   = "blank-line"

	// A record is discarded for them, in both modes.
	codeNoHeader  = "no-record-header"
	codeTruncated = "truncated"
	codeTooFew    = "too-few-fields"
	codeBadNumber = "bad-number"
	codeBadURL    = "bad-url"

	// A record is discarded for them in strict mode, else repaired.
	codeUndecodable = feed.CodeUndecodable
	codeNoLineEnd   = "no-final-line-end"
	codeNoComma     = "no-trailing-comma"
	codeNoLength    = "content-length-missing"
	codeEmpty       = "empty-field"
	codeBadEscape   = "bad-escape"

	// A record is never discarded for them.
	codeNotWatchable = "url-not-watchable"
	codeSuspect      = "antenna-url-suspect"
	codeInverted     = "modified-after-detected"
	codeUnknownTime  = "time-unknown"
)

// texts say the codes in words. {value} is what was found, in quotes.
var texts = map[string]string{
	codeNotGzip:                 "the feed is not compressed with gzip, as it should be on its way",
	codeNotEUC:                  "the text is not in EUC: read as {value}",
	feed.CodeMark:               "the feed begins with a byte order mark",
	feed.CodeLineEnds + "cr":    "lines end with CR, which is not recommended",
	feed.CodeLineEnds + "mixed": "lines end in different ways",
	codeBlank:                   "the line is blank",

	codeNoHeader:  "the line is neither a comment nor a record: it does not begin with LIRS and a comma",
	codeTruncated: "the feed ends within the record",
	codeTooFew:    "the record has fewer than 8 fields: {value}",
	codeBadNumber: "{field} is no number: {value}",
	codeBadURL:    "the URL of the site is none, or longer than 8 KiB: {value}",

	codeUndecodable: "the record has octets that are no text",
	codeNoLineEnd:   "no line end follows the last record",
	codeNoComma:     "no comma ends the record",
	codeNoLength:    "there is no Content-Length: the URL is where it should be",
	codeEmpty:       "{field} is empty, and not 0",
	codeBadEscape:   "a backslash before something that needs none: {value}",

	codeNotWatchable: "the URL has no host and cannot be watched",
	codeSuspect:      "the URL of the antenna is none, perhaps a comma before it is not escaped: {value}",
	codeInverted:     "the site was modified after that was detected",
	codeUnknownTime:  "{field} is 1980, which stands for an unknown time",
}
