package watch

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"braid/antenna"
)

func get(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got := w.Header().Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("Content-Type is %s", got)
	}
	return w.Body.String()
}

// grammar matches lines of the text format.
var grammar = regexp.MustCompile(`^(# HELP [a-z_]+ [^\n]+|# TYPE [a-z_]+ (counter|gauge)|[a-z_]+(\{[a-z]+="([^"\\\n]|\\[\\"n])*"(,[a-z]+="([^"\\\n]|\\[\\"n])*")*\})? [0-9.]+)$`)

func TestMetrics(t *testing.T) {
	m := &Metrics{Version: `1 "x"`, Start: time.Unix(1700000000, 0)}
	m.Know(antenna.Status{
		Feeds: []antenna.FeedStatus{{Name: "old", Polled: time.Unix(1700000005, 0)},
			{Name: "down", Polled: time.Unix(1700000006, 0), Failures: 3}},
		Watches: []antenna.WatchStatus{{Name: "w", Last: antenna.Outcome{At: time.Unix(1700000007, 5e8),
			ModTime: time.Unix(1700000008, 0)}}, {Name: "w", Last: antenna.Outcome{At: time.Unix(1, 0)}}},
	})
	m.Add("quiet", "w")
	update := antenna.Update{Watch: "w"}
	for _, ev := range []antenna.Event{
		antenna.Polled{Feed: "f", Bytes: 10}, antenna.Polled{Feed: "f", Bytes: 5, Unchanged: true},
		antenna.Polled{Feed: "f", Unchanged: true},
		antenna.PollFailed{Feed: "f\"\n\\\xff", Failures: 2}, antenna.Updated{Update: update},
		antenna.Handled{Update: update, Err: errors.New("x"), Outcome: antenna.Outcome{Bytes: 3}},
		antenna.Published{}, antenna.Published{Err: errors.New("x")}, antenna.Skipped{}, antenna.StoreLost{},
	} {
		m.Observe(ev)
	}
	text := get(t, m)
	for _, want := range []string{
		`braid_build_info{version="1 \"x\""} 1`, `process_start_time_seconds 1700000000`,
		`braid_feed_polls_total{feed="f",result="changed"} 1`, `braid_feed_polls_total{feed="f",result="unchanged"} 2`,
		`braid_feed_polls_total{feed="f\"\n\\` + "\ufffd" + `",result="failed"} 1`, `braid_feed_bytes_total{feed="f"} 15`,
		`braid_feed_failures{feed="f\"\n\\` + "\ufffd" + `"} 2`, `braid_feed_failures{feed="down"} 3`,
		`braid_feed_failures{feed="old"} 0`,
		`braid_feed_last_success_timestamp_seconds{feed="old"} 1700000005`,
		`braid_feed_last_success_timestamp_seconds{feed="down"} 0`,
		`braid_watch_updates_total{watch="w"} 1`, `braid_watch_updates_total{watch="quiet"} 0`,
		`braid_watch_downloads_total{watch="w",result="failed"} 1`, `braid_watch_downloads_total{watch="w",result="changed"} 0`,
		`braid_watch_bytes_total{watch="w"} 3`, `braid_watch_last_success_timestamp_seconds{watch="w"} 1700000007.5`,
		`braid_watch_last_change_timestamp_seconds{watch="w"} 1700000008`,
		`braid_watch_last_success_timestamp_seconds{watch="quiet"} 0`,
		`braid_publications_total{result="done"} 1`, `braid_publications_total{result="failed"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("there is no line %s", want)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !grammar.MatchString(line) {
			t.Errorf("line %q", line)
		}
		if seen[line] {
			t.Errorf("twice: %s", line)
		}
		seen[line] = true
	}
	m.Observe(antenna.Handled{Update: update, Outcome: antenna.Outcome{Bytes: 4, Changed: true}})
	m.Observe(antenna.Handled{Update: update})
	m.Observe(antenna.Polled{Feed: "down"})
	text = get(t, m)
	now := `1[7-9]\d{8}`
	for _, want := range []string{
		`braid_watch_downloads_total\{watch="w",result="changed"\} 1`,
		`braid_watch_downloads_total\{watch="w",result="unchanged"\} 1`,
		`braid_watch_bytes_total\{watch="w"\} 7`, `braid_feed_failures\{feed="down"\} 0`,
		`braid_feed_last_success_timestamp_seconds\{feed="down"\} ` + now,
	} {
		if !regexp.MustCompile(`\n` + want).MatchString(text) {
			t.Errorf("there is no line %s", want)
		}
	}
}

// After a reload, counts continue, and feeds and watches that are no longer configured are removed.
func TestKnowAgain(t *testing.T) {
	m := &Metrics{}
	s := antenna.Status{Feeds: []antenna.FeedStatus{{Name: "a"}, {Name: "b"}},
		Watches: []antenna.WatchStatus{{Name: "v"}, {Name: "w"}}}
	m.Know(s)
	m.Observe(antenna.Polled{Feed: "b", Bytes: 9})
	m.Observe(antenna.Updated{Update: antenna.Update{Watch: "w"}})
	s.Feeds, s.Watches = s.Feeds[1:], s.Watches[1:]
	m.Know(s)
	text := get(t, m)
	if strings.Contains(text, `"a"`) || strings.Contains(text, `"v"`) ||
		!strings.Contains(text, `braid_feed_bytes_total{feed="b"} 9`) ||
		!strings.Contains(text, `braid_watch_updates_total{watch="w"} 1`) {
		t.Error(text)
	}
}

func TestMethod(t *testing.T) {
	w := httptest.NewRecorder()
	(&Metrics{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/metrics", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestMetricsOfReleases checks the gauges of a watch that follows releases, from the stored state and after events.
func TestMetricsOfReleases(t *testing.T) {
	m := &Metrics{}
	m.Know(antenna.Status{Follows: []antenna.FollowStatus{{Name: "w", Newest: "1.1", Waiting: 2}}})
	m.Add("w", "file")
	for _, tt := range []struct {
		newest  string
		waiting string
	}{{"1.1", "2"}, {"1.2", "1"}, {"", "0"}} {
		text := get(t, m)
		if want := `braid_watch_newest_release_info{watch="w",version="` + tt.newest + `"} 1`; strings.Contains(text,
			want) != (tt.newest != "") {
			t.Errorf("newest %q: %s", tt.newest, text)
		}
		if !strings.Contains(text, `braid_watch_waiting_releases{watch="w"} `+tt.waiting+"\n") ||
			strings.Contains(text, `braid_watch_waiting_releases{watch="file"}`) {
			t.Errorf("waiting %s: %s", tt.waiting, text)
		}
		if m.Observe(antenna.Followed{Watch: "w"}); tt.newest == "1.1" {
			m.Observe(antenna.Followed{Watch: "w", Newest: "1.2", Waiting: 1})
		}
	}
}
