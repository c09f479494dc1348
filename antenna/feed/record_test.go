package feed

import (
	"testing"
	"time"
)

func TestRecord(t *testing.T) {
	r := Record{
		Method: []string{"REMOTE", "Remote", "HEAD"},
		Fields: []Field{{"Title", "a"}, {"title", "b"}, {"Empty", ""}},
	}
	if got, ok := r.Get("TITLE"); got != "a" || !ok {
		t.Errorf("Title is %q, %v", got, ok)
	}
	if got, ok := r.Get("empty"); got != "" || !ok {
		t.Errorf("Empty is %q, %v", got, ok)
	}
	if got, ok := r.Get("Author"); got != "" || ok {
		t.Errorf("Author is %q, %v", got, ok)
	}
	if r.Hops() != 2 {
		t.Errorf("%d hops", r.Hops())
	}
}

func TestTime(t *testing.T) {
	at := time.Date(2026, 11, 10, 1, 0, 0, 0, time.UTC)
	if got := At(at); got != 1794272400 || !got.UTC().Equal(at) || got.String() != "2026-11-10 01:00:00 UTC" {
		t.Errorf("%d, %v, %v", got, got.UTC(), got)
	}
	if got := At(time.Time{}); got != 0 || !got.UTC().IsZero() || got.String() != "unknown" {
		t.Errorf("no time is %d, %v, %v", got, got.UTC(), got)
	}
}

// TestLimits_Rule52 checks the default limits (rule 52).
func TestLimits_Rule52(t *testing.T) {
	if got, want := (Limits{}).OrDefault(), (Limits{Bytes: 64 << 20, Entries: 1_000_000, Line: 64 << 10, Value: 1 << 20,
		Ratio: 200}); got != want {
		t.Errorf("%+v", got)
	}
	own := Limits{Bytes: 1, Entries: 2, Line: 3, Value: 5, Ratio: 4}
	if got := own.OrDefault(); got != own {
		t.Errorf("%+v", got)
	}
}

func TestViolation(t *testing.T) {
	if got := (Violation{Code: "c", Field: "f"}).Tag(); got != "c:f" {
		t.Error(got)
	}
	if got := (Violation{Code: "c"}).Tag(); got != "c" {
		t.Error(got)
	}
	if got := (&RejectError{Line: 3, Why: "too long"}).Error(); got != "feed, line 3: too long" {
		t.Error(got)
	}
	if got := (&RejectError{Why: "too long"}).Error(); got != "feed: too long" {
		t.Error(got)
	}
}
