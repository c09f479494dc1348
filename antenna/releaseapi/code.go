package releaseapi

import "braid/internal/feedtext"

// Codes for the document.
var (
	codeForeign  = feedtext.Fatal("not-releases", "not the releases of a project, as a known forge or registry lists them")
	codeNone     = feedtext.Note("no-item", "the project has no release")
	codeOut      = feedtext.Note("left-out", "the release is a draft or withdrawn, so it is ignored")
	codeNotReady = feedtext.Note("not-uploaded", "the file is incomplete, so it is ignored")
)

// Codes for releases and files.
var (
	codeNoTag     = feedtext.Fatal("no-tag", "the release has no tag")
	codeBadTag    = feedtext.Fatal("bad-tag", "the tag is longer than 256 octets, or has spaces or control characters: {value}")
	codeTooLarge  = feedtext.Fatal("entry-too-large", "the release is larger than 4 MiB")
	codeNoURL     = feedtext.Fatal("no-url", "the file has no URL")
	codeBadURL    = feedtext.Fatal("bad-url", "the URL is not http or https, or longer than 8 KiB: {value}")
	codeEscaped   = feedtext.Repair("url-not-escaped", "the URL has characters that must be escaped: {value}")
	codeIRI       = feedtext.Note("url-not-ascii", "the URL has letters beyond ASCII, which are escaped: {value}")
	codeBadDate   = feedtext.Repair("bad-date", "{field} is not a date: {value}")
	codeBadNumber = feedtext.Repair("bad-number", "{field} is not a number: {value}")
)
