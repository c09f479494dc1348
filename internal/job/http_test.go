package job

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"braid/internal/option"
	"braid/internal/problem"

	"braid/download"
)

func TestHeaders(t *testing.T) {
	w := &HTTP{Header: option.WordsValue{"accept: a, b", "X-Empty:", "Authorization: Bearer x:y", "Accept: c"}}
	h, err := w.headers()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"Accept": {"a, b", "c"}, "X-Empty": {""}, "Authorization": {"Bearer x:y"}}
	if !maps.EqualFunc(h, want, slices.Equal[[]string]) {
		t.Errorf("%q, want %q", h, want)
	}
	for _, line := range []string{
		"", "x", ": x", "a b: c", "a\r\nb: c", "a: b\r\nc: d", "a: \x00", "ä: x", "Range: bytes=0-1",
		"if-none-match: x", "expect: 100-continue", "accept-encoding: gzip",
		"content-length: 0", "TE: trailers", "If-Match: *",
	} {
		w := &HTTP{Header: option.WordsValue{line}}
		if _, err := w.headers(); err == nil || problem.Of(err).Kind != download.Usage {
			t.Errorf("-H %q: %v", line, err)
		}
	}
}

// Proves rule 62: what is refused is not repeated.
func TestHeaderIsNotRepeated_Rule62(t *testing.T) {
	for _, line := range []string{"Authorization: s3cret\x01", "s3cret"} {
		w := &HTTP{Header: option.WordsValue{line}}
		if _, err := w.headers(); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("-H %q: %v", line, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	u := &url.URL{User: url.UserPassword("a", "b")}
	for flag, want := range map[string]string{"": "a:b", "c:d": "c:d", "c:d:e": "c:d%3Ae", "c:": "c:"} {
		got, err := (&Credentials{NoNetrc: true, User: flag}).UserFor(u)
		if err != nil || got.String() != want {
			t.Errorf("-u %q: %v, %v", flag, got, err)
		}
	}
	for _, flag := range []string{"s3cret", ":s3cret"} {
		if _, err := (&Credentials{NoNetrc: true, User: flag}).UserFor(u); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("-u %q: %v", flag, err)
		}
	}
}

func TestWebURL(t *testing.T) {
	for word, want := range map[string]string{
		"http://h/a": "http://h/a", "HTTPS://h/a?b#c": "https://h/a?b", "http://[::1]:80/ä": "http://[::1]:80/%C3%A4",
	} {
		if u, err := ParseWebURL(word); err != nil || u.String() != want {
			t.Errorf("%q: %v, %v", word, u, err)
		}
	}
	for word, want := range map[string]string{
		"": "the URL is empty", "a.iso": "https://a.iso?", "example.org/a.iso": "https://example.org/a.iso?",
		"ftp://h/a":          "not an http",
		"file:///etc/passwd": "not an http", "magnet:?xt=x": "not an http", "http:///a": "the URL has no host",
		"http://:80/a": "the URL has no host",
		"http:h/a":     "the URL has no host", "http://h:x/a": "is not a port", "http://h/%zz": "invalid URL escape",
		"./a.iso":       "not an http",
		"http://h/\x7f": `http://h/\x7f: invalid control character`, "//h/a": "not an http",
		"http://":     "http://: the URL has no host",
		" http://h/a": "the URL begins or ends with a space", "http://h/a ": "ends with a space",
		"http://h/a https://h/b": "two URLs", "h/a\n": "ends with a space", "1:2": "not an http", ":": "not an http",
	} {
		if u, err := ParseWebURL(word); err == nil || !strings.Contains(err.Error(), want) ||
			problem.Of(err).Kind != download.Usage {
			t.Errorf("%q: %v, %v, want %q", word, u, err, want)
		}
	}
}

// TestWebURLKeepsPasswords_Rule62: also when a character in a password makes a part of it a port.
func TestWebURLKeepsPasswords_Rule62(t *testing.T) {
	for _, word := range []string{"http://me:s3cret/x@h/a", "http://me:s3cret?x@h/a", "http://me:s3cret#x@h/a",
		"http://me:s3cret@h:y/a", " http://me:s3cret@h/a", "http://me:s3cret%zz@h/a"} {
		if _, err := ParseWebURL(word); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// No time for peers is none at all, as scripts say it to aria2c, also beside a ratio.
func TestNoSeedTime(t *testing.T) {
	for _, word := range []string{"0", "0s", "0.0", "0m"} {
		p := Peers{SeedRatio: 1.5}
		if err := p.SeedTime.Set(word); err != nil || p.Seeds() || p.address() != "" {
			t.Errorf("%s: %v, seeds %t", word, err, p.Seeds())
		}
	}
	var p Peers
	if err := p.SeedTime.Set("-1m"); err == nil {
		t.Error("a time below zero is none")
	}
	if err := p.SeedTime.Set("30m"); err != nil || !p.Seeds() {
		t.Errorf("30m: %v", err)
	}
}

func TestServerName(t *testing.T) {
	for word, want := range map[string]string{
		"H.Example.": "h.example", "h:443": "h:443", "[::1]:8": "[::1]:8", "::1": "::1", "[::1]": "::1",
		"10.0.0.1:1": "10.0.0.1:1",
		"*":          "", "*.example": "", "10.0.0.0/8": "", "http://h": "", "": "", ":443": "",
	} {
		got, err := serverName(word)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", word, got, err)
		}
	}
}
