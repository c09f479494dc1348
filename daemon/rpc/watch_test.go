package rpc

import (
	"context"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
)

// TestWatched checks that a download of a watch is marked, and that its URLs and options cannot be changed.
func TestWatched(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files"})
	var g queue.GID
	e.Do(context.Background(), func(q *queue.Queue) (err error) {
		g, err = q.Add(time.Unix(1e9, 0), queue.Entry{URIs: []string{"http://h/x"}, Watch: "images"}, -1)
		return err
	})
	at := func(path string) string {
		e.Do(context.Background(), func(q *queue.Queue) (err error) {
			g, err = q.Add(time.Unix(1e9, 0), queue.Entry{URIs: []string{"http://h/x"}, Watch: "images", Path: path}, -1)
			return err
		})
		return result[map[string]string](t, h, "aria2.getOption", g.String())["dir"] + " " +
			result[map[string]string](t, h, "aria2.tellStatus", g.String(), []string{"dir"})["dir"]
	}
	if dirs := at("/srv/watched/x"); dirs != "/srv/watched /srv/watched" {
		t.Errorf("it is in %s", dirs)
	}
	own := result[map[string]map[string]any](t, h, "aria2.tellStatus", g.String(), []string{"braid"})["braid"]
	if own["watch"] != "images" {
		t.Errorf("it says %v", own)
	}
	for _, call := range []string{`"aria2.changeUri","params":["GID",1,[],["http://g/x"]]`,
		`"aria2.changeOption","params":["GID",{"out":"y"}]`} {
		body := `{"id":1,"method":` + strings.Replace(call, "GID", g.String(), 1) + `}`
		if got := say(h, body).Body.String(); !strings.Contains(got, `"code":1`) ||
			!strings.Contains(got, "belongs to the watch") {
			t.Errorf("%s: %s", body, got)
		}
	}
	result[string](t, h, "aria2.changeOption", g.String(), map[string]string{"max-download-limit": "5"})
}
