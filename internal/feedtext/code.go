package feedtext

import (
	"strconv"
	"strings"

	"braid/antenna/feed"
)

// Code is a kind of defect of a feed.
type Code struct {
	// Name is the name for programs.
	Name   string
	text   string // description, with placeholders {field} and {value}
	weight feed.Weight

	strict               string // name in strict mode; empty: the same name
	strictOnly, untagged bool
}

// Note returns a code for a defect that discards no record. text describes it, and may contain {field} and {value}.
func Note(name, text string) *Code { return &Code{Name: name, text: text} }

// Repair returns a code for a defect that discards a record in strict mode and is repaired in tolerant mode.
func Repair(name, text string) *Code { return &Code{Name: name, text: text, weight: feed.Repair} }

// Fatal returns a code for a defect that discards a record in both modes.
func Fatal(name, text string) *Code { return &Code{Name: name, text: text, weight: feed.Fatal} }

// InStrict sets another name for c in strict mode. It returns c.
func (c *Code) InStrict(name string) *Code {
	c.strict = name
	return c
}

// StrictOnly restricts c to strict mode. It returns c.
func (c *Code) StrictOnly() *Code {
	c.strictOnly = true
	return c
}

// Untagged leaves the field out of the warning that c adds to a record. It returns c.
func (c *Code) Untagged() *Code {
	c.untagged = true
	return c
}

func (c *Code) discards(strict bool) bool {
	return c.weight == feed.Fatal || c.weight == feed.Repair && strict
}

// Violation returns a violation with code c.
func (c *Code) Violation(line int, field, value string) feed.Violation {
	return feed.Violation{Line: line, Code: c.Name, Field: field, Text: c.Say(field, value), Weight: c.weight}
}

// Reject returns an error with code c, for a feed that cannot be read from that line on.
func (c *Code) Reject(line int) error {
	return &feed.RejectError{Line: line, Code: c.Name, Why: c.text}
}

// longestQuote is the maximum length of a quoted value, in octets.
const longestQuote = 100

// Say returns the description of c. It quotes the value, and shortens a long value.
func (c *Code) Say(field, value string) string {
	more := ""
	if len(value) > longestQuote {
		value, more = strings.ToValidUTF8(value[:longestQuote], ""), "..."
	}
	return strings.NewReplacer("{field}", field, "{value}", strconv.Quote(value)+more).Replace(c.text)
}
