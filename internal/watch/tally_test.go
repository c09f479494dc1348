package watch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/daemon/queue"
	"braid/download"
	"braid/internal/web"
)

// TestReleaseRequestsCounted_Rule80 checks that an attempt for a release that is not ready counts all its requests.
func TestReleaseRequestsCounted_Rule80(t *testing.T) {
	w, s := following(t, "")
	w.rule.Request.Trust.Lookup = true
	w.start()
	s.put("1.0", "one")
	s.bare["1.0"] = true
	s.header = http.Header{}
	r, _ := w.rule.Releases.Template.Of(feed.Record{Tag: "v1.0"})
	var tally web.Tally
	_, err := w.updater.Handle(tally.Context(t.Context()), antenna.Update{Watch: "w", URL: r.URL, Release: &r, Try: 1})
	if _, late := errors.AsType[*antenna.NotYet](err); !late {
		t.Fatalf("%v", err)
	}
	sent := tally.Sent()
	if n := sent[strings.TrimPrefix(s.URL, "http://")]; n != s.asked || n < 3 || len(sent) != 1 {
		t.Errorf("counted %v, and the server had %d requests", sent, s.asked)
	}
}

// TestDaemonWatchRequestsCounted_Rule80 checks that the requests of the daemon's download count for the update.
func TestDaemonWatchRequestsCounted_Rule80(t *testing.T) {
	var update, own web.Tally
	w := &Delegate{service: &service{}, claims: map[queue.GID]*handover{7: {
		tally: &update, idle: make(chan struct{}, 1),
		prepare: func(func(error)) (download.Request, error) { return download.Request{}, nil },
	}}}
	ctx := own.Context(context.Background())
	if _, err := w.Request(ctx, queue.Entry{GID: 7, URIs: []string{"http://a.example/x"}}); err != nil {
		t.Fatal(err)
	}
	web.TallyOf(ctx).Add(&url.URL{Scheme: "http", Host: "a.example"})
	if got := update.Sent(); got["a.example:80"] != 1 {
		t.Errorf("counted %v", got)
	}
}
