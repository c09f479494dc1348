package hinadi

import (
	"strings"
	"time"

	"braid/antenna/feed"
)

// The ways in which a date can differ from the grammar and still be read (repairs H4 and H5). A zone has its name in the code.
const (
	dateOneDigit   = "date-one-digit-day"
	dateZone       = "date-zone-" // JST or UTC
	dateNumeric    = "date-numeric-zone"
	dateNoZone     = "date-no-zone"
	dateRFC850     = "date-rfc850"
	dateAsctime    = "date-asctime"
	dateWrongDay   = "date-wrong-weekday"
	dateNoTime     = "date-unknown" // the day that agents write when they do not know
	dateStrictCode = "date-format"
)

// wdbEpoch is what WDB writes for a time that it does not know (repair H10).
const wdbEpoch feed.Time = 315532800

// A dateForm is one in which dates are written: what separates the day of the week from the rest, the layout of that, and where the month is in it.
type dateForm struct {
	separator, layout string
	month             int
	odd               string
}

var dateForms = []dateForm{
	{", ", "02 Jan 2006 15:04:05", 3, ""},
	{", ", "2 Jan 2006 15:04:05", 2, dateOneDigit},
	{", ", "_2 Jan 2006 15:04:05", 3, dateOneDigit}, // a blank stands for the zero
	{", ", "02-Jan-06 15:04:05", 3, dateRFC850},     // RFC 2616, section 3.3.1
	{" ", "Jan 02 15:04:05 2006", 0, dateAsctime},
	{" ", "Jan _2 15:04:05 2006", 0, dateAsctime},
}

// ParseDate reads an rfc1123-date (section 5.7), or one of the forms that agents write instead; odd says in which way it is
// one of those. A date that stands for no known moment is 0.
func ParseDate(s string) (t feed.Time, odd []string, ok bool) {
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

func (f *dateForm) parse(s string) (t feed.Time, odd []string, ok bool) {
	day, rest, ok := strings.Cut(s, f.separator)
	if !ok || len(rest) < len(f.layout) {
		return 0, nil, false
	}
	date, zone := rest[:len(f.layout)], rest[len(f.layout):]
	at, err := time.Parse(f.layout, date)
	if err != nil || at.Month().String()[:3] != date[f.month:f.month+3] || at.Year() < 1 { // package time reads months in any letter case
		return 0, nil, false
	}
	if f.odd == dateRFC850 && at.Year() == 1969 { // for package time the century begins a year earlier
		at = at.AddDate(100, 0, 0)
	}
	if f.odd != "" {
		odd = append(odd, f.odd)
	}
	east := 0
	if f.odd != dateAsctime {
		var code string
		if east, code, ok = parseZone(zone); code != "" {
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

// weekday returns a day of the week as f has it.
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

// parseZone reads what follows the clock, in seconds east. Without a zone it is GMT: a wrong guess the other way would lie in the future.
func parseZone(s string) (east int, odd string, ok bool) {
	switch s {
	case " GMT":
		return 0, "", true
	case " UTC":
		return 0, dateZone + "UTC", true
	case " JST":
		return 9 * 3600, dateZone + "JST", true
	case "":
		return 0, dateNoZone, true
	}
	at, err := time.Parse(" -0700", s)
	_, east = at.Zone()
	return east, dateNumeric, err == nil && (at.Format(" -0700") == s || east == 0)
}

// FormatDate writes t as an rfc1123-date. Beyond the years 1 to 9999 there is none.
func FormatDate(t feed.Time) (s string, ok bool) {
	at := time.Unix(int64(t), 0).UTC()
	if t == 0 || t < -62135596800 || t > 253402300799 {
		return "", false
	}
	return at.Format("Mon, 02 Jan 2006 15:04:05") + " GMT", true
}
