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
		"http://3221225985/x":                "https://192.0.2.1/",
		"https://0xC0.0.513./x":              "https://192.0.2.1/",
		"https://0300.0.2.1/x":               "https://192.0.2.1/",
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
		if got := boundBy(trust, u); got != want {
			t.Errorf("%s is bound by %q, want %q", asked, got, want)
		}
	}
	var none *option.Trust
	if boundBy(none, &url.URL{Scheme: "https", Host: "example.org"}) != "" || none.Any() || boundBy(trust, nil) != "" {
		t.Error("what binds nothing binds something")
	}
}

// boundBy returns the URL of the bound of u, or "an error".
func boundBy(trust *option.Trust, u *url.URL) string {
	switch b, err := trust.Of(u); {
	case err != nil:
		return "an error"
	case b != nil:
		return b.URL
	}
	return ""
}

// TestBoundReadings_Rule78: a path that servers may read in two ways is bound by what binds one of them, and refused if
// different keys count for them. So it leads neither out of a bound nor from one into another.
func TestBoundReadings_Rule78(t *testing.T) {
	trust := &option.Trust{}
	for _, word := range []string{"https://a.example/pub", "https://b.example/", "https://b.example/pub"} {
		trust.Add(bound(t, word), option.TrustedKey{Text: "key"})
	}
	for path, want := range map[string][2]string{ // in the first, only pub has keys; in the second, all
		"/pub/x":               {"pub", "pub"},
		"/x":                   {"", "/"},
		"/pub%2Fx":             {"pub", "an error"},
		"/pub%2fx":             {"pub", "an error"},
		"/pub/%2F../x":         {"pub", "an error"},
		"/pub/..%2Fx":          {"pub", "an error"},
		"/pub/%2e%2e%2Fx":      {"pub", "an error"},
		"/pub/%2e%2e/x":        {"", "/"},
		"/pub/.%2E/x":          {"", "/"},
		"/pub//../x":           {"pub", "an error"},
		"/pub/a/..//../x":      {"pub", "an error"},
		"//pub/x":              {"pub", "pub"},
		"/pub//x":              {"pub", "pub"},
		"/x//../pub/y":         {"pub", "an error"},
		"/x/%2F..%2Fpub/y":     {"pub", "an error"},
		"/x%2F../pub/y":        {"pub", "an error"},
		"/x%2F..%2Fpub/y":      {"pub", "an error"},
		"/pub%5Cx":             {"pub", "an error"},
		`/x\..\pub/y`:          {"pub", "an error"},
		"/pub/..%5Cx":          {"pub", "an error"},
		"/pub/a%2Fb":           {"pub", "pub"},
		"/pub/../../pub/x":     {"pub", "pub"},
		"/..%2Fpub/x":          {"pub", "an error"},
		"/pub/%252e%252e/x":    {"pub", "pub"},
		"/%70ub/x":             {"pub", "pub"},
		"/pub/%2e/%2E/x":       {"pub", "pub"},
		"/pub;v=1/x":           {"pub", "an error"},
		"/pub;/x":              {"pub", "an error"},
		"/pub/x;v=1":           {"pub", "pub"},
		"/x;v=1":               {"", "/"},
		"/%70ub%3Bv=1/x":       {"pub", "an error"},
		"/x/..;/pub/y":         {"pub", "an error"},
		"/x/..;v=1/pub/y":      {"pub", "an error"},
		"/x/..%3B/pub/y":       {"pub", "an error"},
		"/pub/..;/x":           {"pub", "an error"},
		"/x/..;b/pub/..%3Ba/y": {"pub", "an error"},
		`/x\..;\pub/y`:         {"pub", "an error"},
		"/PUB/x":               {"pub", "an error"},
		"/pUb;v=1/x":           {"pub", "an error"},
		"/public/..%2Fpub%2F":  {"pub", "an error"},
	} {
		for i, host := range []string{"https://a.example", "https://b.example"} {
			u, err := url.Parse(host + path)
			if err != nil {
				t.Fatal(err)
			}
			wanted := want[i]
			if wanted == "pub" || wanted == "/" {
				wanted = host + "/" + strings.Trim(wanted, "/")
			}
			if got := boundBy(trust, u); got != wanted {
				t.Errorf("%s is bound by %q, want %q", u, got, wanted)
			}
		}
	}
}

// TestBoundCase_Rule78: of two bounds that differ in case alone, the one in the same letters counts.
func TestBoundCase_Rule78(t *testing.T) {
	trust := &option.Trust{}
	for _, word := range []string{"https://example.org/Pub", "https://example.org/pub", "https://example.org/x",
		"https://example.org/X/y"} {
		trust.Add(bound(t, word), option.TrustedKey{Text: "key"})
	}
	for path, want := range map[string]string{
		"/pub/f": "https://example.org/pub", "/Pub/f": "https://example.org/Pub", "/x/f": "https://example.org/x",
		"/X/y/f": "https://example.org/X/y", "/x/y/f": "an error", "/X/f": "https://example.org/x",
	} {
		if got := boundBy(trust, &url.URL{Scheme: "https", Host: "example.org", Path: path}); got != want {
			t.Errorf("%s is bound by %q, want %q", path, got, want)
		}
	}
}

// TestBoundForges_Rule78: owners and projects of a forge are compared without case, its files with it.
func TestBoundForges_Rule78(t *testing.T) {
	trust := &option.Trust{}
	for _, word := range []string{
		"https://github.com/Owner", "https://github.com/owner/Tool/releases/download/v1",
		"https://gitlab.com/Group/sub/Tool/", "https://raw.githubusercontent.com/Owner/Tool", "https://forge.example/Owner",
	} {
		trust.Add(bound(t, word), option.TrustedKey{Text: "key"})
	}
	if trust.Add(bound(t, "https://github.com/oWNER/"), option.TrustedKey{Text: "key"}) {
		t.Error("an owner in other letters is another one")
	}
	for asked, want := range map[string]string{
		"https://github.com/owner/x/releases/download/v2/x":                "https://github.com/Owner",
		"https://GitHub.com/OWNER":                                         "https://github.com/Owner",
		"https://github.com/Owner/TOOL/releases/download/v1/x":             "https://github.com/owner/Tool/releases/download/v1",
		"https://github.com/Owner/TOOL/releases/download/V1/x":             "https://github.com/Owner",
		"https://github.com/owners/x":                                      "",
		"https://gitlab.com/group/SUB/tool/-/releases/v1/downloads/x":      "https://gitlab.com/Group/sub/Tool/",
		"https://gitlab.com/group/other/-/sub/tool":                        "",
		"https://raw.githubusercontent.com/owner/tool/main/x":              "https://raw.githubusercontent.com/Owner/Tool",
		"https://forge.example/Owner/x":                                    "https://forge.example/Owner",
		"https://forge.example/owner/x":                                    "https://forge.example/Owner",
		"https://github.com:8443/Owner/x":                                  "",
		"https://github.com/owner%2FTool":                                  "https://github.com/Owner",
		"https://github.com/x/..%2F..%2Fowner/tool/releases/download/v1/x": "https://github.com/owner/Tool/releases/download/v1",
	} {
		u, err := url.Parse(asked)
		if err != nil {
			t.Fatal(err)
		}
		if got := boundBy(trust, u); got != want {
			t.Errorf("%s is bound by %q, want %q", asked, got, want)
		}
	}
}

// TestBoundRefused: what would bind other URLs than the user thinks is refused.
func TestBoundRefused(t *testing.T) {
	for _, word := range []string{
		"", "example.org", "example.org/pub", "ftp://example.org/", "https:///pub/", "https://me@example.org/",
		"https://example.org/pub?x=1", "https://example.org/pub?", "https://example.org/#x",
		"https://example.org/pub/*", "https://ex ample.org/",
		"https://example.org/pub%2Fx", "https://example.org/a//../b", `https://example.org/a\b`,
		"https://example.org/a%5cb", "https://example.org/a;b",
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
	}{{bound(t, "https://example.org/"), "one", 0, 0}, {same, "three", 0, 2}, {same, "one", 1, 1}, {at, "two", 1, 0},
		{at, "two", 0, 0}} {
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
	if second, _ := again.Format(); !bytes.Equal(data, second) || len(again.Bounds) != 2 ||
		again.Bounds[0].URL != "https://example.org/pub" {
		t.Errorf("%s\nis read as\n%s", data, second)
	}
	if data, err := (*option.Trust)(nil).Format(); err != nil || !strings.Contains(string(data), `"trust": []`) {
		t.Errorf("nothing is written as %s, %v", data, err)
	}
	const entry = `{"url": "https://example.org/", "keys": [{"name": "", "added": "", "key": "x"}]}`
	for _, text := range []string{
		"", "{}", "[]", `{"v": 1}`, `{"v": 1, "trust": null}`, `{"v": 2, "trust": []}`,
		`{"v": 1, "trust": [], "only": true}`, `{"v": 1, "trust": []} {}`,
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
			if got := boundBy(trust, u); got != b.URL {
				t.Errorf("%s is bound by %s", b.URL, got)
			}
		}
	})
}
