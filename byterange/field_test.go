package byterange

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestParseContentRange_Rule13 checks that ParseContentRange refuses every value that is not exactly a valid
// Content-Range (rule 13).
func TestParseContentRange_Rule13(t *testing.T) {
	for _, tt := range []struct {
		v    string
		want ContentRange
		err  string // part of the error; "" for none
	}{
		{"bytes 0-499/1234", ContentRange{Range{0, 500}, 1234}, ""},
		{"bytes 500-1233/1234", ContentRange{Range{500, 1234}, 1234}, ""},
		{"bytes 0-0/1", ContentRange{Range{0, 1}, 1}, ""},
		{"bytes 42-1233/*", ContentRange{Range{42, 1234}, -1}, ""},
		{"Bytes 0-499/1234", ContentRange{Range{0, 500}, 1234}, ""},
		{"bytes 00-0499/01234", ContentRange{Range{0, 500}, 1234}, ""},
		{"bytes 0-9223372036854775804/9223372036854775806", ContentRange{Range{0, Unbounded - 2}, Unbounded - 1}, ""},

		{"bytes 499-0/1234", ContentRange{}, "last position before first"},
		{"bytes 0-1234/1234", ContentRange{}, "beyond size"},
		{"bytes 0-0/0", ContentRange{}, "beyond size"},
		{"bytes 0-9223372036854775806/9223372036854775807", ContentRange{}, "too large"},
		{"bytes 0-9223372036854775806/*", ContentRange{}, "too large"},
		{"bytes 0-499/9223372036854775807", ContentRange{}, "too large"},
		{"bytes 0-18446744073709551616/*", ContentRange{}, "too large"},
		{"bytes 18446744073709551616-18446744073709551617/*", ContentRange{}, "too large"},
		{"bytes 0-499/18446744073709552850", ContentRange{}, "too large"},

		{"", ContentRange{}, "offset 0: want unit"},
		{"bytes", ContentRange{}, "offset 0: want unit"},
		{"bytes ", ContentRange{}, "offset 6: want first"},
		{"bytes=0-499/1234", ContentRange{}, "offset 0: want unit"},
		{"bytes\t0-499/1234", ContentRange{}, "offset 0: want unit"},
		{"pages 0-499/1234", ContentRange{}, "offset 0: want unit"},
		{"0-499/1234", ContentRange{}, "offset 0: want unit"},
		{" bytes 0-499/1234", ContentRange{}, "offset 0: want unit"},
		{"bytes  0-499/1234", ContentRange{}, "offset 6: want first"},
		{"bytes 0-499/1234 ", ContentRange{}, "offset 16: want / and the size"},
		{"bytes 0 -499/1234", ContentRange{}, "offset 7: want first"},
		{"bytes 0- 499/1234", ContentRange{}, "offset 8: want first"},
		{"bytes 0-499 /1234", ContentRange{}, "offset 11: want / and the size"},
		{"bytes 0-499/ 1234", ContentRange{}, "offset 12: want / and the size"},
		{"bytes -500/1234", ContentRange{}, "offset 6: want first"},
		{"bytes 500-/1234", ContentRange{}, "offset 10: want first"},
		{"bytes +0-499/1234", ContentRange{}, "offset 6: want first"},
		{"bytes 0-499", ContentRange{}, "offset 11: want / and the size"},
		{"bytes 0-499/", ContentRange{}, "offset 12: want / and the size"},
		{"bytes 0-499/-1", ContentRange{}, "offset 12: want / and the size"},
		{"bytes 0-499/*4", ContentRange{}, "offset 13: want / and the size"},
		{"bytes 0-499/0x4d2", ContentRange{}, "offset 13: want / and the size"},
		{"bytes */1234", ContentRange{}, "offset 6: want first"},
		{"bytes 0-1/9,2-3/9", ContentRange{}, "offset 11: want / and the size"},
		{"bytes 0-1,2-3/9", ContentRange{}, "offset 9: want / and the size"},
		{"bytes \u0660-\u0664/9", ContentRange{}, "offset 6: want first"},
	} {
		got, err := ParseContentRange(tt.v)
		checkParse(t, tt.v, err, tt.err)
		if got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.v, got, tt.want)
		}
	}
}

func TestParseUnsatisfied(t *testing.T) {
	for _, tt := range []struct {
		v    string
		want int64
		err  string
	}{
		{"bytes */1234", 1234, ""},
		{"BYTES */0", 0, ""},
		{"bytes */9223372036854775806", Unbounded - 1, ""},
		{"bytes */9223372036854775807", 0, "too large"},
		{"bytes */*", 0, "offset 8: want the size"},
		{"bytes */", 0, "offset 8: want the size"},
		{"bytes */12 ", 0, "offset 10: want the size"},
		{"bytes 0-499/1234", 0, "offset 6: want */"},
		{"pages */1234", 0, "offset 0: want unit"},
		{"", 0, "offset 0: want unit"},
	} {
		got, err := ParseUnsatisfied(tt.v)
		checkParse(t, tt.v, err, tt.err)
		if got != tt.want {
			t.Errorf("%q: %d, want %d", tt.v, got, tt.want)
		}
	}
}

func TestContentRangeString(t *testing.T) {
	for _, tt := range []struct {
		c    ContentRange
		want string
	}{
		{ContentRange{Range{0, 500}, 1234}, "bytes 0-499/1234"},
		{ContentRange{Range{0, 500}, -1}, "bytes 0-499/*"},
		{ContentRange{Range{}, 1234}, "bytes */1234"},
	} {
		if got := tt.c.String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.c, got, tt.want)
		}
	}
}

// TestFieldErrorsAreShortAndEscaped_Rule61 checks that an error quotes a hostile field short and escaped (rule 61).
func TestFieldErrorsAreShortAndEscaped_Rule61(t *testing.T) {
	hostile := "bytes \x1b[2J" + strings.Repeat("9", 1<<16)
	for _, parse := range []func() error{
		func() error { _, err := ParseContentRange(hostile); return err },
		func() error { _, err := ParseUnsatisfied(hostile); return err },
		func() error { _, err := ParseRange(hostile, 1); return err },
		func() error { _, err := ParseRange("bytes="+hostile, 1); return err },
	} {
		err := parse()
		if err == nil {
			t.Fatal("accepted")
		}
		if msg := err.Error(); len(msg) > 500 || strings.Contains(msg, "\x1b") {
			t.Errorf("message of %d bytes, unescaped or too long: %.200q", len(msg), msg)
		}
	}
}

func TestParseRange(t *testing.T) {
	for _, tt := range []struct {
		v    string
		size int64
		want []Range
	}{
		{"bytes=0-499", 1000, []Range{{0, 500}}},
		{"Bytes=0-499", 1000, []Range{{0, 500}}},
		{"bytes=500-", 1000, []Range{{500, 1000}}},
		{"bytes=-1", 1000, []Range{{999, 1000}}},
		{"bytes=-5000", 1000, []Range{{0, 1000}}},
		{"bytes=0-99999", 1000, []Range{{0, 1000}}},
		{"bytes=9-8,0-0", 1000, nil},
		{"bytes=5-5,0-0,0-9", 1000, []Range{{5, 6}, {0, 1}, {0, 10}}},
		{"bytes=, 0-0 ,\t,1-1,", 1000, []Range{{0, 1}, {1, 2}}},
		{"bytes=0-0,1000-", 1000, []Range{{0, 1}}},
		{"bytes=0-99999999999999999999", 1000, []Range{{0, 1000}}},
		{"bytes=-99999999999999999999", 1000, []Range{{0, 1000}}},
		{"bytes=1-9223372036854775807", Unbounded - 1, []Range{{1, Unbounded - 1}}},
	} {
		got, err := ParseRange(tt.v, tt.size)
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%q: error is %v", tt.v, err)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q of %d: %v, want %v", tt.v, tt.size, got, tt.want)
		}
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for _, tt := range []struct {
		v             string
		size          int64
		unsatisfiable bool // status 416, otherwise the field is ignored
	}{
		{"bytes=1000-", 1000, true},
		{"bytes=1000-1001,2000-", 1000, true},
		{"bytes=-0", 1000, true},
		{"bytes=99999999999999999999-", 1000, true},
		{"bytes=0-", 0, false},
		{"bytes=-5", 0, false},
		{"", 1000, false},
		{"bytes", 1000, false},
		{"bytes=", 1000, false},
		{"bytes=,", 1000, false},
		{"bytes 0-1", 1000, false},
		{"pages=0-1", 1000, false},
		{"bytes=1-0", 1000, false},
		{"bytes=0-1,x", 1000, false},
		{"bytes=0-1;2-3", 1000, false},
		{"bytes= 0 - 1", 1000, false},
		{"bytes=-", 1000, false},
		{"bytes=--1", 1000, false},
		{"bytes=-1-2", 1000, false},
		{"bytes=0-1-2", 1000, false},
		{"bytes=+0-1", 1000, false},
	} {
		got, err := ParseRange(tt.v, tt.size)
		if err == nil || got != nil || errors.Is(err, ErrUnsatisfiable) != tt.unsatisfiable {
			t.Errorf("%q of %d: %v, %v; unsatisfiable should be %t", tt.v, tt.size, got, err, tt.unsatisfiable)
		}
	}
}

// checkParse fails the test unless err is nil and want "", or err contains want.
func checkParse(t *testing.T, input string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%q: %v", input, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%q: error is %v, want one with %q", input, err, want)
	}
}
