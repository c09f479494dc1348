package indexpage

import (
	"strconv"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/internal/once"
)

var (
	// dates matches the dates of nginx and Apache (01-Oct-2026 12:00, 2026-10-01 12:00) and lighttpd (2026-Oct-01
	// 12:00:00).
	dates = once.Pattern(`(?:^|\s)(\d{1,2}-[A-Z][a-z]{2}-\d{4}|\d{4}-(?:\d{2}|[A-Z][a-z]{2})-\d{2})[ T]+` +
		`(\d{2}:\d{2}(?::\d{2})?)(?:\s|$)`)
	// sizes matches numbers with or without a unit. Only sizes in bytes are exact.
	sizes = once.Pattern(`^\s*(\d{1,18})(?: ?([KMGTPE]i?B?|B|[Bb]ytes))?(?:\s|$)`)
	// rounded matches a size as Caddy shows it, beside the exact size.
	rounded = once.Pattern(`^\s*\d+(?:\.\d+)? (?:[KMGTPE]i)?B\s*$`)
)

// timeFormat is the format of a date in HTTP (RFC 9110, section 5.6.7).
const timeFormat = "Mon, 02 Jan 2006 15:04:05 GMT"

// exact reports whether text is a rounded size and size, an attribute of its cell, is a number of bytes.
func exact(size, text string) bool {
	return size != "" && strings.Trim(size, "0123456789") == "" && rounded().MatchString(text)
}

// columns sets the date and the size of a row, if the row has them. The size follows a date in the text, or begins the
// text if the row has a machine-readable time.
func (d *Decoder) columns(r *row) {
	text := string(r.text)
	rest := text
	if r.time != "" {
		d.date(&r.Record, strings.TrimSpace(r.time), time.RFC3339)
	} else if m := dates().FindStringSubmatchIndex(text); m != nil {
		rest = text[m[1]-1:]
		d.date(&r.Record, text[m[2]:m[3]]+" "+text[m[4]:m[5]], "2-Jan-2006 15:04", "2006-01-02 15:04",
			"2006-Jan-02 15:04", "2-Jan-2006 15:04:05", "2006-01-02 15:04:05", "2006-Jan-02 15:04:05")
	}
	if r.LastModified == 0 {
		return // a number alone may be anything
	}
	if m := sizes().FindStringSubmatch(rest); m != nil && (m[2] == "" || m[2] == "B" || m[2] == "bytes" || m[2] == "Bytes") {
		r.Fields = append(r.Fields, feed.Field{Name: "size", Value: m[1]})
		r.Size, _ = strconv.ParseInt(m[1], 10, 64)
	}
}

// date sets the modification time of a record from a text in one of the forms, if the text has such a form.
func (d *Decoder) date(r *feed.Record, text string, forms ...string) {
	r.Fields = append(r.Fields, feed.Field{Name: "modified", Value: text})
	for _, form := range forms {
		if at, err := time.Parse(form, text); err == nil {
			r.LastModified = feed.At(at)
			return
		}
	}
	d.reading.Find(codeBadDate, 0, "modified", text)
}
