package render

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
)

func TestSummary(t *testing.T) {
	for _, tt := range []struct {
		c    tally
		want string
	}{
		{tally{Counts: Counts{Files: 2000, Complete: 2000, Verified: 2000, Fetched: 1 << 20}},
			"2,000 files: 1 MiB in 2 s (512 KiB/s); all verified"},
		{tally{Counts: Counts{Files: 1}}, "0 of 1 file: nothing was fetched"},
		{tally{Counts: Counts{Files: 5, Complete: 3, Verified: 3}, before: 2, left: 2},
			"3 of 5 files: nothing was fetched; 3 verified; 2 already there; 2 left alone"},
	} {
		if got := tt.c.summary(2*time.Second, false); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	c := tally{Counts: Counts{Files: 100, Complete: 70, Verified: 70}}
	for i := range 30 {
		c.lost(&problem.Problem{Kind: download.Refused, Where: fmt.Sprint("u", i), Why: "status 404"})
	}
	got := c.summary(time.Second, false)
	if len(got) != 22 || got[1] != "  u0: status 404" || got[21] != "  and 10 more" {
		t.Errorf("%q", got)
	}
}

// TestRecent: results that come faster than anybody reads share a line; slow ones have their own.
func TestRecent(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{Out: &b}
	var r recent
	at := time.Unix(1e9, 0)
	for i := range 5 {
		r.add(at, fmt.Sprint("a", i), 1024, fmt.Sprintf("a%d: 1 KiB; verified", i), "verified")
		r.add(at, fmt.Sprint("b", i), 1, fmt.Sprintf("b%d: 1 B; unverified", i/3), "unverified: x")
	}
	r.flush(at.Add(400*time.Millisecond), s)
	if b.Len() > 0 {
		t.Errorf("told already: %s", b.String())
	}
	r.flush(at.Add(500*time.Millisecond), s)
	r.add(at, "c", 1, "c: 1 B", "verified")
	r.flush(at.Add(recentTime), s)
	want := "a0 ... a4: 5 files, 5 KiB; verified\nb0 ... b4: 5 files, 5 B; unverified: x\nc: 1 B\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestBatchProgress(t *testing.T) {
	of := func(ended int, fetched int64) *tally {
		return &tally{Counts: Counts{Files: 2000, Complete: ended, Fetched: fetched}}
	}
	p := of(37, 12<<20).progress(2, 1.5, 3<<20, 10*time.Second)
	if got, want := p.sentence(), "37 of 2,000 files, 12 MiB, 3 MiB/s, 8 min 29 s left, 2 at a time"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if p.Done != 38_500 || p.Size != 2_000_000 {
		t.Errorf("%d of %d", p.Done, p.Size)
	}
	want := -1
	for _, q := range []Progress{p, of(0, 0).progress(0, 0, 0, 0), of(1999, 0).progress(64, 0, 1e9, 0)} {
		if n := len(q.fit(200)); want >= 0 && n != want {
			t.Errorf("%q has %d, others %d", q.fit(200), n, want)
		} else {
			want = n
		}
		for _, width := range []int{0, 20, 40, 60} {
			if n := len(q.fit(width)); n > max(width, len("2,000 of 2,000 files")) {
				t.Errorf("width %d: %q", width, q.fit(width))
			}
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := option.Grouped(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if files(1) != "1 file" || files(2000) != "2,000 files" {
		t.Error(files(1), files(2000))
	}
}

// TestOutcomes: of a long list the last event has the first outcomes, and no table is shown.
func TestOutcomes(t *testing.T) {
	var o fileRows
	for i := range mostOutcomes + 5 {
		o.add(fileRow{FileOutcome: FileOutcome{File: i}})
	}
	if len(o.kept) != mostOutcomes || o.more != 5 || o.table(0) != nil {
		t.Errorf("%d kept, %d more", len(o.kept), o.more)
	}
}
