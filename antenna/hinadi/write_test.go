package hinadi

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

func encode(t *testing.T, h Header, records ...feed.Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, h, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everything is a record of another agent with all fields of a summary.
var everything = feed.Record{
	URL: "http://a.example/", Virtual: "http://v.example/", Title: " 朝顔\x00\r\nの日記", Author: "佐倉",
	ContentType: "image/png", Server: "s",
	Keywords: []string{"園芸", "日記"}, LastModified: 1794273165, Detected: 1794279483, Date: 1794279600, Expires: 1794301200,
	Size: 12, Agent: "K/1", AgentURL: "http://k.example/", Method: []string{"REMOTE", "HEAD"}, Result: "200", Complete: true,
	Fields: []feed.Field{{Name: "X-Note", Value: "n"}, {Name: "title", Value: "again"}, {Name: "no name", Value: "x"}},
}

const summary = "URL: http://a.example/\r\nHINA-Version: HINA/2.2\r\nVirtual: http://v.example/\r\nContent-Type: image/png\r\n" +
	"Date: Tue, 10 Nov 2026 03:00:00 GMT\r\nTitle: 朝顔   の日記\r\nAuthor-Name: 佐倉\r\nExpires: Tue, 10 Nov 2026 09:00:00 GMT\r\n" +
	"Expire: Tue, 10 Nov 2026 09:00:00 GMT\r\nLast-Modified: Tue, 10 Nov 2026 01:12:45 GMT\r\n" +
	"Last-Modified-Detected: Tue, 10 Nov 2026 02:58:03 GMT\r\nServer: s\r\nAuthorized: K/1\r\nAuthorized-url: " +
	"http://k.example/\r\n" +
	"Method: REMOTE/HEAD/200\r\nKeyword: 園芸, 日記\r\nContent-Length: 12\r\n"

// TestSummary checks that a summary of a record is accepted in strict mode.
func TestSummary(t *testing.T) {
	r := everything
	r.Title += "😀"
	got := encode(t, Header{UserAgent: "braid/1", Date: 1794279600}, r)
	want := "HINA/2.2beta\r\nUser-Agent: braid/1\r\nDate: Tue, 10 Nov 2026 03:00:00 GMT\r\nContent-Type: text/plain; " +
		"charset=UTF-8\r\n\r\n" +
		strings.Replace(summary, "の日記", "の日記😀", 1) + "X-Note: n\r\n\r\n"
	if got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	records, reports, _, err := read(got, feed.Options{Strict: true})
	if len(records) != 1 || len(reports) > 0 || err != nil {
		t.Errorf("%v, %q, %v", records, reports, err)
	}

	r = everything
	r.Format = feed.LIRS // extension fields of another format are not written
	if got := encode(t, Header{UserAgent: "b"}, r); !strings.Contains(got, "charset=EUC-JP") || strings.Contains(got, "X-Note") {
		t.Errorf("%q", got)
	}
	records, reports, d, _ := read(encode(t, Header{UserAgent: "b"}, r), feed.Options{Strict: true})
	if len(records) != 1 || len(reports) > 0 || records[0].Title != "朝顔   の日記" || d.Input().Charset != "euc-jp" {
		t.Errorf("%v, %q", records, reports)
	}
}

// TestSummaryLeavesOut checks that values that are not valid for a field are left out.
func TestSummaryLeavesOut(t *testing.T) {
	got := encode(t, Header{UserAgent: "b"}, feed.Record{
		Format: feed.SOIF, URL: "http://a/", Virtual: "nowhere", AgentURL: "/x", ContentType: "HTML",
		Title:  strings.Repeat("x", maxValue+1),
		Author: " \t", LastModified: 1 << 60, Detected: -1 << 63, Method: []string{"LENGTH"}, Result: "200",
	}, feed.Record{
		URL: "http://b/", Method: []string{"GET"}, Result: "-100",
	})
	if _, blocks, _ := strings.Cut(got, "\r\n\r\n"); blocks != "URL: http://a/\r\n\r\nURL: http://b/\r\n\r\n" {
		t.Errorf("%q", blocks)
	}
}

// TestRelay checks that a decoded block is written with the fields that it had (section 12), in the form that all
// agents read.
func TestRelay(t *testing.T) {
	in := "hina/2.1\nUser-Agent: a\nContent-Type: text/plain; charset=Shift_JIS\n\ntitle:\t\x92\xa9\x8a\xe7\nX-b: " +
		"c\nurl: http://a/INDEX.html\n" +
		"Author-Name: \nVitural: http://v/\nLast-Modified: Mon, 9 Nov 2026 22:05:00 GMT\n"
	records, _, _, err := read(in, feed.Options{})
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	got := encode(t, Header{UserAgent: "b"}, records...)
	want := "HINA/2.2beta\r\nUser-Agent: b\r\nContent-Type: text/plain; charset=EUC-JP\r\n\r\nURL: " +
		"http://a/INDEX.html\r\nTitle: \xc4\xab\xb4\xe9\r\n" +
		"X-b: c\r\nVirtual: http://v/\r\nLast-Modified: Mon, 9 Nov 2026 22:05:00 GMT\r\n\r\n"
	if got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestEncodeRefuses(t *testing.T) {
	ok := feed.Record{URL: "http://a/"}
	long := feed.Record{Format: feed.HinaDI, URL: "http://a/",
		Fields: []feed.Field{{Name: "Title", Value: strings.Repeat("x", maxValue+1)}}}
	for name, records := range map[string][]feed.Record{
		"no URL": {ok, {}}, "a path": {{URL: "/a"}}, "a line more": {{URL: "http://a/\r\nTitle: x"}},
		"a long URL": {{URL: "http://a/" + strings.Repeat("a", feed.MaxURL)}}, "a long field": {long},
	} {
		if err := Encode(&bytes.Buffer{}, Header{UserAgent: "b"}, slices.Values(records)); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if err := Encode(&bytes.Buffer{}, Header{UserAgent: " \n"}, slices.Values([]feed.Record{ok})); err == nil {
		t.Error("a feed without User-Agent is written")
	}
	broken := errors.New("disk full")
	if err := Encode(failing{broken}, Header{UserAgent: "b"}, slices.Values([]feed.Record{ok})); err != broken {
		t.Errorf("%v", err)
	}
	many := slices.Repeat([]feed.Record{ok}, 1000)
	if err := Encode(failing{broken}, Header{UserAgent: "b"}, slices.Values(many)); err != broken {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
