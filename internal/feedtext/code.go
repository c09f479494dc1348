package feedtext

import (
	"strconv"
	"strings"

	"braid/antenna/feed"
)

// A Code is one way in which a feed is not as it should be.
type Code struct {
	// Name is for programs.
	Name   string
	text   string // in words, with {field} and {value} in it
	weight feed.Weight

	strict               string // the name in strict mode, if that is another one
	strictOnly, untagged bool
}

// Note returns a code for which no record is discarded. Text says it in words, with {field} and {value} in it.
func Note(name, text string) *Code { return &Code{Name: name, text: text} }

// Repair returns a code for which strict mode discards a record, and tolerant mode repairs it.
func Repair(name, text string) *Code { return &Code{Name: name, text: text, weight: feed.Repair} }

// Fatal returns a code for which both modes discard a record.
func Fatal(name, text string) *Code { return &Code{Name: name, text: text, weight: feed.Fatal} }

// InStrict has c reported by another name in strict mode.
func (c *Code) InStrict(name string) *Code {
	c.strict = name
	return c
}

// StrictOnly has c reported in strict mode only.
func (c *Code) StrictOnly() *Code {
	c.strictOnly = true
	return c
}

// Untagged has c stand without its field among the warnings of a record.
func (c *Code) Untagged() *Code {
	c.untagged = true
	return c
}

func (c *Code) discards(strict bool) bool {
	return c.weight == feed.Fatal || c.weight == feed.Repair && strict
}

// Violation returns a violation of c.
func (c *Code) Violation(line int, field, value string) feed.Violation {
	return feed.Violation{Line: line, Code: c.Name, Field: field, Text: c.Say(field, value), Weight: c.weight}
}

// Reject returns the error of a feed that is not read from that line on.
func (c *Code) Reject(line int) error {
	return &feed.RejectError{Line: line, Code: c.Name, Why: c.text}
}

// longestQuote is how much of a value is said, in octets.
const longestQuote = 100

// Say says c in words. The value is quoted, and cut if it is long.
func (c *Code) Say(field, value string) string {
	more := ""
	if len(value) > longestQuote {
		value, more = strings.ToValidUTF8(value[:longestQuote], ""), "..."
	}
	return strings.NewReplacer("{field}", field, "{value}", strconv.Quote(value)+more).Replace(c.text)
}
