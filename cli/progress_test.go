package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestProgressSentence(t *testing.T) {
	for _, tt := range []struct {
		p    progress
		want string
	}{
		{progress{"a.iso", 120 << 20, 256 << 20, 12 << 20, 4}, "a.iso: 120 MiB of 256 MiB (46 %), 12 MiB/s, 11 s left, 4 mirrors"},
		{progress{"a.iso", 120 << 20, -1, 12 << 20, 1}, "a.iso: 120 MiB, 12 MiB/s, 1 mirror"},
		{progress{"a.iso", 0, 256 << 20, 0, 0}, "a.iso: 0 B of 256 MiB (0 %), 0 B/s, 0 mirrors"},
		{progress{"a.iso", 1, 1 << 60, 1, 1}, "a.iso: 1 B of 1 EiB (0 %), 1 B/s, 1 mirror"},
		{progress{"a.iso", 0, 600, 1, 1}, "a.iso: 0 B of 600 B (0 %), 1 B/s, 10 min 0 s left, 1 mirror"},
		{progress{"a.iso", 10, 10, 5, 1}, "a.iso: 10 B of 10 B (100 %), 5 B/s, 1 s left, 1 mirror"},
	} {
		if got := tt.p.sentence(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestNumbersKeepTheirWidth: the bar does not tremble, and never takes two lines.
func TestNumbersKeepTheirWidth(t *testing.T) {
	for _, width := range []int{-5, 0, 10, 30, 45, 60, 200} {
		want := -1
		for _, p := range []progress{
			{"", 0, 256 << 20, 0, 0}, {"", 1023, 256 << 20, 999, 1}, {"", 5 << 20, 256 << 20, 83886080, 16}, {"", 255<<20 + 1, 256 << 20, 1023.9 * 1024, 4},
			{"", 1, 256 << 20, 90, 4},
		} {
			n := utf8.RuneCountInString(p.numbers(width))
			if want < 0 {
				want = n
			}
			if n != want || n > max(width, 21) {
				t.Errorf("width %d: %q has %d, others %d", width, p.numbers(width), n, want)
			}
		}
	}
	if got := (progress{"", 120 << 20, 256 << 20, 12 << 20, 4}).numbers(80); got != " 120 MiB of 256 MiB    12 MiB/s  ETA 11 s        4 mirrors " {
		t.Errorf("%q", got)
	}
}

func TestProgressWord(t *testing.T) {
	for _, tt := range []struct {
		chosen                string
		quiet, json, terminal bool
		want                  string
	}{
		{"", false, false, true, progressBar}, {"", false, false, false, progressPlain}, {"", false, true, true, progressNone},
		{"", true, false, true, progressNone}, {progressPlain, false, false, true, progressPlain}, {progressBar, false, true, false, progressBar},
		{progressBar, true, false, true, progressNone}, {progressNone, false, false, true, progressNone},
	} {
		if got := progressWord(tt.chosen, tt.quiet, tt.json, tt.terminal); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestPlainEveryTenSeconds: where nobody looks, a line each ten seconds and no control characters.
func TestPlainEveryTenSeconds(t *testing.T) {
	var b bytes.Buffer
	m := newMeter(progressPlain, &b)
	start := time.Unix(1e9, 0)
	for i := range 251 { // 25 s
		m.show(start.Add(time.Duration(i)*100*time.Millisecond), progress{name: "a\x1b", done: int64(i), size: 1000, rate: 10, mirrors: 2})
	}
	m.clear()
	want := "a\\x1b: 100 B of 1000 B (10 %), 10 B/s, 1 min 30 s left, 2 mirrors\n" +
		"a\\x1b: 200 B of 1000 B (20 %), 10 B/s, 1 min 20 s left, 2 mirrors\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// lastFrame is what the terminal shows after what was written.
func lastFrame(written string) string {
	written = strings.ReplaceAll(written, "\x1b[0K", "")
	written = strings.ReplaceAll(written, "\x1b[2K\r", "\r")
	return written[strings.LastIndexByte(written, '\r')+1:]
}

func TestBar(t *testing.T) {
	var b bytes.Buffer
	m := &bar{w: &b, width: func() int { return 80 }}
	m.show(time.Time{}, progress{"a", 64 << 20, 256 << 20, 12 << 20, 4})
	frame := lastFrame(b.String())
	if !strings.Contains(frame, "25% |") || !strings.Contains(frame, "64 MiB of 256 MiB") || !strings.Contains(frame, "ETA 16 s") || !strings.Contains(frame, "12 MiB/s") {
		t.Errorf("%q", frame)
	}
	if strings.Contains(b.String(), "\n") {
		t.Error("a bar is one line")
	}
	m.clear()
	if got := lastFrame(b.String()); got != "" {
		t.Errorf("after clear there is %q", got)
	}
	m.show(time.Time{}, progress{"a", 256 << 20, 256 << 20, 12 << 20, 4}) // all is there, but not yet proven
	if got := lastFrame(b.String()); !strings.Contains(got, "99% |") {
		t.Errorf("%q", got)
	}
	m.show(time.Time{}, progress{"a", 0, 256 << 20, 0, 1}) // and it was the wrong file: from the beginning
	if got := lastFrame(b.String()); !strings.Contains(got, "0% |") || !strings.Contains(got, "1 mirror ") {
		t.Errorf("%q", got)
	}
	m.clear()
}

func TestBarOfUnknownSize(t *testing.T) {
	for _, size := range []int64{-1, 0} {
		var b bytes.Buffer
		m := newMeter(progressBar, &b)
		for done := range int64(3) {
			m.show(time.Time{}, progress{"a", done << 20, size, 1 << 20, 1})
		}
		if got := lastFrame(b.String()); !strings.Contains(got, "2 MiB") || strings.Contains(got, "%") {
			t.Errorf("size %d: %q", size, got)
		}
		m.clear()
	}
}

// TestScreenMakesRoom: a message does not end up in the middle of the bar.
func TestScreenMakesRoom(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b, meter: &bar{w: &b, width: func() int { return 80 }}, verbose: true}
	s.progress(time.Time{}, progress{"a", 1, 2, 1, 1})
	s.detail("mirror %s", "\x1b[31m")
	lines := strings.Split(b.String(), "\n")
	if got := lastFrame(lines[0]); got != `mirror \x1b[31m` {
		t.Errorf("%q", got)
	}
	b.Reset()
	quiet := &screen{w: &b, meter: hidden{}, quiet: true, verbose: true}
	quiet.say("a")
	quiet.detail("b")
	if b.Len() > 0 {
		t.Errorf("-q says %q", b.String())
	}
	quiet.fail(&failure{what: "x", why: "y"})
	if b.String() != "braid: x: y\n" {
		t.Errorf("%q", b.String())
	}
}
