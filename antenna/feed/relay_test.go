package feed_test

import (
	"reflect"
	"slices"
	"testing"

	"braid/antenna/feed"
)

const now feed.Time = 1794279600

// block returns a record that may be relayed.
func block() feed.Record {
	return feed.Record{
		Format: feed.HinaDI, URL: "http://h.example/", Agent: "Kamome/1.4", AgentURL: "http://antenna.example/",
		Detected: now - 100, Method: []string{"HEAD"}, Result: "200",
		Fields: []feed.Field{{Name: "URL", Value: "http://h.example/"}, {Name: "X-Y", Value: "z"},
			{Name: "METHOD", Value: "HEAD/200"}},
	}
}

var relay = feed.Relay{Self: "http://we.example:80/"}

// TestPass checks each reason for which Pass refuses a record, and the nearest record that it accepts.
func TestPass(t *testing.T) {
	remote := slices.Repeat([]string{"REMOTE"}, 7)
	for _, tt := range []struct {
		name   string
		change func(*feed.Record)
		want   feed.Refusal
	}{
		{"as it is", func(r *feed.Record) {}, ""},
		{"another format", func(r *feed.Record) { r.Format = feed.LIRS }, feed.OtherFormat},
		{"kept in part", func(r *feed.Record) { r.Extract = true }, "not-whole"},
		{"is not valid text", func(r *feed.Record) { r.Warnings = []string{"date-no-zone:Date", "undecodable:Title"} },
			"undecodable"},
		{"octets that are no text, somewhere", func(r *feed.Record) { r.Warnings = []string{"undecodable"} }, "undecodable"},
		{"another warning", func(r *feed.Record) { r.Warnings = []string{"undecodable-by-others"} }, ""},
		{"failed", func(r *feed.Record) { r.Failed = true }, "nothing-known"},
		{"no Authorized", func(r *feed.Record) { r.Agent = "" }, "no-authority"},
		{"no Authorized-url", func(r *feed.Record) { r.AgentURL = "" }, "no-authority"},
		{"ours", func(r *feed.Record) { r.AgentURL = "HTTP://We.example" }, "own-returned"},
		{"of somebody on our host", func(r *feed.Record) { r.AgentURL = "http://we.example/other" }, ""},
		{"six hops and ours", func(r *feed.Record) { r.Method = slices.Concat(remote, []string{"GET"}) }, ""},
		{"eight hops and ours", func(r *feed.Record) { r.Method = slices.Concat(remote, []string{"remote", "GET"}) },
			"too-many-hops"},
		{"dated by its feed alone", func(r *feed.Record) { r.Detected, r.FeedDate, r.Received = 0, now, now }, "undated"},
		{"dated by itself", func(r *feed.Record) { r.Detected, r.Date = 0, now }, ""},
		{"expires, no more is known", func(r *feed.Record) { r.Detected, r.Expires = 0, now }, ""},
		{"an hour ahead", func(r *feed.Record) { r.Detected = now + 3600 }, ""},
		{"more than an hour ahead", func(r *feed.Record) { r.Detected = now + 3601 }, "from-future"},
		{"at its end", func(r *feed.Record) { r.Expires = now }, ""},
		{"past its end", func(r *feed.Record) { r.Expires = now - 1 }, "no-longer-good"},
		{"eight hours old", func(r *feed.Record) { r.Detected = now - 28800 }, ""},
		{"more than eight hours old", func(r *feed.Record) { r.Detected = now - 28801 }, "no-longer-good"},
	} {
		r := block()
		tt.change(&r)
		if _, why := relay.Pass(feed.HinaDI, r, now); why != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, why, tt.want)
		}
	}
}

// TestPassed checks that Pass puts REMOTE before the Method of a record, changes nothing else, and does not modify its
// argument.
func TestPassed(t *testing.T) {
	r, want := block(), block()
	want.Method = []string{"REMOTE", "HEAD"}
	want.Fields[2].Value = "REMOTE/HEAD/200"
	if got, _ := relay.Pass(feed.HinaDI, r, now); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(r, block()) {
		t.Errorf("%+v\nbecame %+v", r, got)
	}
	r.Method, r.Fields = nil, r.Fields[:2]
	if got, _ := relay.Pass(feed.HinaDI, r, now); !reflect.DeepEqual(got, r) {
		t.Errorf("without a Method it became %+v", got)
	}
	r.Fields = []feed.Field{{Name: "Method"}}
	if got, _ := relay.Pass(feed.HinaDI, r, now); !reflect.DeepEqual(got, r) {
		t.Errorf("with an empty Method it became %+v", got)
	}
}

// TestPassOthers checks that records of LIRS and SOIF, which have no Method, are passed unchanged, and that own records
// are recognized by their agents.
func TestPassOthers(t *testing.T) {
	lirs := feed.Record{Format: feed.LIRS, URL: "http://h.example/", AgentURL: "http://antenna.example/", Detected: now,
		Fields: []feed.Field{{Value: "Method"}}}
	soif := feed.Record{Format: feed.SOIF, URL: "http://h.example/", AgentURL: "g.example:8500", Detected: now - 1e6,
		Fields: []feed.Field{{Name: "Method", Value: "x"}}}
	for _, r := range []feed.Record{lirs, soif} {
		if got, why := relay.Pass(r.Format, r, now); why != "" || !reflect.DeepEqual(got, r) {
			t.Errorf("%+v became %+v, %s", r, got, why)
		}
	}
	lirs.AgentURL = "http://WE.example/antenna/index.html"
	soif.AgentURL = "We.example"
	y := relay
	y.Self = "http://we.example/Antenna/"
	for _, r := range []feed.Record{lirs, soif} {
		if _, why := y.Pass(r.Format, r, now); why != "own-returned" {
			t.Errorf("%+v: %q", r, why)
		}
	}
	soif.Expires, soif.AgentURL = now-1, "g.example"
	if _, why := relay.Pass(feed.SOIF, soif, now); why != "no-longer-good" {
		t.Errorf("%+v: %q", soif, why)
	}
}

// TestPublish checks that Publish returns one whole record for each URL and reports those that it refuses.
func TestPublish(t *testing.T) {
	report := func(url, title string, detected feed.Time, method ...string) feed.Record {
		r := block()
		r.URL, r.Title, r.Detected, r.Method, r.Fields = url, title, detected, method, nil
		return r
	}
	own := []feed.Record{
		{URL: "http://h.example/own", Title: "ours, later", Detected: now - 10, Method: []string{"GET"}},
		{URL: "http://h.example/both", Title: "ours, as late", Detected: now - 20, Method: []string{"GET"}},
		{URL: "http://h.example/failed", Title: "failed", Failed: true},
	}
	read := []feed.Record{
		report("http://h.example/own", "theirs, before", now-11, "GET"),
		report("http://h.example/both", "theirs, as late", now-20, "GET"),
		report("http://H.example/%62oth", "theirs, later", now-19, "REMOTE", "REMOTE", "GET"),
		report("http://h.example/read", "far", now-30, "REMOTE", "GET"),
		report("http://h.example/read", "near", now-30, "GET"),
		report("news:x.y", "nothing to watch", now-30, "GET"),
		report("news:z", "nothing to watch, either", now-30, "GET"),
		report("http://h.example/old", "old", now-30000, "GET"),
	}
	for _, tt := range []struct {
		format feed.FormatID
		read   []feed.Record
		want   []string
		refuse []string
	}{
		{feed.HinaDI, read, []string{"ours, later", "theirs, later", "near", "nothing to watch",
			"nothing to watch, either"}, []string{"old no-longer-good"}},
		{feed.HinaDI, nil, []string{"ours, later", "ours, as late"}, nil},
		{feed.HinaDI, read[:2], []string{"ours, later", "ours, as late"}, nil},
		{feed.LIRS, read[:1], []string{"ours, later", "ours, as late", "failed"}, []string{"theirs, before other-format"}},
	} {
		var titles, refused []string
		note := func(r feed.Record, why feed.Refusal) { refused = append(refused, r.Title+" "+string(why)) }
		for _, r := range relay.Publish(tt.format, own, tt.read, now, note) {
			titles = append(titles, r.Title)
		}
		if !slices.Equal(titles, tt.want) || !slices.Equal(refused, tt.refuse) {
			t.Errorf("%v: %q, refused %q", tt.format, titles, refused)
		}
		if n := len(relay.Publish(tt.format, own, tt.read, now, nil)); n != len(tt.want) {
			t.Errorf("%v: %d records when nobody listens", tt.format, n)
		}
	}
	if got := relay.Publish(feed.LIRS, []feed.Record{own[0]},
		[]feed.Record{{Format: feed.LIRS, URL: "http://h.example/OWN", AgentURL: "x://y/", Detected: now}}, now,
		nil); len(got) != 1 {
		t.Errorf("LIRS: %d records of one URL", len(got))
	}
}

// TestChain checks three agents of which each reads the previous one: each adds one REMOTE to the Method, and the first
// refuses its own record.
func TestChain(t *testing.T) {
	names := []string{"http://a.example/", "http://b.example/", "http://c.example/"}
	record := block()
	record.AgentURL = names[0]
	read := []feed.Record{record}
	for i, want := range []string{"REMOTE/HEAD/200", "REMOTE/REMOTE/HEAD/200"} {
		y := feed.Relay{Self: names[i+1]}
		read = y.Publish(feed.HinaDI, nil, read, now, nil)
		if len(read) != 1 || read[0].Fields[2].Value != want || read[0].Hops() != i+1 {
			t.Fatalf("%s publishes %+v, want %s", y.Self, read, want)
		}
	}
	first := feed.Relay{Self: names[0]}
	if got := first.Publish(feed.HinaDI, nil, read, now, nil); len(got) > 0 {
		t.Errorf("the first publishes %+v", got)
	}
}

// TestCircle checks two agents that read each other: the record of a third one, which is gone, ends after eight hops,
// before it expires.
func TestCircle(t *testing.T) {
	read := []feed.Record{block()}
	for turn := range 9 {
		y := feed.Relay{Self: []string{"http://a.example/", "http://b.example/"}[turn%2]}
		read = y.Publish(feed.HinaDI, nil, read, now, nil)
		if alive := turn < 8; alive != (len(read) == 1) {
			t.Fatalf("turn %d: %+v", turn, read)
		}
	}
}
