package soif

import (
	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// Reasons to discard an object. The first three reject the feed.
var (
	codeTruncated    = feedtext.Fatal("truncated", "the stream ends inside an object")
	codeNegativeSize = feedtext.Fatal("negative-size", "a negative size")
	codeTooLarge     = feedtext.Fatal("too-large", "more than the limit")
	codeSizeMismatch = feedtext.Fatal("size-mismatch",
		"neither an attribute nor the end of the object follows this value: its size is wrong")
	codeBadAttribute = feedtext.Fatal("malformed-attribute", "neither an attribute nor the end of the object")
	codeBadSize      = feedtext.Fatal("bad-size", "a size that is not a number")
	codeBadDelimiter = feedtext.Fatal("bad-delimiter", "a size without a colon and a tab after it")
	codeNoURL        = feedtext.Fatal("no-url", "an object without a URL (- means none)")
	codeBadURL       = feedtext.Fatal("bad-url", "not an absolute URL: {value}")
	codeURLTooLong   = feedtext.Fatal("url-too-long", "a URL of more than 8192 octets")
)

// Irregularities of an object that is kept.
var (
	codeNoBlank = feedtext.Note("no-blank-before-url", // repair S5
		"no blank between the brace and the URL: readers written in C do not find the URL")
	codeEmptySize    = feedtext.Note("empty-size", "{} instead of {0}")                             // repair S6
	codeBrackets     = feedtext.Repair("brackets-in-name", "< and > cannot stand in an identifier") // repair S4
	codeNotWatchable = feedtext.Note("url-not-watchable", "a URL without a host cannot be watched") // repair S7
	codeDuplicate    = feedtext.Note("duplicate-attribute",                                         // repair S8
		"a repeated attribute: the first is used, not {value}")
	codeConflict = feedtext.Note("contradictory-values",
		"an attribute repeated with a different value, {value}: neither is used")
	codeBadNumber = feedtext.Note("bad-number", "not a decimal number: {value}")
	codeBadMD5    = feedtext.Note("bad-md5", "not 32 hexadecimal digits: {value}")
)

// Irregularities between objects. codeForeign rejects the feed.
var (
	codeJunk        = feedtext.Note("junk", "not an object")                                                      // repair S1
	codeWrapper     = feedtext.Note("wrapper", "the wrapper of a Harvest gatherer, which RFC 2655 does not know") // repair S3
	codeWrapperOpen = feedtext.Note("wrapper-not-closed", "the stream ends inside a wrapper")
	codeNoObject    = feedtext.Note("no-object", "the feed has no object (section 3.4)")
	codeForeign     = feedtext.Fatal("not-soif", "not SOIF")
)

type place struct {
	line   int
	offset int64
}

// violation returns a violation with a code at a place.
func violation(at place, code *feedtext.Code, attribute, value string) feed.Violation {
	v := code.Violation(at.line, attribute, value)
	v.Offset = at.offset
	return v
}
