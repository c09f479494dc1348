package soif

import (
	"fmt"

	"braid/antenna/feed"
)

// The codes of violations. Those of the first group say why an object was discarded, those of the second what was odd
// about one that was kept, and those of the third what was found between objects.
const (
	CodeTruncated    = "truncated"     // the feed is rejected (rule 55)
	CodeNegativeSize = "negative-size" // the feed is rejected (rule 55)
	CodeTooLarge     = "too-large"     // the feed is rejected (rules 52 and 55)
	CodeSizeMismatch = "size-mismatch"
	CodeBadAttribute = "malformed-attribute"
	CodeBadSize      = "bad-size"
	CodeBadDelimiter = "bad-delimiter"
	CodeNoURL        = "no-url"
	CodeBadURL       = "bad-url"
	CodeURLTooLong   = "url-too-long" // rule 53

	CodeNoBlank      = "no-blank-before-url" // repair S5
	CodeEmptySize    = "empty-size"          // repair S6
	CodeBrackets     = "brackets-in-name"    // repair S4; discards in strict mode
	CodeNotWatchable = "url-not-watchable"   // repair S7
	CodeDuplicate    = "duplicate-attribute" // repair S8
	CodeConflict     = "contradictory-values"
	CodeBadNumber    = "bad-number"
	CodeBadMD5       = "bad-md5"

	CodeJunk        = "junk"    // repair S1
	CodeWrapper     = "wrapper" // repair S3
	CodeWrapperOpen = "wrapper-not-closed"
	CodeNoObject    = "no-object"
	CodeTooMany     = "too-many-entries" // the feed is rejected (rule 52)
	CodeForeign     = "not-soif"         // the feed is rejected
)

// words say to people what the codes mean; {value} is what was found.
var words = map[string]string{
	CodeTruncated:    "the stream ends inside an object",
	CodeNegativeSize: "a negative size",
	CodeTooLarge:     "more than is allowed",
	CodeSizeMismatch: "behind this value there is neither an attribute nor the end of the object: its size is wrong",
	CodeBadAttribute: "neither an attribute nor the end of the object",
	CodeBadSize:      "a size that is no number",
	CodeBadDelimiter: "a size without colon and tab behind it",
	CodeNoURL:        "an object without a URL; one that has none says so with -",
	CodeBadURL:       "not an absolute URL: {value}",
	CodeURLTooLong:   fmt.Sprintf("a URL of more than %d octets", feed.MaxURL),
	CodeNoBlank:      "no blank between brace and URL: readers written in C do not find the URL",
	CodeEmptySize:    "{} instead of {0}",
	CodeBrackets:     "< and > cannot stand in an identifier",
	CodeNotWatchable: "a URL without a host cannot be watched",
	CodeDuplicate:    "an attribute for the second time: the first counts, not {value}",
	CodeConflict:     "an attribute for the second time and with another value, {value}: neither counts",
	CodeBadNumber:    "not a decimal number: {value}",
	CodeBadMD5:       "not 32 hexadecimal digits: {value}",
	CodeJunk:         "something that is no object",
	CodeWrapper:      "the wrapper of a Harvest gatherer, which RFC 2655 does not know",
	CodeWrapperOpen:  "the stream ends inside a wrapper",
	CodeNoObject:     "there is no object (section 3.4)",
}
