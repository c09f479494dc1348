package news

import (
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/internal/feedtext"
)

// zones maps time zone names of RFC 822, section 5.1, to hours. Package time interprets other names depending on the
// machine, and gofeed knows a few more.
var zones = map[string]int{
	"UT": 0, "GMT": 0, "UTC": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}

// more lists other words at the end of a date that gofeed reads correctly.
var more = []string{"WET", "WEST", "BST", "CET", "CEST", "EET", "EEST", "AM", "PM"}

// readDate parses a time of an item: in the format of the feed (RFC 3339, in RSS also RFC 822), in a format of
// antennas, or as parsed by gofeed. code is the irregularity found, if any.
func readDate(kind, text string, parsed *time.Time) (t feed.Time, code *feedtext.Code, ok bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return feed.At(at), nil, true
	}
	if t, day, ok := read822(text); ok {
		switch {
		case kind != "rss":
			code = codeDateForm
		case !day:
			code = codeWeekday
		}
		return t, code, true
	}
	if t, ok := hinadi.ParseDate(text); ok && t != 0 {
		return t, codeDateForm, true
	}
	last := strings.ToUpper(text[strings.LastIndexByte(text, ' ')+1:])
	_, known := zones[last]
	letters := strings.Trim(last, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	if parsed == nil || letters && !known && !slices.Contains(more, last) {
		return 0, nil, false
	}
	return feed.At(*parsed), codeDateForm, true
}

// read822 parses a date of RFC 822, section 5, with a year of two or four digits. day reports whether the day of the
// week, if present, is correct.
func read822(text string) (t feed.Time, day, ok bool) {
	weekday, rest, found := strings.Cut(text, ",")
	if found = found && len(weekday) == 3; found {
		text = strings.TrimLeft(rest, " ")
	}
	i := strings.LastIndexByte(text, ' ')
	if i < 0 {
		return 0, false, false
	}
	hours, named := zones[strings.ToUpper(text[i+1:])]
	if named {
		text = text[:i] + " +0000"
	}
	for _, form := range []string{"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700", "2 Jan 06 15:04:05 -0700",
		"2 Jan 06 15:04 -0700"} {
		if at, err := time.Parse(form, text); err == nil {
			day = !found || strings.EqualFold(weekday, at.Format("Mon"))
			return feed.At(at.Add(-time.Duration(hours) * time.Hour)), day, true
		}
	}
	return 0, false, false
}

// forms lists the forms of W3C-DTF, which is the date format of sitemaps, and other forms in use, with their codes.
var forms = []struct {
	form string
	code *feedtext.Code
}{
	{time.RFC3339, nil}, {"2006-01-02T15:04Z07:00", nil}, {"2006-01-02T15:04:05.999999999Z07:00", nil},
	{"2006-01-02", codeDay}, {"2006-01", codeDay}, {"2006", codeDay},
	{"2006-01-02T15:04:05", codeNoZone}, {"2006-01-02T15:04", codeNoZone},
	{"2006-01-02T15:04:05Z0700", codeDateForm}, {"2006-01-02 15:04:05Z07:00", codeDateForm},
	{"2006-01-02 15:04:05", codeNoZone},
}

// readW3C parses a date of a sitemap. A date without a time means the beginning of that day in UTC.
func readW3C(text string) (t feed.Time, code *feedtext.Code, ok bool) {
	for _, f := range forms {
		if at, err := time.Parse(f.form, text); err == nil {
			return feed.At(at), f.code, true
		}
	}
	return 0, nil, false
}
