package indexpage

import "braid/internal/feedtext"

// CodeBase is the code of the rejection of a page with a base element.
const CodeBase = "base-element"

// Codes for the page. A Fatal code rejects the page.
var (
	codeForeign   = feedtext.Fatal("not-index", "not the index of a folder")
	codeNoBase    = feedtext.Fatal("no-base", "the URL of the page is not known, and its links are relative to it")
	codeBase      = feedtext.Fatal(CodeBase, "a base element makes its links relative to another URL")
	codeLargeText = feedtext.Fatal("line-too-long", "a text is longer than 1 MiB") // the limit of a line in other formats
	codeNoFile    = feedtext.Note("no-item", "the page lists no file")
)

// Codes for entries.
var (
	codeNoName    = feedtext.Fatal("no-url", "the entry has no name")
	codeBadURL    = feedtext.Fatal("bad-url", "the URL is not absolute, or longer than 8 KiB: {value}")
	codeBadDate   = feedtext.Repair("bad-date", "{field} is not a date: {value}")
	codeBadNumber = feedtext.Repair("bad-number", "{field} is not a number: {value}")
)
