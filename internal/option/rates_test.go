package option

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func TestRatesWritten(t *testing.T) {
	for word, want := range map[string]string{
		"2M": "2097152", "0": "0", "09:00-17:00 2M, 20M": "09:00-17:00 2097152, 20971520", "9:00-17:00 1K": "09:00-17:00 1024",
		" 22:00-06:00   1G ,00:00-24:00 5K": "22:00-06:00 1073741824, 5120",
		"17:00-24:00 0, 1M":                 "17:00-24:00 0, 1048576", "22:00-00:00 1K": "22:00-00:00 1024",
		"00:00-00:01 1K,23:59-24:00 2K": "00:00-00:01 1024, 23:59-24:00 2048",
	} {
		var v, again RatesValue
		if err := v.Set(word); err != nil || v.String() != want {
			t.Errorf("%q is %q, %v, want %q", word, v, err, want)
		}
		if err := again.Set(v.String()); err != nil || again.String() != want {
			t.Errorf("%q: %v", v, err)
		}
	}
	for word, want := range map[string]string{
		"": "write a rate", ",": "write a rate", "2M,": "write a rate", "quick": "write a number of bytes",
		"-1": "write a number of bytes", "1M 2M 3M": "write a rate",
		"09:00-17:00": "write a number of bytes", "24:00-01:00 1M": "write times of day",
		"09:00-24:01 1M": "write times of day", "09:60-10:00 1M": "write times of day",
		"09:00 1M": "write times of day", "9-17 1M": "write times of day",
		"09:00-17:00 fast": "write a number of bytes", "+9:00-17:00 1M": "write times of day",
		"1K, 1K 1M": "1K 1M: write times of day", "09:00-17:00 1K, 9-10 5K": "9-10 5K: write times of day",
		"009:00-17:00 1M": "write times of day", "09:0-17:00 1M": "write times of day",
		"-17:00 1M": "write times of day", "09:00-17:00-18:00 1M": "write times of day",
		"09:00-09:00 1M": "ends when it begins", "1M, 2M": "2M: times after", "1M, 09:00-17:00 2M": "have no effect",
		"00:00-24:00 1M, 2M":                                 "have no effect",
		"09:00-17:00 2M, 12:00-13:00 1M":                     "12:00-13:00 1M: earlier ranges cover",
		"22:00-06:00 1M, 06:00-10:00 1M, 05:30-07:00 2M, 5M": "05:30-07:00 2M: earlier ranges cover",
	} {
		var v RatesValue
		if err := v.Set(word); err == nil || !strings.Contains(err.Error(), want) || v.Any() {
			t.Errorf("%q: %v, want %s", word, err, want)
		}
	}
}

// The rate and its next change, over midnight and on the days of clock changes.
func TestRatesAt(t *testing.T) {
	const layout = "2006-01-02 15:04:05 -0700"
	for _, tt := range []struct {
		zone, rates, at string
		rate            int64
		until           string // empty: never
	}{
		{"UTC", "", "2026-05-05 12:00:00 +0000", 0, ""},
		{"UTC", "1K", "2026-05-05 12:00:00 +0000", 1, ""},
		{"UTC", "09:00-17:00 2K, 20K", "2026-05-05 08:59:59 +0000", 20, "2026-05-05 09:00:00 +0000"},
		{"UTC", "09:00-17:00 2K, 20K", "2026-05-05 09:00:00 +0000", 2, "2026-05-05 17:00:00 +0000"},
		{"UTC", "09:00-17:00 2K, 20K", "2026-05-05 17:00:00 +0000", 20, "2026-05-06 09:00:00 +0000"},
		{"UTC", "09:00-17:00 2K", "2026-05-05 18:00:00 +0000", 0, "2026-05-06 09:00:00 +0000"},
		{"UTC", "09:00-17:00 0, 20K", "2026-05-05 09:30:00 +0000", 0, "2026-05-05 17:00:00 +0000"},
		{"UTC", "22:00-06:00 9K, 1K", "2026-12-31 23:59:59 +0000", 9, "2027-01-01 06:00:00 +0000"},
		{"UTC", "22:00-06:00 9K, 1K", "2027-01-01 05:59:59 +0000", 9, "2027-01-01 06:00:00 +0000"},
		{"UTC", "17:00-24:00 9K, 1K", "2026-05-05 23:59:59 +0000", 9, "2026-05-06 00:00:00 +0000"},
		{"UTC", "17:00-00:00 9K, 1K", "2026-05-05 23:59:59 +0000", 9, "2026-05-06 00:00:00 +0000"},
		{"UTC", "00:00-24:00 9K", "2026-05-05 00:00:00 +0000", 9, ""},
		// no change between
		{"UTC", "12:00-13:00 9K, 09:00-17:00 9K, 1K", "2026-05-05 10:00:00 +0000", 9, "2026-05-05 17:00:00 +0000"},
		// the first counts
		{"UTC", "12:00-13:00 5K, 09:00-17:00 9K, 1K", "2026-05-05 12:30:00 +0000", 5, "2026-05-05 13:00:00 +0000"},
		{"UTC", "09:00-17:00 2K, 2K", "2026-05-05 09:30:00 +0000", 2, ""},
		// Forward: 02:00 is 03:00. The day has 23 hours, and one range does not exist.
		{"Europe/Berlin", "09:00-17:00 2K, 20K", "2026-03-28 18:00:00 +0100", 20, "2026-03-29 09:00:00 +0200"},
		{"Europe/Berlin", "02:15-02:45 2K, 20K", "2026-03-29 01:30:00 +0100", 20, "2026-03-30 02:15:00 +0200"},
		{"Europe/Berlin", "02:30-04:00 2K, 20K", "2026-03-29 01:30:00 +0100", 20, "2026-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "01:00-02:30 2K, 20K", "2026-03-29 01:30:00 +0100", 2, "2026-03-29 03:00:00 +0200"},
		// Back: 03:00 is 02:00. One hour occurs twice.
		{"Europe/Berlin", "09:00-17:00 2K, 20K", "2026-10-24 18:00:00 +0200", 20, "2026-10-25 09:00:00 +0100"},
		{"Europe/Berlin", "02:00-03:00 2K, 20K", "2026-10-25 02:30:00 +0200", 2, "2026-10-25 03:00:00 +0100"},
		{"Europe/Berlin", "02:15-02:45 2K, 20K", "2026-10-25 02:50:00 +0200", 20, "2026-10-25 02:15:00 +0100"},
		{"Europe/Berlin", "01:00-02:30 2K, 20K", "2026-10-25 02:45:00 +0200", 20, "2026-10-25 02:00:00 +0100"},
		{"Europe/Berlin", "01:00-02:30 2K, 20K", "2026-10-25 02:00:00 +0100", 2, "2026-10-25 02:30:00 +0100"},
		// A clock change of half an hour, and an offset with a quarter of an hour.
		{"Australia/Lord_Howe", "01:45-02:15 2K, 20K", "2026-04-05 01:50:00 +1100", 2, "2026-04-05 01:30:00 +1030"},
		{"Asia/Kathmandu", "09:00-17:00 2K, 20K", "2026-05-05 08:00:00 +0545", 20, "2026-05-05 09:00:00 +0545"},
	} {
		zone, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(layout, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		var v RatesValue
		if tt.rates != "" && v.Set(tt.rates) != nil {
			t.Fatal(tt.rates)
		}
		rate, until := v.At(at.In(zone))
		got := ""
		if !until.IsZero() {
			got = until.Format(layout)
		}
		if rate != tt.rate<<10 || got != tt.until {
			t.Errorf("%s, %q at %s: %d until %s, want %d until %s", tt.zone, tt.rates, tt.at, rate>>10, got, tt.rate, tt.until)
		}
	}
}

// FuzzRates: each change changes the rate, none is earlier, and the written form has the same meaning.
func FuzzRates(f *testing.F) {
	for _, seed := range []string{"09:00-17:00 2M, 20M", "22:00-06:00 1K, 05:00-23:00 2K, 3K", "00:00-24:00 1K",
		"02:15-02:45 2K"} {
		f.Add(seed, int64(1774747800), uint16(100))
		f.Add(seed, int64(1792890000), uint16(500))
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, at int64, later uint16) {
		var v, again RatesValue
		if v.Set(s) != nil {
			return
		}
		if err := again.Set(v.String()); err != nil {
			t.Fatalf("%q: %v", v, err)
		}
		now := time.Unix(at%(1<<33), 0).In(zone)
		rate, until := v.At(now)
		other, same := again.At(now)
		if rate != other || !until.Equal(same) {
			t.Fatalf("%q: %d until %v, then %d until %v", s, rate, until, other, same)
		}
		if !until.IsZero() {
			if next, _ := v.At(until); next == rate || !until.After(now) {
				t.Fatalf("%q at %v: no change at %v", s, now, until)
			}
		}
		if at := now.Add(time.Duration(later) * time.Minute); until.IsZero() && later < 2*24*60 || at.Before(until) {
			if r, _ := v.At(at); r != rate {
				t.Fatalf("%q at %v: %d, and %d at %v", s, now, rate, r, at)
			}
		}
	})
}
