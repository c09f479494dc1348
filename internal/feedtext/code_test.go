package feedtext

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestSay(t *testing.T) {
	for _, tt := range []struct{ text, value, want string }{
		{"{field} is {value}, {value}", "a{field}\x1b\u202e", `Title is "a{field}\x1b\u202e", "a{field}\x1b\u202e"`},
		{"{value}", strings.Repeat("x", 99) + "朝顔", `"` + strings.Repeat("x", 99) + `"...`},
		{"{value}", strings.Repeat("x", 100), `"` + strings.Repeat("x", 100) + `"`},
	} {
		if got := Note("c", tt.text).Say("Title", tt.value); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// TestTexts: the texts of the codes contain only the placeholders that Say replaces.
func TestTexts(t *testing.T) {
	files, err := filepath.Glob("../../antenna/*/code.go")
	if err != nil || len(files) != 6 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		codes := regexp.MustCompile(`feedtext\.\w+\([^,]+, "([^"]*)"`).FindAllSubmatch(src, -1)
		if len(codes) < 9 {
			t.Errorf("%s: only %d codes", name, len(codes))
		}
		for _, c := range codes {
			if got := Note("c", string(c[1])).Say("Expire", "x y"); strings.ContainsAny(strings.ReplaceAll(got, "{0}",
				""), "{") && !strings.HasPrefix(got, "{}") {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// TestFindings: the memory for the findings of an entry is bounded.
func TestFindings(t *testing.T) {
	var r Reading
	for range 20_000 {
		r.Find(Note("c", "text"), 1, "", "")
	}
	if len(r.found) != maxFindings || cap(r.found) > 2*maxFindings {
		t.Errorf("%d findings in room for %d", len(r.found), cap(r.found))
	}
}
