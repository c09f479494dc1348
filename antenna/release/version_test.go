package release

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPrecedence has the examples of Semantic Versioning 2.0.0, section 11, and what it says about them.
func TestPrecedence(t *testing.T) {
	for _, list := range []string{
		"1.0.0 2.0.0 2.1.0 2.1.1", // 11.2
		"1.0.0-alpha 1.0.0",       // 11.3
		"1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0", // 11.4
		"1.0.0-2 1.0.0-11 1.0.0--1 1.0.0-11x 1.0.0-2x 1.0.0-A 1.0.0-a",                                      // 11.4.1 to 11.4.3
		"1.0.0-a 1.0.0-a.b 1.0.0-a.b.c", // 11.4.4
		"1.9.0 1.10.0 1.11.0",           // section 2
		"0.9.18446744073709551616 0.9.18446744073709551617 0.10.0",

		"1.21 1.21.1 1.22alpha1 1.22beta1 1.22rc1 1.22rc2 1.22rc10 1.22 1.22.1 9999.0",
		"3.12.9 3.13.0a1 3.13.0a10 3.13.0b1 3.13.0rc1 3.13.0 3.13.1",
		"6.1-rc5 6.1 6.1.1 6.2-rc1", "2024.12.23 2025.01.12 2025.01.12.1 2025.2.1",
		"v1.9 1.10 V1.11",

		// not semantic
		"x1.1.1~2 x1.1.1~alpha_2 x1.1.1_beta_1 x1.1.1-rc_1 x1.1.1 x1.1.1_ x1.1.1_src",
		"nightly-9 nightly-10", "1.0.2zd 1.1.1a 1.1.1g 1.1.1w", "2024-09-15 2024-10-01", "2024-1-15 2024-02-01",
		"x-1.0-dev x-1.0-rc1 x-1.0 x-1.0.1 x-1.1", "x-1.0a2 x-1.0b1 x-1.0 x-1.0a",
		// others are older than semantic ones
		"zzz 0.0.1",
	} {
		words := strings.Fields(list)
		for i, a := range words {
			for j, b := range words {
				if got, want := cmp.Compare(Compare(a, b), 0), cmp.Compare(i, j); got != want {
					t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
				}
			}
		}
	}
}

func TestEqualPrecedence(t *testing.T) {
	for _, list := range []string{
		"1.0.0 1.0.0+build 1.0.0+20130313144700 1.0.0+exp.sha.5114f85 1.0.0+21AF26D3---117B344092BD", // 11.1, section 10
		"1.0 1.0.0 1 01.00 v1.0.0 1.0.0.0", "1.22rc1 1.22-rc1 1.22-rc.1 1.22.rc1 1.22RC1 1.22c1", "3.13a1 3.13alpha1 3.13.0a1",
		"x1.0rc1 x1.0-rc1 x1.0_RC1", "x1.0 x1.00",
	} {
		for _, a := range strings.Fields(list) {
			for _, b := range strings.Fields(list) {
				if c := Compare(a, b); c != 0 {
					t.Errorf("Compare(%q, %q) = %d, want 0", a, b, c)
				}
			}
		}
	}
}

func TestIsPre(t *testing.T) {
	for _, tt := range []struct {
		list string
		want bool
	}{
		{"1.0.0-alpha 1.0.0-0.3.7 1.0.0-x.7.z.92 1.22rc1 3.13.0a1 6.1-rc5 1.0.dev3 x-1.0-beta 1.1.1_pre " +
			"1.0-preview2 x1.0~git", true},
		{"1.0.0 1.0.0+rc1 1.1.1a 3.3a 2024-01-15 1.0-2 1.0-src nightly 9999.0 1.0-devel", false},
	} {
		for _, v := range strings.Fields(tt.list) {
			if got := read(v).isPre(); got != tt.want {
				t.Errorf("read(%q).isPre() = %v, want %v", v, got, tt.want)
			}
		}
	}
}

// TestNames compares names with the order of the program: sort -V -u of GNU coreutils 9.1, in the C locale, so that no two
// of them are equal. None has the word of a pre-release.
func TestNames(t *testing.T) {
	text, err := os.ReadFile("testdata/sort-V.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(text))
	if len(names) < 500 {
		t.Fatalf("only %d names", len(names))
	}
	var list []version
	for _, name := range names {
		list = append(list, read(name))
	}
	for i, a := range list {
		if a.name.text != names[i] {
			t.Errorf("%q has the word of a pre-release", names[i])
		}
		for j, b := range list {
			if got, want := cmp.Compare(compareNames(a.name, b.name), 0), cmp.Compare(i, j); got != want {
				t.Errorf("compareNames(%q, %q) = %d, want %d", names[i], names[j], got, want)
			}
		}
	}
}

// TestWords checks that a word is older than each version with a digit, offered or in place.
func TestWords(t *testing.T) {
	all := []Release{{Version: "latest"}, {Version: "2024b"}, {Version: "2024a"}, {Version: "nightly"}}
	newest := func(current string) (words []string) {
		newer, _ := Choice{}.Newer(all, current)
		for _, r := range newer {
			words = append(words, r.Version)
		}
		return words
	}
	for current, want := range map[string]string{
		"": "2024b 2024a nightly latest", "2024a": "2024b", "latest": "2024b 2024a nightly", "1.0": "",
	} {
		if got := strings.Join(newest(current), " "); got != want {
			t.Errorf("newer than %q are %q, want %q", current, got, want)
		}
	}
}

// TestOtherFiles checks that the versions of other files, whose names begin like that of the wanted one, are left out.
// By sort -V, they would be newer than all others.
func TestOtherFiles(t *testing.T) {
	words := func(list []Release) (words []string) {
		for _, r := range list {
			words = append(words, r.Version)
		}
		return words
	}
	for _, tt := range []struct{ list, current, newer, unparsed string }{
		{"1.1.1t 1.1.1w fips-2.0.16 1.0.2u", "", "1.1.1w 1.1.1t 1.0.2u", "fips-2.0.16"},
		{"1.1.1w fips-2.0.16", "1.1.1t", "1.1.1w", "fips-2.0.16"},
		{"1.1.1w fips-2.0.16", "", "1.1.1w", "fips-2.0.16"},
		{"v1.1.1w 1.1.1x v1.1.1y", "1.1.1w", "v1.1.1y 1.1.1x", ""}, // a v is no letter
		{"v1.1.1w 1.1.1x", "v1.1.1w", "1.1.1x", ""},
		{"r2026s r2026x 2024a", "r2026s", "r2026x", "2024a"},
		{"r2026s r2026x 2024a", "", "r2026x r2026s", "2024a"},
		{"2024a latest r2026s", "nightly", "r2026s 2024a", ""}, // a word may be a name for any version
	} {
		var all []Release
		for _, v := range strings.Fields(tt.list) {
			all = append(all, Release{Version: v, URL: v})
		}
		newer, unparsed := Choice{}.Newer(all, tt.current)
		got := strings.Join(words(newer), " ") + "; " + strings.Join(words(unparsed), " ")
		if want := tt.newer + "; " + tt.unparsed; got != want {
			t.Errorf("%s after %q: %s, want %s", tt.list, tt.current, got, want)
		}
	}
}

func TestRange(t *testing.T) {
	for _, tt := range []struct{ text, in, out string }{
		{">=2.0 <3", "2.0 2.0.0 2.9.9 2.1-rc1", "1.9 2.0-rc1 3 3.0.0-rc1 3.1 9999.0 nightly"},
		{">= 2.0, <= 3", "2.0 3.0.0-rc1 3", "3.0.1"},
		{"<3.0-rc2", "2 3.0-rc1", "3.0-rc2 3.0"},
		{">1 !=1.5", "1.4 1.6 2", "1 1.5 1.5.0"},
		{"=v1.5", "1.5 1.5.0+x", "1.5.1 1.5-rc1"},
		{"<nightly", "", "1.0"},
		{"!=nightly", "1.0", ""},
	} {
		r, err := ParseRange(tt.text)
		if err != nil || r.String() != tt.text {
			t.Errorf("%q: %q, %v", tt.text, r.String(), err)
		}
		for _, v := range strings.Fields(tt.in) {
			if !r.has(read(v), byPrecedence) {
				t.Errorf("%q is not in %q", v, tt.text)
			}
		}
		for _, v := range strings.Fields(tt.out) {
			if v := read(v); v.semantic && r.has(v, byPrecedence) {
				t.Errorf("%q is in %q", v.name.text, tt.text)
			}
		}
	}
	for _, text := range []string{"", " ", "2.0", ">=", "=>2", "~2", "<3 4", ">=2.0 <", "^1", ">1..2", "<3/4"} {
		if r, err := ParseRange(text); err == nil {
			t.Errorf("ParseRange(%q) = %v, want an error", text, r)
		}
	}
	byNames, err := ParseRange(">=1.1.1b <1.1.1h")
	if err != nil {
		t.Fatal(err)
	}
	var in []string
	for _, v := range []string{"1.1.1a", "1.1.1b", "1.1.1g", "1.1.1h"} {
		if byNames.has(read(v), byName) {
			in = append(in, v)
		}
	}
	if want := []string{"1.1.1b", "1.1.1g"}; !slices.Equal(in, want) {
		t.Errorf("in range: %q, want %q", in, want)
	}
}
