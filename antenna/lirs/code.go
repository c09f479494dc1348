package lirs

import (
	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// Codes for the feed and for lines that are not records.
var (
	codeNotGzip = feedtext.Note("not-gzip", "the feed was not sent compressed with gzip, as it should be")
	codeNotEUC  = feedtext.Note("charset-not-euc-jp", "the text is not in EUC: read as {value}")
	codeBlank   = feedtext.Note("blank-line", "the line is blank")
)

// Codes for records.
var (
	codeNoHeader = feedtext.Fatal("no-record-header",
		"the line is neither a comment nor a record: it does not begin with LIRS and a comma")
	codeTruncated = feedtext.Fatal("truncated", "the feed ends within the record")
	codeTooFew    = feedtext.Fatal("too-few-fields", "the record has fewer than 8 fields: {value}")
	codeBadNumber = feedtext.Fatal("bad-number", "{field} is not a number: {value}")
	codeBadURL    = feedtext.Fatal("bad-url", "the URL of the site is not valid, or longer than 8 KiB: {value}")

	codeUndecodable = feedtext.Repair(feed.CodeUndecodable, "the record is not valid text")
	codeNoLineEnd   = feedtext.Repair("no-final-line-end", "no line end follows the last record")
	codeNoComma     = feedtext.Repair("no-trailing-comma", "the record does not end with a comma")
	codeNoLength    = feedtext.Repair("content-length-missing", "Content-Length is missing; its field has the URL")
	codeEmpty       = feedtext.Repair("empty-field", "{field} is empty instead of 0")
	codeBadEscape   = feedtext.Repair("bad-escape", "an unnecessary backslash: {value}")

	codeNotWatchable = feedtext.Note("url-not-watchable", "the URL has no host and cannot be watched")
	codeSuspect      = feedtext.Note("antenna-url-suspect",
		"the URL of the antenna is not valid; perhaps a comma before it is not escaped: {value}")
	codeInverted    = feedtext.Note("modified-after-detected", "the time of modification is after the time of detection")
	codeUnknownTime = feedtext.Note("time-unknown", "{field} is 1980, which means an unknown time")
)
