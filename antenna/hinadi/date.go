package hinadi

import (
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// wdbEpoch is the time that WDB writes for an unknown time (repair H10).
const wdbEpoch feed.Time = 315532800

// A dateForm is a form of dates: the separator after the day of the week, the layout of the rest, and the position of
// the month in the rest.
type dateForm struct {
	separator, layout string
	month             int
	odd               *feedtext.Code
}

var dateForms = []dateForm{
	{", ", "02 Jan 2006 15:04:05", 3, nil},
	{", ", "2 Jan 2006 15:04:05", 2, dateOneDigit},
	{", ", "_2 Jan 2006 15:04:05", 3, dateOneDigit}, // a space instead of the zero
	{", ", "02-Jan-06 15:04:05", 3, dateRFC850},     // RFC 2616, section 3.3.1
	{" ", "Jan 02 15:04:05 2006", 0, dateAsctime},
	{" ", "Jan _2 15:04:05 2006", 0, dateAsctime},
}

// ParseDate parses an rfc1123-date (section 5.7), or another form of dates that agents write. For an unknown time it
// returns 0.
func ParseDate(s string) (t feed.Time, ok bool) {
	t, _, ok = parseDate(s)
	return t, ok
}

// parseDate is like ParseDate, and also returns the deviations from section 5.7.
func parseDate(s string) (t feed.Time, odd []*feedtext.Code, ok bool) {
	for i := range dateForms {
		if t, odd, ok = dateForms[i].parse(s); ok {
			break
		}
	}
	if ok && (t == 0 || t == wdbEpoch) {
		return 0, append(odd, dateNoTime), true
	}
	return t, odd, ok
}

func (f *dateForm) parse(s string) (t feed.Time, odd []*feedtext.Code, ok bool) {
	day, rest, ok := strings.Cut(s, f.separator)
	if !ok || len(rest) < len(f.layout) {
		return 0, nil, false
	}
	date, zone := rest[:len(f.layout)], rest[len(f.layout):]
	at, err := time.Parse(f.layout, date)
	if err != nil || at.Month().String()[:3] != date[f.month:f.month+3] || at.Year() < 1 { // time.Parse ignores case
		return 0, nil, false
	}
	if f.odd == dateRFC850 && at.Year() == 1969 { // package time takes a year 69 for 1969
		at = at.AddDate(100, 0, 0)
	}
	if f.odd != nil {
		odd = append(odd, f.odd)
	}
	east := 0
	if f.odd != dateAsctime {
		var code *feedtext.Code
		if east, code, ok = parseZone(zone); code != nil {
			odd = append(odd, code)
		}
	} else if ok = zone == ""; !ok {
		return 0, nil, false
	}
	if day != f.weekday(at.Weekday()) {
		if !f.isWeekday(day) {
			return 0, nil, false
		}
		odd = append(odd, dateWrongDay)
	}
	return feed.Time(at.Unix() - int64(east)), odd, ok
}

// weekday returns the name of a day of the week in the form f.
func (f *dateForm) weekday(d time.Weekday) string {
	if f.odd == dateRFC850 {
		return d.String()
	}
	return d.String()[:3]
}

func (f *dateForm) isWeekday(s string) bool {
	for d := range time.Weekday(7) {
		if s == f.weekday(d) {
			return true
		}
	}
	return false
}

// parseZone parses the text after the time of day and returns seconds east of GMT. A missing zone means GMT, because a
// wrong guess to the east would give a time in the future.
func parseZone(s string) (east int, odd *feedtext.Code, ok bool) {
	switch s {
	case " GMT":
		return 0, nil, true
	case " UTC":
		return 0, dateUTC, true
	case " JST":
		return 9 * 3600, dateJST, true
	case "":
		return 0, dateNoZone, true
	}
	at, err := time.Parse(" -0700", s)
	_, east = at.Zone()
	return east, dateNumeric, err == nil && (at.Format(" -0700") == s || east == 0)
}

// formatDate returns t as an rfc1123-date. ok is false for 0, and for years outside of 1 to 9999.
func formatDate(t feed.Time) (s string, ok bool) {
	at := time.Unix(int64(t), 0).UTC()
	if t == 0 || t < -62135596800 || t > 253402300799 {
		return "", false
	}
	return at.Format("Mon, 02 Jan 2006 15:04:05") + " GMT", true
}
