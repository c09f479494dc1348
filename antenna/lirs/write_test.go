package lirs

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

func encode(t *testing.T, records ...feed.Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEncode(t *testing.T) {
	for _, tt := range []struct {
		name   string
		record feed.Record
		want   string
	}{
		{"a URL only", feed.Record{URL: "http://a/"}, "LIRS,0,0,0,0,http://a/,0,0,0,\n"},
		{"all of it", feed.Record{
			URL: "http://a/b,c", LastModified: 1, Detected: 2, Zone: 32400, Size: 3, Title: "朝顔", Author: `a,b\`,
			AgentURL: "http://an/",
			Format:   feed.LIRS, Fields: []feed.Field{{}, {Value: "x,y"}},
		}, "LIRS,1,2,32400,3,http://a/b\\,c,\xc4\xab\xb4\xe9,a\\,b\\\\,http://an/,,x\\,y,\n"},
		{"fields of another format", feed.Record{URL: "http://a/", Format: feed.HinaDI,
			Fields: []feed.Field{{Name: "URL", Value: "http://a/"}}},
			"LIRS,0,0,0,0,http://a/,0,0,0,\n"},
		{"failed", feed.Record{URL: "http://a/", LastModified: 1, Detected: 2, Failed: true}, "LIRS,0,0,0,0,http://a/,0,0,0,\n"},
		{"before 1970", feed.Record{URL: "http://a/", LastModified: -1, Detected: -1, Size: -1, Zone: -1},
			"LIRS,0,0,-1,0,http://a/,0,0,0,\n"},
		{"a title of two lines", feed.Record{URL: "http://a/", Title: "a\r\nb"}, "LIRS,0,0,0,0,http://a/,a  b,0,0,\n"},
		{"what EUC-JP has under another name", feed.Record{URL: "http://a/", Title: "〜−"},
			"LIRS,0,0,0,0,http://a/,\xa1\xc1\xa1\xdd,0,0,\n"},
		{"what EUC-JP has not", feed.Record{URL: "http://a/", Title: "a😀¥,\xff"},
			"LIRS,0,0,0,0,http://a/,a\xa2\xae\xa2\xae\\,\xa2\xae,0,0,\n"},
		{"a very long title", feed.Record{URL: "http://a/", Title: strings.Repeat("x", maxText+1), Author: "a"},
			"LIRS,0,0,0,0,http://a/,0,a,0,\n"},
	} {
		if got := encode(t, tt.record); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	ok := feed.Record{URL: "http://a/"}
	for name, r := range map[string]feed.Record{
		"no URL": {}, "a path": {URL: "/a"}, "a line more": {URL: "http://a/\nLIRS"},
		"a long URL":  {URL: "http://a/" + strings.Repeat("a", feed.MaxURL)},
		"a long line": {URL: "http://a/", Format: feed.LIRS, Title: strings.Repeat(`\`, 40<<10)},
	} {
		if got, err := Append([]byte("before"), r); err == nil || string(got) != "before" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err := Encode(&bytes.Buffer{}, slices.Values([]feed.Record{ok, r})); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	broken := errors.New("disk full")
	for _, n := range []int{1, 1000} {
		if err := Encode(failing{broken}, slices.Values(slices.Repeat([]feed.Record{ok}, n))); err != broken {
			t.Errorf("%d records: %v", n, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestRelayedIsNotAltered checks that a text of another agent is written unchanged, or left out if EUC-JP lacks one of
// its characters.
func TestRelayedIsNotAltered(t *testing.T) {
	for text, want := range map[string]bool{"日本語〓〜": true, "한국어": false, "a😀": false} {
		for _, r := range []feed.Record{
			{Format: feed.LIRS, URL: "http://h.example/", LastModified: 1, Title: text},
			{Format: feed.LIRS, URL: "http://h.example/", LastModified: 1, Author: text},
			{Format: feed.LIRS, URL: "http://h.example/", LastModified: 1, Fields: []feed.Field{{Value: text}}},
		} {
			line, err := Append([]byte("x"), r)
			if (err == nil) != want || err != nil && string(line) != "x" {
				t.Errorf("%q: %q, %v", text, line, err)
			}
			r.Format, r.Fields = feed.Own, nil
			if _, err := Append(nil, r); err != nil {
				t.Errorf("%q of our own: %v", text, err)
			}
		}
	}
}
