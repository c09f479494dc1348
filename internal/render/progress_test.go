package render

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"braid/byterange"
	"braid/download"
	"braid/internal/problem"
	"braid/internal/report"
	"braid/scheduler"
)

func TestProgressSentence(t *testing.T) {
	for _, tt := range []struct {
		p    Progress
		want string
	}{
		{fileProgress("a.iso", download.Progress{Done: 120 << 20, Size: 256 << 20, Rate: 12 << 20, Active: 4}),
			"a.iso: 120 MiB of 256 MiB (46 %), 12 MiB/s, 11 s left, 4 mirrors"},
		{fileProgress("a.iso", download.Progress{Done: 120 << 20, Size: -1, Rate: 12 << 20, Active: 1}),
			"a.iso: 120 MiB, 12 MiB/s, 1 mirror"},
		{fileProgress("a.iso", download.Progress{Done: 0, Size: 256 << 20, Rate: 0, Active: 0}),
			"a.iso: 0 B of 256 MiB (0 %), 0 B/s, waiting"},
		{fileProgress("a.iso", download.Progress{Done: 1, Size: 1 << 60, Rate: 1, Active: 1}),
			"a.iso: 1 B of 1 EiB (0 %), 1 B/s, 1 mirror"},
		{fileProgress("a.iso", download.Progress{Done: 0, Size: 600, Rate: 1, Active: 1}),
			"a.iso: 0 B of 600 B (0 %), 1 B/s, 10 min 0 s left, 1 mirror"},
		{fileProgress("a.iso", download.Progress{Done: 10, Size: 10, Rate: 5, Active: 1}),
			"a.iso: 10 B of 10 B (100 %), 5 B/s, 1 s left, 1 mirror"},
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
		for _, p := range []download.Progress{
			{}, {Done: 1023, Rate: 999, Active: 1}, {Done: 5 << 20, Rate: 83886080, Active: 16},
			{Done: 255<<20 + 1, Rate: 1023.9 * 1024, Active: 4}, {Done: 1, Rate: 90, Active: 4},
		} {
			p.Size = 256 << 20
			text := fileProgress("", p).fit(width)
			n := utf8.RuneCountInString(text)
			if want < 0 {
				want = n
			}
			if n != want || n > max(width, 21) {
				t.Errorf("width %d: %q has %d, others %d", width, text, n, want)
			}
		}
	}
	if got := fileProgress("", download.Progress{Done: 120 << 20, Size: 256 << 20, Rate: 12 << 20,
		Active: 4}).fit(80); got != " 120 MiB of 256 MiB    12 MiB/s  ETA 11 s        4 mirrors " {
		t.Errorf("%q", got)
	}
}

func TestProgressWord(t *testing.T) {
	for _, tt := range []struct {
		chosen                string
		quiet, json, terminal bool
		want                  string
	}{
		{"", false, false, true, ProgressBar}, {"", false, false, false, progressPlain}, {"", false, true, true, ProgressNone},
		{"", true, false, true, ProgressNone}, {progressPlain, false, false, true, progressPlain},
		{ProgressBar, false, true, false, ProgressBar},
		{ProgressBar, true, false, true, ProgressNone}, {ProgressNone, false, false, true, ProgressNone},
	} {
		if got := ProgressWord(tt.chosen, tt.quiet, tt.json, tt.terminal); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestPlainEveryTenSeconds: where nobody looks, a line each ten seconds and no control characters.
func TestPlainEveryTenSeconds(t *testing.T) {
	var b bytes.Buffer
	m := NewMeter(progressPlain, &b)
	start := time.Unix(1e9, 0)
	for i := range 251 { // 25 s
		m.Show(start.Add(time.Duration(i)*100*time.Millisecond), fileProgress("a\x1b", download.Progress{Done: int64(i),
			Size: 1000, Rate: 10, Active: 2}))
	}
	m.Clear()
	want := "a\\x1b: 100 B of 1000 B (10 %), 10 B/s, 1 min 30 s left, 2 mirrors\n" +
		"a\\x1b: 200 B of 1000 B (20 %), 10 B/s, 1 min 20 s left, 2 mirrors\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestSourceRates: the speed of a source is that of the last seconds, however seldom the table is shown.
func TestSourceRates(t *testing.T) {
	at := time.Unix(1e9, 0)
	r := &Download{record: report.NewRecorder(at), Table: true}
	r.record.Observe(at, download.RangeStarted{ID: 0, Host: "a:80", Fetch: 1})
	for i := range int64(100) { // 1 MiB each tenth of a second, after nine seconds without a byte
		at = at.Add(time.Second / 10)
		if i < 90 {
			continue
		}
		r.record.Observe(at, download.Brought{Pieces: []download.Piece{{Fetch: 1,
			Range: byterange.Range{Start: i << 20, End: (i + 1) << 20}}}})
	}
	for i := range int64(40) {
		at = at.Add(time.Second / 10)
		r.record.Observe(at, download.Brought{Pieces: []download.Piece{{Fetch: 1,
			Range: byterange.Range{Start: i << 20, End: (i + 1) << 20}}}})
	}
	if row := strings.Join(r.progress(at).table[0], " "); !strings.Contains(row, " 10 MiB/s in use") {
		t.Errorf("%s", row)
	}
	r.record.Observe(at, download.RangeStarted{ID: 1, Host: "b:80", Fetch: 2})
	r.record.Observe(at, download.RangeCut{ID: 1, Host: "b:80", Fetch: 2, Why: scheduler.ReasonNoRanges})
	r.record.Observe(at, download.RangeEnded{ID: 1, Host: "b:80", Fetch: 2})
	if row := strings.Join(r.progress(at).table[1], " "); !strings.HasSuffix(row, "sends whole files only") {
		t.Errorf("%s", row)
	}
}

// TestSourceStates: a source that failed says when it is asked again; one that comes back after a new beginning is as any other.
func TestSourceStates(t *testing.T) {
	at := time.Unix(1e9, 0)
	r := &Download{record: report.NewRecorder(at), Table: true}
	for _, tt := range []struct {
		ev   download.Event
		want string
	}{
		{download.SourceDown{ID: 1, URL: "u", Host: "h", Back: time.Minute},
			"again at " + at.Add(time.Minute).Local().Format(time.TimeOnly)},
		{download.SourceDown{ID: 1, URL: "u", Host: "h"}, "again later"},
		{download.RangeStarted{ID: 1, URL: "u", Host: "h", Fetch: 1}, "in use"},
		{download.RangeEnded{ID: 1, Fetch: 1}, "waits"},
		{download.SourceDown{ID: 1, URL: "u", Host: "h", Banned: true}, "dropped for wrong content"},
		{download.Restarted{Reason: "the file changed"}, "dropped for wrong content"},
		{download.SourceUp{ID: 7, URL: "u", Host: "h"}, "waits"},
	} {
		r.record.Observe(at, tt.ev)
		if table := r.progress(at).table; len(table) != 1 || table[0][4] != tt.want {
			t.Errorf("%+v: %q, want %q", tt.ev, table, tt.want)
		}
	}
}

// TestComparing: while mirrors are compared the progress says so, and no rate.
func TestComparing(t *testing.T) {
	p := compareProgress("a", download.Comparing{Done: 1 << 20, Size: 4 << 20})
	if got, want := p.sentence(), "a: some bytes are wrong; comparing mirrors: 1 MiB of 4 MiB"; got != want {
		t.Errorf("%q", got)
	}
	if got := p.fit(80); !strings.HasPrefix(got, "comparing mirrors:") || strings.Contains(got, "/s") {
		t.Errorf("%q", got)
	}
}

// TestPlainWithSources: those who ask for details get a line for each source, too.
func TestPlainWithSources(t *testing.T) {
	var b bytes.Buffer
	m := NewMeter(progressPlain, &b)
	at := time.Unix(1e9, 0)
	r := &Download{record: report.NewRecorder(at), Table: true}
	for _, ev := range []download.Event{
		download.SourceUp{ID: 0, Host: "a:80"}, download.RangeStarted{ID: 0, Host: "a:80", Fetch: 1},
		download.RangeStarted{ID: 1, Host: "b:80", Fetch: 2},
		download.RangeStarted{ID: 2, Host: "c:80", Fetch: 3},
		download.Brought{Pieces: []download.Piece{{Fetch: 1, Range: byterange.Range{End: 3 << 20}},
			{Fetch: 2, Range: byterange.Range{Start: 3 << 20, End: 4 << 20}}}},
		download.RangeEnded{ID: 1, Fetch: 2}, download.RangeEnded{ID: 2, Fetch: 3},
		download.SourceDown{ID: 2, Host: "c:80", Gone: true}, download.SourceDown{ID: 3, Host: "d:80", Banned: true},
	} {
		r.record.Observe(at, ev)
	}
	r.record.Path = "d/a"
	r.record.Observe(at, download.Progress{Done: 4 << 20, Size: 8 << 20, Rate: 1 << 20, Active: 1})
	m.Show(at, r.progress(at))
	at = at.Add(plainEvery)
	m.Show(at, r.progress(at))
	want := "a: 4 MiB of 8 MiB (50 %), 1 MiB/s, 4 s left, 1 mirror\n" +
		"  a:80     3 MiB   75 %   307 KiB/s  in use\n" +
		"  b:80     1 MiB   25 %   102 KiB/s  waits\n" +
		"  c:80       0 B    0 %       0 B/s  dropped\n" +
		"  d:80       0 B    0 %       0 B/s  dropped for wrong content\n"
	if b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}

// TestScreenMakesRoom: a message does not end up in the middle of the bar.
func TestScreenMakesRoom(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{Out: &b, Meter: wide(&b), Verbose: true}
	s.progress(time.Time{}, fileProgress("a", download.Progress{Done: 1, Size: 2, Rate: 1, Active: 1}))
	s.Detail("mirror %s", "\x1b[31m")
	if got := onTerminal(t, b.String(), 80); len(got) != 1 || got[0] != `mirror \x1b[31m` {
		t.Errorf("%q", got)
	}
	b.Reset()
	quiet := &Screen{Out: &b, Quiet: true, Verbose: true}
	quiet.Say("a")
	quiet.Detail("b")
	if b.Len() > 0 {
		t.Errorf("-q says %q", b.String())
	}
	quiet.Fail(&problem.Problem{What: "x", Why: "y"})
	if b.String() != "braid: x: y\n" {
		t.Errorf("%q", b.String())
	}
}
