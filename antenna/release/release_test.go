package release

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// listOf returns releases with these versions. An exclamation mark means that the feed marks it as a pre-release.
func listOf(versions string) (list []Release) {
	for _, v := range strings.Fields(versions) {
		v, pre := strings.CutSuffix(v, "!")
		list = append(list, Release{Tag: "v" + v, Version: v, Pre: pre, URL: "https://example.org/" + v})
	}
	return list
}

func versionsOf(list []Release) string {
	var words []string
	for _, r := range list {
		words = append(words, r.Version)
	}
	return strings.Join(words, " ")
}

func TestNewer(t *testing.T) {
	for _, tt := range []struct {
		name           string
		list, current  string
		versions       string
		pre            bool
		newer, foreign string
	}{
		{"newest first", "1.9.0 1.10.0 2.0.0 1.8.0", "1.9.0", "", false, "2.0.0 1.10.0", ""},
		{"nothing in place", "1.9.0 1.10.0", "", "", false, "1.10.0 1.9.0", ""},
		{"nothing newer", "1.9.0", "1.9.0", "", false, "", ""},
		{"no list", "", "1.9.0", "", false, "", ""},
		{"equal precedence", "1.9.0+b2 1.9 v1.9.0", "1.9.0+b1", "", false, "", ""},
		{"never older", "1.9.0 2.0.0", "2.1.0", "", false, "", ""},
		{"a thousand times larger", "2.0.0 9999.0 2.1.0", "2.0.0", "", false, "9999.0 2.1.0", ""},
		{"range", "1.9 2.0 2.9 3.0 3.1-rc1 3.0-rc1", "1.0", ">=2.0 <3", true, "2.9 2.0", ""},
		{"no pre-releases", "2.0.0-rc.1 2.0.0! 1.22rc1 1.9.1", "1.9.0", "", false, "1.9.1", ""},
		{"pre-releases", "2.0.0-rc.1 2.0.0! 1.22rc1 1.9.1", "1.9.0", "", true, "2.0.0 2.0.0-rc.1 1.22rc1 1.9.1", ""},
		{"a pre-release in place", "2.0.0 2.0.0-rc.2", "2.0.0-rc.1", "", false, "2.0.0", ""},
		{"semantic in place", "nightly 1.1.1a 1.2.0", "1.1.0", "", false, "1.2.0", "nightly 1.1.1a"},
		{"foreign in place", "1.1.1g 1.2.0 1.1.1a 1.1.1-beta", "1.1.1b", "", false, "1.2.0 1.1.1g", ""},
		{"most are semantic", "nightly 1.1.0 1.2.0", "", "", false, "1.2.0 1.1.0", "nightly"},
		{"half are semantic", "1.1.1a 1.1.1", "", "", false, "1.1.1a 1.1.1", ""},
		{"calendar", "2025.01.12 2024.12.6", "2024.12.23", "", false, "2025.01.12", ""},
		{"twice", "2.0.0! 2.0.0 1.1.0 1.1.0", "1.0.0", "", false, "1.1.0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Choice{PreReleases: tt.pre}
			if tt.versions != "" {
				var err error
				if c.Versions, err = ParseRange(tt.versions); err != nil {
					t.Fatal(err)
				}
			}
			newer, foreign := c.Newer(listOf(tt.list), tt.current)
			if got := versionsOf(newer); got != tt.newer {
				t.Errorf("newer: %s; want %s", got, tt.newer)
			}
			if got := versionsOf(foreign); got != tt.foreign {
				t.Errorf("unparsed: %s; want %s", got, tt.foreign)
			}
		})
	}
}

// TestNewerMerges checks that the same release of several feeds is one, and that equal versions have a fixed order.
func TestNewerMerges(t *testing.T) {
	list := []Release{
		{Version: "1.1", URL: "https://example.org/b"}, {Version: "1.1.0", URL: "https://example.org/a"},
		{Version: "1.1", URL: "https://example.org/b", Date: 7},
	}
	for range 20 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		newer, _ := Choice{}.Newer(list, "1.0")
		if len(newer) != 2 || newer[0].URL != "https://example.org/a" || newer[1].Date != 7 {
			t.Fatalf("%v: %v", list, newer)
		}
	}
}

func TestDelay(t *testing.T) {
	var at time.Duration
	var pauses []string
	tries := 1
	for ; ; tries++ {
		d, over := Delay(tries, at)
		if over {
			break
		}
		if at += d; tries <= 7 {
			pauses = append(pauses, d.String())
		}
	}
	if got, want := strings.Join(pauses, " "), "1m0s 2m0s 5m0s 15m0s 1h0m0s 1h0m0s 1h0m0s"; got != want {
		t.Errorf("pauses %s, want %s", got, want)
	}
	if at < 48*time.Hour || at >= 49*time.Hour || tries != 53 {
		t.Errorf("over after %v and %d tries", at, tries)
	}
	if d, over := Delay(0, -time.Hour); d != time.Minute || over {
		t.Errorf("Delay(0, -1h) = %v, %v", d, over)
	}
	if _, over := Delay(leastTries-1, 1e6*time.Hour); over {
		t.Error("over after a few tries")
	}
}
