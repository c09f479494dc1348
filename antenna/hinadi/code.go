package hinadi

import "braid/antenna/feed"

// The codes of what is found, for programs. Those of dates are in date.go.
const (
	// About the feed.
	codeForeign         = "not-hina-di"
	codeUndeclared      = "charset-undeclared"
	codeMismatch        = "charset-mismatch"
	codeUnknownCharset  = "charset-unknown"
	codeExtraBlank      = "extra-blank-line"
	codeNoEntity        = "no-entity-block"
	codeNoHINA          = "hina-line-missing"
	codeNoHeader        = "header-missing"
	codeVersionLine     = "hina-version"
	codeNoUserAgent     = "no-user-agent"
	codeMalformedHeader = "malformed-header-line"
	codeUndefinedHeader = "undefined-header-field"
	codeDuplicateHeader = "duplicate-header-field"

	// A block is discarded for them, in both modes.
	codeTruncated      = "truncated"
	codeMalformed      = "malformed-line"
	codeDuplicate      = "duplicate-field"
	codeNoURL          = "no-url"
	codeBadURL         = "bad-url"
	codeURLTooLong     = "url-too-long"
	codeBadDate        = "bad-date"
	codeBadNumber      = "bad-number"
	codeBadContentType = "bad-content-type"
	codeBadVersion     = "bad-version"
	codeBadMethod      = "bad-method"
	codeBlockTooLarge  = "block-too-large"

	// A block is discarded for them in strict mode, else repaired.
	codeURLNotFirst  = "url-not-first"
	codeEmpty        = "empty-value"
	codeNoBlank      = "no-blank-after-colon"
	codeUndecodable  = feed.CodeUndecodable
	codeNoFinalBlank = "no-final-blank-line"
	codeVersionBeta  = "hina-version-beta"
	codeMethodWord   = "method-word"
	codeMethodResult = "method-result"
	codeNoResult     = "method-without-result"

	// A block is never discarded for them.
	codeVitural       = "vitural-spelling"
	codeNotWatchable  = "url-not-watchable"
	codeExpiresDiffer = "expires-differ"
	codeNoImage       = "image-size-of-no-image"
)

// texts say the codes in words. {value} is what was found, in quotes.
var texts = map[string]string{
	feed.CodeLineEnds + "lf":    "lines end with LF and not CRLF",
	feed.CodeLineEnds + "cr":    "lines end with CR and not CRLF",
	feed.CodeLineEnds + "mixed": "lines end in different ways",
	feed.CodeMark:               "the feed begins with a byte order mark",
	codeUndeclared:              "the text is not in EUC-JP, and no charset is declared: read as {value} (section 8)",
	codeMismatch:                "the text is not in the charset that is declared: read as {value} (section 8)",
	codeUnknownCharset:          "unknown charset {value}",
	codeExtraBlank:              "a blank line where no block ends",
	codeNoEntity:                "there is no entity block (section 4)",
	codeNoHINA:                  "the first line is not HINA/2.2beta (section 5.1)",
	codeNoHeader:                "there is no header block (section 4.2)",
	codeVersionLine:             "the first line has version {value} and not 2.2beta (section 5.1)",
	codeNoUserAgent:             "the header block has no User-Agent (section 5.2)",
	codeMalformedHeader:         "a line of the header block is no field (section 4.1)",
	codeUndefinedHeader:         "{field} does not belong in the header block (section 4.2)",
	codeDuplicateHeader:         "{field} is in the header block twice",

	codeTruncated:      "the feed ends within a line",
	codeMalformed:      "the line is no field (sections 4.1 and 11)",
	codeDuplicate:      "{field} is there twice (section 10)",
	codeNoURL:          "the block has no URL (section 5.3)",
	codeBadURL:         "{field} is no absolute URI: {value} (sections 5.3 and 11)",
	codeURLTooLong:     "{field} is longer than 8 KiB",
	codeBadDate:        "{field} is no date: {value} (sections 5.7 and 11)",
	codeBadNumber:      "{field} is no number: {value} (sections 5.19 and 11)",
	codeBadContentType: "{field} is no type: {value} (sections 5.6 and 11)",
	codeBadVersion:     "{field} is no version: {value} (sections 5.4 and 11)",
	codeBadMethod:      "{field} is no method: {value} (sections 5.17 and 11)",
	codeBlockTooLarge:  "the block is too large",

	codeURLNotFirst:  "URL is not the first field (section 5.3)",
	codeEmpty:        "{field} has no value (section 4.1)",
	codeNoBlank:      "no blank follows the colon of {field} (section 4.1)",
	codeUndecodable:  "{field} has octets that are no text (section 8)",
	codeNoFinalBlank: "no blank line follows the last block (section 4.3)",
	codeVersionBeta:  "{field} has more than numbers (section 5.4)",
	codeMethodWord:   "{field} has a word that the specification does not know: {value} (section 5.17)",
	codeMethodResult: "{field} has a result that is no HTTP status: {value} (section 5.17)",
	codeNoResult:     "{field} has no result: {value} (section 5.17)",

	codeVitural:       "Virtual is spelled as in the slip of section 5.5",
	codeNotWatchable:  "the URL has no host and cannot be watched",
	codeExpiresDiffer: "{field} differs: Expires and Expire say the same (section 5.11)",
	codeNoImage:       "an image size, but {field} is no image (section 5.19)",

	dateOneDigit:     "the day of {field} has one digit: {value} (section 5.7)",
	dateZone + "JST": "{field} has the zone JST and not GMT: {value} (section 5.7)",
	dateZone + "UTC": "{field} has the zone UTC and not GMT: {value} (section 5.7)",
	dateNumeric:      "{field} has a numeric zone and not GMT: {value} (section 5.7)",
	dateNoZone:       "{field} has no zone, GMT is assumed: {value} (section 5.7)",
	dateRFC850:       "{field} is in the form of RFC 850: {value} (section 5.7)",
	dateAsctime:      "{field} is in the form of asctime: {value} (section 5.7)",
	dateWrongDay:     "the day of the week of {field} is wrong: {value}",
	dateNoTime:       "{field} is a day that stands for an unknown one: {value}",
}
