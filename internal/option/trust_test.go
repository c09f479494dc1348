package option_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"braid/internal/option"
)

// bound returns the bound of a URL.
func bound(t testing.TB, word string) option.Bound {
	t.Helper()
	b, err := option.NewBound(word)
	if err != nil {
		t.Fatalf("%s: %v", word, err)
	}
	return b
}

// TestBound_Rule78: a URL is bound by the longest path above it, in whole segments, however either is written.
func TestBound_Rule78(t *testing.T) {
	trust := &option.Trust{}
	for _, word := range []string{
		"https://example.org/", "https://Example.ORG/pub", "http://example.org/pub/a/./b/", "https://example.org:8443/x%20y",
		"https://bücher.example/", "https://[2001:DB8::1]/", "https://192.0.2.1/",
	} {
		trust.Add(bound(t, word), option.TrustedKey{Text: "key"})
	}
	for asked, want := range map[string]string{
		"https://example.org":                "https://example.org/",
		"https://example.org/public/x":       "https://example.org/",
		"https://example.org/pub":            "https://Example.ORG/pub",
		"http://EXAMPLE.org.:80/pub/x?q=1":   "https://Example.ORG/pub",
		"https://example.org:443/pub/":       "https://Example.ORG/pub",
		"http://example.org:443/pub/":        "https://Example.ORG/pub",
		"https://example.org:0443/pub/":      "https://Example.ORG/pub",
		"https://example.org/x/../pub/y":     "https://Example.ORG/pub",
		"https://example.org/x/%2e%2e/pub/y": "https://Example.ORG/pub",
		"https://example.org//pub//y":        "https://Example.ORG/pub",
		"https://example.org/pub%2Fy":        "https://Example.ORG/pub",
		"https://example.org/%70ub/y":        "https://Example.ORG/pub",
		"https://user@example.org/pub/y":     "https://Example.ORG/pub",
		"https://example.org/pub/../x":       "https://example.org/",
		"https://example.org/pub/a/b":        "http://example.org/pub/a/./b/",
		"https://example.org/pub/a/bc":       "https://Example.ORG/pub",
		"https://example.org:8443/x y/z":     "https://example.org:8443/x%20y",
		"http://example.org:8443/x%20y":      "https://example.org:8443/x%20y",
		"https://xn--bcher-kva.example/x":    "https://bücher.example/",
		"https://BÜCHER.example/x":           "https://bücher.example/",
		"https://[2001:db8:0::1]/x":          "https://[2001:DB8::1]/",
		"https://192.0.2.1/x":                "https://192.0.2.1/",
		"https://[::ffff:192.0.2.1]/x":       "https://192.0.2.1/",
		"https://[::FFFF:C000:201]:443/x":    "https://192.0.2.1/",
		"https://[::192.0.2.1]/x":            "",
		"https://example.org:8443/x":         "",
		"https://example.org:8080/pub/x":     "",
		"https://www.example.org/pub/x":      "",
		"ftp://example.org/pub/x":            "",
		"https:///pub/x":                     "",
	} {
		u, err := url.Parse(asked)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if b := trust.Of(u); b != nil {
			got = b.URL
		}
		if got != want {
			t.Errorf("%s is bound by %q, want %q", asked, got, want)
		}
	}
	var none *option.Trust
	if none.Of(&url.URL{Scheme: "https", Host: "example.org"}) != nil || none.Any() || trust.Of(nil) != nil {
		t.Error("what binds nothing binds something")
	}
}

// TestBoundRefused: what would bind other URLs than the user thinks is refused.
func TestBoundRefused(t *testing.T) {
	for _, word := range []string{
		"", "example.org", "example.org/pub", "ftp://example.org/", "https:///pub/", "https://me@example.org/",
		"https://example.org/pub?x=1", "https://example.org/pub?", "https://example.org/#x", "https://example.org/pub/*", "https://ex ample.org/",
	} {
		if _, err := option.NewBound(word); err == nil {
			t.Errorf("%q is taken", word)
		}
	}
}

// TestTrustChanges: keys are added once and removed one by one; a URL in another spelling is the same.
func TestTrustChanges(t *testing.T) {
	trust, at, same := &option.Trust{}, bound(t, "https://example.org/pub"), bound(t, "http://EXAMPLE.org/pub/")
	one, two := option.TrustedKey{Text: "one"}, option.TrustedKey{Bytes: []byte("two")}
	if !trust.Add(at, one) || trust.Add(same, one) || !trust.Add(same, two) || len(trust.Bounds) != 1 {
		t.Fatalf("added: %+v", trust.Bounds)
	}
	only := func(data string) func(option.TrustedKey) bool {
		return func(k option.TrustedKey) bool { return string(k.Data()) == data }
	}
	for _, step := range []struct {
		at            option.Bound
		data          string
		removed, left int
	}{{bound(t, "https://example.org/"), "one", 0, 0}, {same, "three", 0, 2}, {same, "one", 1, 1}, {at, "two", 1, 0}, {at, "two", 0, 0}} {
		if removed, left := trust.Remove(step.at, only(step.data)); removed != step.removed || left != step.left {
			t.Errorf("%s of %s: %d removed, %d left", step.data, step.at.URL, removed, left)
		}
	}
	if trust.Any() {
		t.Errorf("left: %+v", trust.Bounds)
	}
}

// TestParseTrust: what is written is read again; what is in doubt binds nothing silently, and is an error.
func TestParseTrust(t *testing.T) {
	trust := &option.Trust{}
	trust.Add(bound(t, "https://example.org/"), option.TrustedKey{Name: "/k", Added: "2026-11-28", Text: "<text>\n"})
	trust.Add(bound(t, "https://example.org/pub"), option.TrustedKey{Bytes: []byte{0x99, 0, 0xff}})
	data, err := trust.Format()
	if err != nil {
		t.Fatal(err)
	}
	again, err := option.ParseTrust(data)
	if err != nil {
		t.Fatal(err)
	}
	if second, _ := again.Format(); !bytes.Equal(data, second) || len(again.Bounds) != 2 || again.Bounds[0].URL != "https://example.org/pub" {
		t.Errorf("%s\nis read as\n%s", data, second)
	}
	if data, err := (*option.Trust)(nil).Format(); err != nil || !strings.Contains(string(data), `"trust": []`) {
		t.Errorf("nothing is written as %s, %v", data, err)
	}
	const entry = `{"url": "https://example.org/", "keys": [{"name": "", "added": "", "key": "x"}]}`
	for _, text := range []string{
		"", "{}", "[]", `{"v": 1}`, `{"v": 1, "trust": null}`, `{"v": 2, "trust": []}`, `{"v": 1, "trust": [], "only": true}`, `{"v": 1, "trust": []} {}`,
		`{"v": 1, "trust": [` + entry + "," + entry + `]}`,
		`{"v": 1, "trust": [{"url": "https://example.org/", "keys": []}]}`,
		`{"v": 1, "trust": [{"url": "https://example.org/", "keys": [{"name": "x"}]}]}`,
		`{"v": 1, "trust": [{"url": "example.org", "keys": [{"key": "x"}]}]}`,
		`{"v": 1, "trust": [{"url": "https://example.org/", "keys": [{"key": "x", "until": "x"}]}]}`,
	} {
		if _, err := option.ParseTrust([]byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	if trust, err := option.ParseTrust([]byte(`{"v": 1, "trust": [` + entry + `]}`)); err != nil || !trust.Any() {
		t.Error(trust, err)
	}
}

// FuzzParseTrust: reading, writing and reading is the same as reading, and each URL binds itself.
func FuzzParseTrust(f *testing.F) {
	f.Add([]byte(`{"v": 1, "trust": [{"url": "https://example.org/pub", "keys": [{"key": "x", "base64": "eA=="}]}]}`))
	f.Add([]byte(`{"v": 1, "trust": []}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		trust, err := option.ParseTrust(data)
		if err != nil {
			return
		}
		first, err := trust.Format()
		if err != nil {
			t.Fatal(err)
		}
		again, err := option.ParseTrust(first)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second, _ := again.Format(); !bytes.Equal(first, second) {
			t.Errorf("%s\nis read as\n%s", first, second)
		}
		for _, b := range trust.Bounds {
			u, err := url.Parse(b.URL)
			if err != nil {
				t.Fatal(err)
			}
			if got := trust.Of(u); got == nil || got.URL != b.URL {
				t.Errorf("%s is bound by %+v", b.URL, got)
			}
		}
	})
}
