package soif

import (
	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// Reasons to discard an object. The first three reject the feed.
var (
	codeTruncated    = feedtext.Fatal("truncated", "the stream ends inside an object")
	codeNegativeSize = feedtext.Fatal("negative-size", "a size is negative")
	codeTooLarge     = feedtext.Fatal("too-large", "more than the limit")
	codeSizeMismatch = feedtext.Fatal("size-mismatch",
		"neither an attribute nor the end of the object follows this value: its size is wrong")
	codeBadAttribute = feedtext.Fatal("malformed-attribute", "this is neither an attribute nor the end of the object")
	codeBadSize      = feedtext.Fatal("bad-size", "a size is not a number")
	codeBadDelimiter = feedtext.Fatal("bad-delimiter", "a size is not followed by a colon and a tab")
	codeNoURL        = feedtext.Fatal("no-url", "the object has no URL (- means none)")
	codeBadURL       = feedtext.Fatal("bad-url", "the URL is not absolute: {value}")
	codeURLTooLong   = feedtext.Fatal("url-too-long", "the URL has more than 8192 octets")
)

// Irregularities of an object that is kept.
var (
	codeNoBlank = feedtext.Note("no-blank-before-url", // repair S5
		"no blank between the brace and the URL: readers written in C do not find the URL")
	codeEmptySize    = feedtext.Note("empty-size", "{} instead of {0} for an empty value")             // repair S6
	codeBrackets     = feedtext.Repair("brackets-in-name", "an identifier must not contain < or >")    // repair S4
	codeNotWatchable = feedtext.Note("url-not-watchable", "the URL has no host and cannot be watched") // repair S7
	codeDuplicate    = feedtext.Note("duplicate-attribute",                                            // repair S8
		"an attribute is repeated: its first value is used, not {value}")
	codeConflict = feedtext.Note("contradictory-values",
		"an attribute is repeated with a different value, {value}: neither value is used")
	codeBadNumber = feedtext.Note("bad-number", "the value is not a decimal number: {value}")
	codeBadMD5    = feedtext.Note("bad-md5", "the value is not 32 hexadecimal digits: {value}")
)

// Irregularities between objects. codeForeign rejects the feed.
var (
	codeJunk = feedtext.Note("junk",
		"this is not an object") // repair S1
	codeWrapper     = feedtext.Note("wrapper", "this wrapper of a Harvest gatherer is not in RFC 2655") // repair S3
	codeWrapperOpen = feedtext.Note("wrapper-not-closed", "the stream ends inside a wrapper")
	codeNoObject    = feedtext.Note("no-object", "the feed has no object (RFC 2655, section 3.4)")
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
