package hinadi

import (
	"slices"
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

var (
	weekdays = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	longDays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	months   = []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
)

// wdbEpoch is what WDB writes for a time that it does not know (repair H10).
const wdbEpoch feed.Time = 315532800

// A moment is a date that is being read.
type moment struct {
	weekday        int
	year, month    int
	day            int
	hour, min, sec int
	east           int // seconds
	odd            []string
}

// ParseDate reads an rfc1123-date (section 5.7), or one of the forms that agents write instead; odd says in which way it is
// one of those. A date that stands for no known moment is 0.
func ParseDate(s string) (t feed.Time, odd []string, ok bool) {
	var m moment
	if !m.consumeRFC1123(s) && !m.consumeRFC850(s) && !m.consumeAsctime(s) {
		return 0, nil, false
	}
	at := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.min, m.sec, 0, time.UTC)
	if at.Day() != m.day {
		return 0, nil, false
	}
	if int(at.Weekday()) != m.weekday {
		m.odd = append(m.odd, dateWrongDay)
	}
	t = feed.Time(at.Unix() - int64(m.east))
	if t == 0 || t == wdbEpoch {
		return 0, append(m.odd, dateNoTime), true
	}
	return t, m.odd, true
}

// FormatDate writes t as an rfc1123-date. Beyond the years 1 to 9999 there is none.
func FormatDate(t feed.Time) (s string, ok bool) {
	at := time.Unix(int64(t), 0).UTC()
	if t == 0 || t < -62135596800 || t > 253402300799 {
		return "", false
	}
	return at.Format("Mon, 02 Jan 2006 15:04:05") + " GMT", true
}

// consumeRFC1123 reads Mon, 02 Jan 2006 15:04:05 GMT.
func (m *moment) consumeRFC1123(s string) bool {
	*m = moment{}
	day, rest, ok := strings.Cut(s, ", ")
	if m.weekday = slices.Index(weekdays, day); !ok || m.weekday < 0 {
		return false
	}
	if rest, ok = m.consumeDay(rest); !ok {
		return false
	}
	if len(rest) < 9 || rest[3] != ' ' || rest[8] != ' ' {
		return false
	}
	return m.setMonth(rest[:3]) && number(rest[4:8], &m.year) && m.consumeClock(rest[9:]) && m.year > 0
}

// consumeDay reads the day of the month and the blank behind it.
func (m *moment) consumeDay(s string) (rest string, ok bool) {
	digits, rest, ok := strings.Cut(strings.TrimPrefix(s, " "), " ") // a blank may stand for the zero
	want := 2
	if s[:min(1, len(s))] == " " || len(digits) == 1 {
		m.odd = append(m.odd, dateOneDigit)
		want = 1
	}
	return rest, ok && len(digits) == want && number(digits, &m.day) && m.day > 0
}

// consumeRFC850 reads Monday, 02-Jan-06 15:04:05 GMT (RFC 2616, section 3.3.1).
func (m *moment) consumeRFC850(s string) bool {
	*m = moment{odd: []string{dateRFC850}}
	day, rest, ok := strings.Cut(s, ", ")
	if m.weekday = slices.Index(longDays, day); !ok || m.weekday < 0 {
		return false
	}
	if len(rest) < 10 || rest[2] != '-' || rest[6] != '-' || rest[9] != ' ' {
		return false
	}
	if !number(rest[:2], &m.day) || m.day == 0 || !m.setMonth(rest[3:6]) || !number(rest[7:9], &m.year) {
		return false
	}
	m.year += 2000
	if m.year >= 2070 {
		m.year -= 100
	}
	return m.consumeClock(rest[10:])
}

// consumeAsctime reads Mon Jan _2 15:04:05 2006, which has no zone.
func (m *moment) consumeAsctime(s string) bool {
	*m = moment{}
	if len(s) != 24 || s[3] != ' ' || s[7] != ' ' || s[10] != ' ' || s[19] != ' ' {
		return false
	}
	m.weekday = slices.Index(weekdays, s[:3])
	if m.weekday < 0 || !m.setMonth(s[4:7]) || !number(strings.TrimPrefix(s[8:10], " "), &m.day) || m.day == 0 {
		return false
	}
	ok := number(s[20:], &m.year) && m.year > 0 && m.consumeClock(s[11:19])
	m.odd = []string{dateAsctime}
	return ok
}

func (m *moment) setMonth(name string) bool {
	m.month = slices.Index(months, name) + 1
	return m.month > 0
}

// consumeClock reads 15:04:05 and the zone behind it, which is the end.
func (m *moment) consumeClock(s string) bool {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return false
	}
	if !number(s[:2], &m.hour) || !number(s[3:5], &m.min) || !number(s[6:8], &m.sec) {
		return false
	}
	return m.hour < 24 && m.min < 60 && m.sec < 60 && m.setZone(s[8:])
}

// setZone reads what follows the clock. Without a zone it is GMT: a wrong guess the other way would lie in the future.
func (m *moment) setZone(s string) bool {
	switch s {
	case " GMT":
	case " UTC":
		m.odd = append(m.odd, dateZone+"UTC")
	case " JST":
		m.odd = append(m.odd, dateZone+"JST")
		m.east = 9 * 3600
	case "":
		m.odd = append(m.odd, dateNoZone)
	default:
		return m.setNumericZone(s)
	}
	return true
}

// setNumericZone reads +0900.
func (m *moment) setNumericZone(s string) bool {
	var hours, minutes int
	if len(s) != 6 || s[0] != ' ' || s[1] != '+' && s[1] != '-' || !number(s[2:4], &hours) || !number(s[4:], &minutes) || minutes >= 60 {
		return false
	}
	m.odd = append(m.odd, dateNumeric)
	m.east = hours*3600 + minutes*60
	if s[1] == '-' {
		m.east = -m.east
	}
	return true
}

// number reads a decimal number of a few digits.
func number(s string, n *int) bool {
	*n = 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		*n = 10**n + int(s[i]-'0')
	}
	return s != ""
}
