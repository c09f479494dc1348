package render

import (
	"bytes"
	"testing"

	"braid/internal/problem"
)

func TestColored(t *testing.T) {
	for _, tt := range []struct {
		word     string
		terminal bool
		noColor  string
		want     bool
	}{
		{"", true, "", true}, {"", false, "", false}, {"auto", true, "1", false}, {"", true, "1", false},
		{"always", false, "1", true}, {"never", true, "", false},
	} {
		t.Setenv("NO_COLOR", tt.noColor)
		if got := Colored(tt.word, tt.terminal); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestColours are of what we say, and never of what others are called (rule 61).
func TestColours_Rule61(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{Out: &b, Color: true}
	s.conclude(green, "a\x1b[31m; unverified: 1 MiB; verified: x", "verified: x")
	s.Warn("mirror \x1b[31m: dropped")
	s.Fail(&problem.Problem{What: "get", Where: "\x1b[31m", Why: "no"})
	want := "a\\x1b[31m; unverified: 1 MiB; \x1b[32mverified: x\x1b[0m\n" +
		"\x1b[33mmirror \\x1b[31m: dropped\x1b[0m\n" +
		"\x1b[1;31mbraid:\x1b[0m get \\x1b[31m: no\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	s.Color = false
	s.conclude(yellow, "a; unverified", "unverified")
	s.Warn("b")
	s.Fail(&problem.Problem{What: "x", Why: "y"})
	if b.String() != "a; unverified\nb\nbraid: x: y\n" {
		t.Errorf("%q", b.String())
	}
}
