package metalink

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAdd_C2_S5 checks that Add lists each URL once, ignores the server itself, and puts mirrors of the header fields
// before those of the document with the same priority (S5, C2, rule 46).
func TestAdd_C2_S5(t *testing.T) {
	f := from(t,
		"<https://1.example/f>; rel=duplicate; pri=5; pref",
		"<https://2.example/f>; rel=duplicate; pri=5",
		"<https://3.example/f>; rel=duplicate; pri=9")
	f.Mirrors = slices.Grow(f.Mirrors, 10)
	before, old := slices.Clone(f.Mirrors), f.Mirrors
	f.Add(
		Mirror{URL: at(t, "https://4.example/f"), Pri: 1},
		Mirror{URL: at(t, "https://2.example:443/f"), Pri: 1},
		Mirror{URL: at(t, "http://2.example/f"), Pri: 5},
		Mirror{URL: at(t, "https://4.example/f"), Pri: 2},
		Mirror{URL: at(t, "http://a.example/pub/f"), Pri: 1},
	)
	wantMirrors(t, f, "https://1.example/f", "https://4.example/f", "https://2.example/f", "http://2.example/f",
		"https://3.example/f")
	var why []string
	for _, i := range f.Ignored {
		why = append(why, i.Target+": "+i.Reason)
	}
	if got := strings.Join(why, ", "); f.IgnoredCount != 3 || got !=
		"https://2.example:443/f: listed before, https://4.example/f: listed before, http://a.example/pub/f: the server itself" {
		t.Errorf("ignored %d: %s", f.IgnoredCount, got)
	}
	if !slices.Equal(old, before) {
		t.Error("the mirrors were changed in place")
	}
}

func TestAddLimit_Rule36(t *testing.T) {
	var f File
	for i := range 150 {
		f.Add(Mirror{URL: at(t, fmt.Sprintf("https://a%d.example/f", i)), Pri: 10})
	}
	var more []Mirror
	for i := range 150 {
		more = append(more, Mirror{URL: at(t, fmt.Sprintf("https://b%d.example/f", i)), Pri: 1 + 10*(i%2)})
	}
	f.Add(more...)
	if len(f.Mirrors) != MaxMirrors || f.IgnoredCount != 100 || len(f.Ignored) != maxIgnored {
		t.Fatalf("%d mirrors, %d ignored, %d named", len(f.Mirrors), f.IgnoredCount, len(f.Ignored))
	}
	if f.Mirrors[0].Pri != 1 || f.Mirrors[74].Pri != 1 || f.Mirrors[75].URL.Host != "a0.example" ||
		f.Mirrors[199].URL.Host != "a124.example" {
		t.Errorf("the best are not kept: %v", urls(f))
	}
	f.Add(more...)
	if len(f.Mirrors) != MaxMirrors || f.IgnoredCount != 250 || len(f.Ignored) != maxIgnored {
		t.Errorf("%d mirrors, %d ignored, %d named", len(f.Mirrors), f.IgnoredCount, len(f.Ignored))
	}
}

// TestAddWithoutURL checks that Add skips mirrors without a URL.
func TestAddWithoutURL(t *testing.T) {
	var f File
	f.Add(Mirror{}, Mirror{URL: at(t, "http://a/x")}, Mirror{Pri: 1})
	if len(f.Mirrors) != 1 || f.IgnoredCount != 0 {
		t.Errorf("mirrors are %v", f.Mirrors)
	}
}
