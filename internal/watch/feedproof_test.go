package watch

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/source/httpsource"
)

// reported returns an update with a feed that states a digest of the file at the URL.
func (w *world) reported(body string) antenna.Update {
	u := w.update()
	u.SameServer, u.Feed = true, "f"
	u.Record = feed.Record{Format: feed.News, URL: u.URL, Fields: []feed.Field{
		{Name: feed.DigestField, Value: fmt.Sprintf("sha384-AAAA sha256:%x", sha256.Sum256([]byte(body)))}}}
	return u
}

// TestDigestInFeed_Rule81: a digest in a feed of the file's server is proof, and another file is not accepted.
func TestDigestInFeed_Rule81(t *testing.T) {
	w := newWorld(t)
	w.origin.digest = false
	if _, err := w.handle(w.update()); err == nil {
		t.Fatal("a file without proof was accepted")
	}
	o, err := w.handle(w.reported("one"))
	if err != nil || !strings.Contains(o.Evidence, "the feed f over http") {
		t.Fatalf("%+v, %v", o, err)
	}
	w.origin.set(func(o *origin) { o.body, o.modified = "two", date(2) })
	_, err = w.handle(w.reported("three"))
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Mismatch {
		t.Errorf("another file than the feed states: %v", err)
	}
	w.holds(filepath.Join(w.rule.Dir, "file"), "one")
}

// TestStaleDigestInFeed_Rules54_81: a digest in a feed is older than what the server states, hides no newer file, and lets
// no older file replace a newer one.
func TestStaleDigestInFeed_Rules54_81(t *testing.T) {
	w := newWorld(t)
	w.origin.digest = false
	if _, err := w.handle(w.reported("one")); err != nil {
		t.Fatal(err)
	}
	w.origin.set(func(o *origin) { o.body, o.modified = "two", date(2) })
	o, err := w.handle(w.reported("one"))
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Mismatch {
		t.Errorf("the feed states the digest of the file before: %+v, %v", o, err)
	}
	w.holds(w.path(), "one")
	if _, err := w.handle(w.reported("two")); err != nil {
		t.Error(err)
	}
	w.holds(w.path(), "two")
	w.origin.set(func(o *origin) { o.body, o.modified = "one", date(1) })
	if _, err := w.handle(w.reported("one")); err != nil {
		t.Error(err)
	}
	w.holds(w.path(), "two")
	w.origin.set(func(o *origin) { o.body, o.modified, o.digest = "three", date(3), true })
	if _, err := w.handle(w.reported("two")); err != nil || !strings.Contains(w.log.String(), "feed-mismatch") {
		t.Errorf("the server states another digest: %v, %s", err, w.log.String())
	}
	w.holds(w.path(), "three")
}

// TestDigestElsewhere_Rule81: a digest in a feed of another server, or beside another URL, is no proof, and a contradiction
// is a note.
func TestDigestElsewhere_Rule81(t *testing.T) {
	for name, change := range map[string]func(*antenna.Update){
		"server": func(u *antenna.Update) { u.SameServer = false },
		"URL":    func(u *antenna.Update) { u.Record.URL += ".sha256" },
		"format": func(u *antenna.Update) { u.Record.Format = feed.HinaDI },
	} {
		w := newWorld(t)
		w.origin.digest = false
		u := w.reported("one")
		change(&u)
		if _, err := w.handle(u); err == nil {
			t.Errorf("%s: it was accepted as proof", name)
		}
		w.origin.set(func(o *origin) { o.digest = true })
		u = w.reported("another")
		change(&u)
		if _, err := w.handle(u); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if noted := strings.Contains(w.log.String(), "feed-mismatch"); noted != (name == "server") {
			t.Errorf("%s: %s", name, w.log.String())
		}
	}
}

// TestFeedMirrors_Rule81: other places in a feed are used only with feed-mirrors, and beside a digest.
func TestFeedMirrors_Rule81(t *testing.T) {
	for _, tt := range []struct{ wanted, proven bool }{{true, true}, {false, true}, {true, false}} {
		w := newWorld(t)
		w.origin.digest = false
		body := strings.Repeat("braid", 1<<20)
		came := make(chan struct{})
		come := sync.OnceFunc(func() { close(came) })
		mirror := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			come()
			http.ServeContent(rw, r, "file", date(1), strings.NewReader(body))
		}))
		t.Cleanup(mirror.Close)
		w.origin.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if !tt.wanted || !tt.proven {
				http.ServeContent(rw, r, "file", date(1), strings.NewReader(body))
				return
			}
			rw.Header().Set("Content-Length", fmt.Sprint(len(body)))
			if r.Method == http.MethodGet {
				rw.Write([]byte(body[:1<<20]))
				<-came // sends the rest only if the mirror is asked
				rw.Write([]byte(body[1<<20:]))
			}
		})
		w.rule.FeedMirrors, w.rule.Request.Trust.Require = tt.wanted, download.RequireNothing
		u := w.reported(body)
		u.SameServer = tt.proven
		u.Record.Fields = append(u.Record.Fields, feed.Field{Name: feed.MirrorField, Value: mirror.URL + "/file"})
		if !tt.proven {
			u.Record.Fields = u.Record.Fields[1:]
		}
		if _, err := w.handle(u); err != nil {
			t.Fatal(err)
		}
		select {
		case <-came:
			if !tt.wanted || !tt.proven {
				t.Errorf("%+v: the mirror was asked", tt)
			}
		default:
		}
		w.holds(filepath.Join(w.rule.Dir, "file"), body)
	}
}

// TestIntegrity checks the form of podcast:integrity.
func TestIntegrity(t *testing.T) {
	w := newWorld(t)
	w.origin.digest = false
	u := w.reported("one")
	sum := sha256.Sum256([]byte("one"))
	u.Record.Fields[0].Value = "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	if _, err := w.handle(u); err != nil {
		t.Error(err)
	}
}

// TestDigestUnproven_Rule29: a digest in a feed counts like one over http if the server's certificate is not checked.
func TestDigestUnproven_Rule29(t *testing.T) {
	w := newWorld(t)
	w.origin.digest = false
	server := httptest.NewTLSServer(http.HandlerFunc(w.origin.serve))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	hc := &httpsource.Client{TLSFor: map[string]*tls.Config{at.Host: {InsecureSkipVerify: true}}}
	t.Cleanup(hc.CloseIdle)
	w.updater.Client.HTTP = hc
	u := w.reported("one")
	u.URL = server.URL + "/pub/file"
	u.Record.URL = u.URL
	if w.rule.File, err = parseTemplate("", server.URL+"/pub/**", false); err != nil {
		t.Fatal(err)
	}
	if o, err := w.handle(u); err != nil || !strings.Contains(o.Evidence, "the feed f over http") ||
		strings.Contains(o.Evidence, "https") {
		t.Errorf("%+v, %v", o, err)
	}
}
