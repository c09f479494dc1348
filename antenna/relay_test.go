package antenna_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// TestRelay checks three agents in a row, each of which reads and publishes the feed of the previous one. The block
// stays the same except for one REMOTE from each agent.
func TestRelay(t *testing.T) {
	const (
		now  feed.Time = 1794279600
		head           = "HINA/2.2beta\r\nUser-Agent: a\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\n"
	)
	block := func(method string) string {
		return "URL: http://h.example/\r\nTitle: 朝顔の観察日記\r\nLast-Modified: Tue, 10 Nov 2026 01:12:45 GMT\r\n" +
			"Last-Modified-Detected: Tue, 10 Nov 2026 02:58:03 GMT\r\nAuthorized: Kamome/1.4\r\nAuthorized-url: " +
			"http://a.example/\r\n" +
			"Method: " + method + "\r\nX-Y: z\r\nKeyword: a, b\r\n\r\n"
	}
	text := head + block("HEAD/200")
	for _, self := range []string{"http://b.example/", "http://c.example/", "http://d.example/"} {
		list, rejected := collect(t, decodeHina(strings.NewReader(text), feed.Options{}))
		if rejected != "" || len(list) != 1 {
			t.Fatalf("%d records, %s:\n%s", len(list), rejected, text)
		}
		relay := feed.Relay{Self: self}
		list = relay.Publish(feed.HinaDI, nil, list, now, nil)
		var b bytes.Buffer
		if err := encodeHina(&b, slices.Values(list)); err != nil {
			t.Fatal(err)
		}
		text = b.String()
	}
	list, _ := collect(t, decodeHina(strings.NewReader(text), feed.Options{Strict: true}))
	if len(list) != 1 || list[0].Hops() != 3 {
		t.Fatalf("%d records:\n%s", len(list), text)
	}
	var fields strings.Builder
	for _, f := range list[0].Fields {
		fields.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	if got, want := fields.String()+"\r\n", block("REMOTE/REMOTE/REMOTE/HEAD/200"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	first := feed.Relay{Self: "http://A.example"}
	if back := first.Publish(feed.HinaDI, nil, list, now, nil); len(back) > 0 {
		t.Errorf("the first agent publishes what it said itself: %+v", back)
	}
}

// TestRelaySOIF checks that objects of SOIF are byte by byte the same after three agents have relayed them.
func TestRelaySOIF(t *testing.T) {
	const object = "@DOCUMENT { http://h.example/\nUpdate-Time{10}:\t1794279483\nIcon{4}:\t\x00\xff}\n\nTitle{1}:\tx\nTitle{1}:\ty\n" +
		"Gatherer-Host{9}:\tg.example\nGatherer-Port{4}:\t8500\n}\n"
	text := object
	for range 3 {
		list, _ := collect(t, decodeSOIF(strings.NewReader(text), feed.Options{}))
		relay := feed.Relay{Self: "http://b.example/"}
		text = string(write(t, formats[".soif"], relay.Publish(feed.SOIF, nil, list, 1794279600, nil)))
	}
	if text != object {
		t.Errorf("%q, want %q", text, object)
	}
}
