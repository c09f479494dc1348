package lirs

import (
	"slices"
	"strconv"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// prefix is the beginning of every record.
const prefix = "LIRS,"

// The standard fields in their order.
const (
	lastModified = iota
	lastDetected
	timezone
	contentLength
	siteURL
	title
	author
	antennaURL
	standard // number of standard fields
)

var names = [standard]string{
	"last_modified", "last_detected", "timezone", "content_length", "url", "title", "author", "antenna_url",
}

// wdbEpoch is 1980, which WDB writes for an unknown time (repair L9).
const wdbEpoch = 315532800

func (d *Decoder) record(l feedtext.Line) (feed.Record, bool) {
	end := l.End
	text, clean := d.reading.Decode(d.lines, l, codeNotEUC, codeNotEUC) // first: a byte of Shift_JIS may look like a backslash
	d.reading.Forget()
	if !clean {
		d.find(codeUndecodable, "", "")
	}
	r := feed.Record{Format: feed.LIRS, Line: l.Number}
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		if end == feedtext.NoLineEnd {
			d.end = feed.Cut
		}
		d.find(codeNoHeader, "", "")
		return d.judge(r)
	}
	closed := d.split(rest, clean)
	switch {
	case end == feedtext.NoLineEnd && !closed: // other errors are uncertain
		d.end = feed.Cut
		d.reading.Forget()
		d.find(codeTruncated, "", "")
		return d.judge(r)
	case end == feedtext.NoLineEnd:
		d.find(codeNoLineEnd, "", "")
	case !closed:
		d.find(codeNoComma, "", "")
	}
	p := d.pieces
	if len(p) > contentLength && isZone(p[timezone]) && feed.IsURI(p[contentLength]) { // as by WDB (repair L4)
		d.find(codeNoLength, "", "")
		p = slices.Insert(p, contentLength, "0")
		d.pieces = p
	}
	if len(p) < standard {
		d.find(codeTooFew, "", strconv.Itoa(len(p)))
		return d.judge(r)
	}
	d.fill(&r, p)
	return d.judge(r)
}

func (d *Decoder) judge(r feed.Record) (feed.Record, bool) {
	ok := d.reading.Judge(&r, r.URL)
	return r, ok
}

func (d *Decoder) find(code *feedtext.Code, field, value string) {
	d.reading.Find(code, 0, field, value)
}

// split splits s into d.pieces at the commas and removes the escapes. closed reports whether a comma ends the last
// piece. clean is false if decoding has added backslashes to s.
func (d *Decoder) split(s string, clean bool) (closed bool) {
	d.pieces = d.pieces[:0]
	escaped := strings.IndexByte(s, '\\') >= 0
	for {
		comma := strings.IndexByte(s, ',')
		if escaped {
			comma = unescapedComma(s)
		}
		if comma < 0 {
			break
		}
		d.pieces = append(d.pieces, d.unescape(s[:comma], clean))
		s = s[comma+1:]
	}
	if s == "" {
		return true
	}
	d.pieces = append(d.pieces, d.unescape(s, clean))
	return false
}

// unescapedComma returns the index of the first comma that ends a field, or -1.
func unescapedComma(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// unescape removes the escapes from a field. A backslash before a character other than a comma or a backslash comes
// from an agent that does not escape, and is kept (repair L6).
func (d *Decoder) unescape(s string, clean bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i+1 < len(s) && (s[i+1] == ',' || s[i+1] == '\\') {
				i++
			} else if clean {
				d.find(codeBadEscape, "", s)
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// fill sets r from the fields of a record.
func (d *Decoder) fill(r *feed.Record, p []string) {
	r.LastModified = feed.Time(d.time(p, lastModified))
	r.Detected = feed.Time(d.time(p, lastDetected))
	r.Zone = d.number(p, timezone)
	r.Size = d.number(p, contentLength)
	r.URL = d.text(p, siteURL)
	if !feed.IsURI(r.URL) || len(r.URL) > feed.MaxURL {
		d.find(codeBadURL, "", p[siteURL])
	} else if _, watchable := feed.Key(r.URL); !watchable {
		d.find(codeNotWatchable, "", "")
	}
	r.Title = d.text(p, title)
	r.Author = d.text(p, author)
	r.AgentURL = d.text(p, antennaURL)
	if r.AgentURL != "" && !feed.IsURI(r.AgentURL) {
		d.find(codeSuspect, "", r.AgentURL)
	}
	if r.Detected != 0 && r.LastModified > r.Detected {
		d.find(codeInverted, "", "")
	}
	r.Failed = r.LastModified == 0 && r.Detected == 0
	for _, value := range p[standard:] {
		r.Fields = append(r.Fields, feed.Field{Value: value})
	}
}

// text returns a field, or "" for 0, which means no value. Some agents leave the field empty instead (repair L5).
func (d *Decoder) text(p []string, i int) string {
	switch p[i] {
	case "":
		d.find(codeEmpty, names[i], "")
	case "0":
	default:
		return p[i]
	}
	return ""
}

func (d *Decoder) number(p []string, i int) int64 {
	s := d.text(p, i)
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || !feedtext.IsNumber(s) && (i != timezone || !isZone(s)) {
		d.find(codeBadNumber, names[i], s)
		return 0
	}
	return n
}

// time returns a field with a time, or 0 if the time is unknown (repair L9).
func (d *Decoder) time(p []string, i int) int64 {
	t := d.number(p, i)
	if t == wdbEpoch {
		d.find(codeUnknownTime, names[i], "")
		return 0
	}
	return t
}

// isZone reports whether s is a number with or without a sign.
func isZone(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return feedtext.IsNumber(s)
}
