package hinadi

import (
	"strings"
	"testing"
	"time"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

func TestParseDate(t *testing.T) {
	const one feed.Time = 1794272400 // 2026-11-10 01:00:00 UTC
	for _, tt := range []struct {
		date string
		want feed.Time
		odd  string
	}{
		{"Tue, 10 Nov 2026 01:00:00 GMT", one, ""},
		{"Tue, 10 Nov 2026 10:00:00 JST", one, "date-zone-JST"},
		{"Tue, 10 Nov 2026 01:00:00 UTC", one, "date-zone-UTC"},
		{"Tue, 10 Nov 2026 10:30:00 +0930", one, "date-numeric-zone"},
		{"Mon, 9 Nov 2026 20:00:00 -0500", one, "date-one-digit-day date-numeric-zone"},
		{"Mon,  9 Nov 2026 01:00:00 GMT", one - 86400, "date-one-digit-day"},
		{"Tue, 10 Nov 2026 01:00:00", one, "date-no-zone"},
		{"Tuesday, 10-Nov-26 01:00:00 GMT", one, "date-rfc850"},
		{"Tuesday, 10-Nov-26 10:00:00 JST", one, "date-rfc850 date-zone-JST"},
		{"Wednesday, 31-Dec-69 00:00:00 GMT", 3155673600, "date-rfc850 date-wrong-weekday"},
		{"Sunday, 06-Nov-94 08:49:37 GMT", 784111777, "date-rfc850"},
		{"Tue Nov 10 01:00:00 2026", one, "date-asctime"},
		{"Sun Nov  6 08:49:37 1994", 784111777, "date-asctime"},
		{"Sun, 10 Nov 2026 01:00:00 GMT", one, "date-wrong-weekday"},
		{"Sun, 29 Feb 2032 00:00:00 GMT", 1961625600, ""},
		{"Thu, 01 Jan 1970 00:00:00 GMT", 0, "date-unknown"},
		{"Thu, 01 Jan 1970 09:00:00 JST", 0, "date-zone-JST date-unknown"},
		{"Tue, 01 Jan 1980 00:00:00 GMT", 0, "date-unknown"},
		{"Mon, 01 Jan 0001 00:00:00 GMT", -62135596800, ""},
		{"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799, ""},
	} {
		got, odd, ok := parseDate(tt.date)
		if got != tt.want || names(odd) != tt.odd || !ok {
			t.Errorf("%q: %d, %q, %v, want %d, %s", tt.date, got, names(odd), ok, tt.want, tt.odd)
		}
	}
	for _, s := range []string{
		"", "0", "-1", "now", "1794272400", "2026-11-10T01:00:00Z",
		"Tue, 31 Feb 2026 01:00:00 GMT", "Sun, 29 Feb 2026 00:00:00 GMT", "Tue, 00 Nov 2026 01:00:00 GMT",
		"Tue, 32 Dec 2026 01:00:00 GMT",
		"Tue, 10 nov 2026 01:00:00 GMT", "tue, 10 Nov 2026 01:00:00 GMT", "Tue, 10 Nov 2026 01:00:00 gmt",
		"Tue, 10 Nov 2026 01:00:00 EST",
		"Tue, 10 Nov 2026 24:00:00 GMT", "Tue, 10 Nov 2026 01:60:00 GMT", "Tue, 10 Nov 2026 01:00:60 GMT",
		"Tue, 10 Nov 26 01:00:00 GMT",
		"Tue, 10 Nov 02026 01:00:00 GMT", "Tue, 010 Nov 2026 01:00:00 GMT", "Tue, 10 Nov 2026 1:00:00 GMT",
		"Tue, 10 Nov 2026 01:00 GMT",
		"Tue, 10 Nov 2026 01:00:00 GMT ", " Tue, 10 Nov 2026 01:00:00 GMT", "Tue,10 Nov 2026 01:00:00 GMT",
		"Tue, 10  Nov 2026 01:00:00 GMT",
		"Tue, 10 Nov 2026 01:00:00 +09", "Tue, 10 Nov 2026 01:00:00 +0960", "Tue, 10 Nov 2026 01:00:00 ",
		"Tue, 10 Nov 0000 01:00:00 GMT",
		"Mon,  09 Nov 2026 01:00:00 GMT", "Tue, 1x Nov 2026 01:00:00 GMT", "Tuesday, 1-Nov-26 01:00:00 GMT",
		"Tue Nov 10 01:00:00 GMT 2026",
		"Tue Nov  0 01:00:00 2026", "Tue Nov 10 01:00:00 0000", "Tue, ", "Tue, 10", "Tue, 10 Nov 2026", "Tuesday, 10-Nov-26",
	} {
		if got, _, ok := parseDate(s); ok {
			t.Errorf("%q is %d", s, got)
		}
	}
}

func names(codes []*feedtext.Code) string {
	var list []string
	for _, c := range codes {
		list = append(list, c.Name)
	}
	return strings.Join(list, " ")
}

func TestFormatDate(t *testing.T) {
	for _, at := range []feed.Time{1, -1, 1794272400, -62135596800, 253402300799} {
		s, ok := formatDate(at)
		if back, odd, ok2 := parseDate(s); !ok || !ok2 || back != at || odd != nil {
			t.Errorf("%d is %q, which is %d, %q", at, s, back, names(odd))
		}
	}
	for _, at := range []feed.Time{0, -62135596801, 253402300800, 1<<63 - 1, -1 << 63} {
		if s, ok := formatDate(at); ok {
			t.Errorf("%d is %q", at, s)
		}
	}
}

// FuzzParseDate compares dates in the form of the grammar with those of package time, parsed and formatted.
func FuzzParseDate(f *testing.F) {
	f.Add("Tue, 10 Nov 2026 01:00:00 GMT")
	f.Add("Tuesday, 10-Nov-26 01:00:00 GMT")
	f.Add("Tue Nov 10 01:00:00 2026")
	f.Fuzz(func(t *testing.T, s string) {
		got, odd, ok := parseDate(s)
		want, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", s)
		known := err == nil && want.Year() > 0 && want.Unix() != 0 && want.Unix() != int64(wdbEpoch)
		if ok && odd == nil && (!known || got != feed.Time(want.Unix())) {
			t.Errorf("%q is %d, which package time takes for %v, %v", s, got, want, err)
		}
		if known && len(s) == 29 && want.Format("Mon, 02 Jan 2006 15:04:05 GMT") == s && (!ok || odd != nil) {
			t.Errorf("%q is %v, %q", s, ok, names(odd))
		}
		if written, ok2 := formatDate(got); ok && ok2 {
			if back, odd, _ := parseDate(written); back != got || odd != nil {
				t.Errorf("%q is %d, written %q", s, got, written)
			}
		}
	})
}
