package soif

import (
	"fmt"

	"braid/antenna/feed"
)

// The codes of violations. Those of the first group say why an object was discarded, those of the second what was odd
// about one that was kept, and those of the third what was found between objects.
const (
	codeTruncated    = "truncated"     // the feed is rejected
	codeNegativeSize = "negative-size" // the feed is rejected
	codeTooLarge     = "too-large"     // the feed is rejected
	codeSizeMismatch = "size-mismatch"
	codeBadAttribute = "malformed-attribute"
	codeBadSize      = "bad-size"
	codeBadDelimiter = "bad-delimiter"
	codeNoURL        = "no-url"
	codeBadURL       = "bad-url"
	codeURLTooLong   = "url-too-long"

	codeNoBlank      = "no-blank-before-url" // repair S5
	codeEmptySize    = "empty-size"          // repair S6
	codeBrackets     = "brackets-in-name"    // repair S4; discards in strict mode
	codeNotWatchable = "url-not-watchable"   // repair S7
	codeDuplicate    = "duplicate-attribute" // repair S8
	codeConflict     = "contradictory-values"
	codeBadNumber    = "bad-number"
	codeBadMD5       = "bad-md5"

	codeJunk        = "junk"    // repair S1
	codeWrapper     = "wrapper" // repair S3
	codeWrapperOpen = "wrapper-not-closed"
	codeNoObject    = "no-object"
	codeTooMany     = "too-many-entries" // the feed is rejected
	codeForeign     = "not-soif"         // the feed is rejected
)

// words say to people what the codes mean; {value} is what was found.
var words = map[string]string{
	codeTruncated:    "the stream ends inside an object",
	codeNegativeSize: "a negative size",
	codeTooLarge:     "more than is allowed",
	codeSizeMismatch: "behind this value there is neither an attribute nor the end of the object: its size is wrong",
	codeBadAttribute: "neither an attribute nor the end of the object",
	codeBadSize:      "a size that is no number",
	codeBadDelimiter: "a size without colon and tab behind it",
	codeNoURL:        "an object without a URL; one that has none says so with -",
	codeBadURL:       "not an absolute URL: {value}",
	codeURLTooLong:   fmt.Sprintf("a URL of more than %d octets", feed.MaxURL),
	codeNoBlank:      "no blank between brace and URL: readers written in C do not find the URL",
	codeEmptySize:    "{} instead of {0}",
	codeBrackets:     "< and > cannot stand in an identifier",
	codeNotWatchable: "a URL without a host cannot be watched",
	codeDuplicate:    "an attribute for the second time: the first counts, not {value}",
	codeConflict:     "an attribute for the second time and with another value, {value}: neither counts",
	codeBadNumber:    "not a decimal number: {value}",
	codeBadMD5:       "not 32 hexadecimal digits: {value}",
	codeJunk:         "something that is no object",
	codeWrapper:      "the wrapper of a Harvest gatherer, which RFC 2655 does not know",
	codeWrapperOpen:  "the stream ends inside a wrapper",
	codeNoObject:     "there is no object (section 3.4)",
}
