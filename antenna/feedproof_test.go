package antenna

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProofInFeed_Rule81: an update has the proof that its feed states for the file, also after a restart, and reports
// whether the feed is on the server of the file. A feed that another server answered states nothing.
func TestProofInFeed_Rule81(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for name, tt := range map[string]struct {
		feed, file, answers string
		proof, same, relay  bool
	}{
		"same":     {"https://files.example", "https://files.example", "", true, true, false},
		"port":     {"https://files.example:443", "https://files.example", "", true, true, false},
		"scheme":   {"http://files.example", "https://files.example", "", true, false, false},
		"host":     {"https://feeds.example", "https://files.example", "", true, false, false},
		"redirect": {"https://files.example", "https://files.example", "https://feeds.example/f", false, true, false},
		"relayed":  {"https://files.example", "https://files.example", "https://feeds.example/f", false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, j := newWorld(t), &journal{}
				text := fmt.Sprintf(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","date_published":%q,"attachments":[
					{"url":"%s/a","mime_type":"a/b","sha256":%q}]}]}`, time.Now().Add(-time.Hour).Format(time.RFC3339),
					tt.file, digest[7:])
				for _, host := range []string{"files.example", "files.example:443", "feeds.example"} {
					w.sites[host] = func(req *http.Request) *http.Response {
						if tt.answers != "" && !strings.HasPrefix(tt.answers, "https://"+req.URL.Host) {
							return says(302, "", "Location: "+tt.answers)
						}
						return says(200, text)
					}
				}
				a := w.antenna(j)
				a.Feeds = []Feed{{Name: "f", URL: tt.feed + "/f", Relay: tt.relay}}
				a.Watches = []Watch{{Name: "a", URL: tt.file + "/a"}}
				a.Store = storeIn(t, t.TempDir())
				defer closed(t, a.Store)
				fails := true
				j.handle = func(context.Context, Update) (Outcome, error) {
					if fails {
						return Outcome{}, errMissing
					}
					return Outcome{Changed: true}, nil
				}
				watchFor(t, a, j, time.Second*30)
				fails = false
				watchFor(t, a, j, time.Hour)
				got := j.got()
				if len(got) != 2 {
					t.Fatalf("%d updates", len(got))
				}
				for _, u := range got {
					digests, _ := u.Record.Proof()
					if proof := len(digests) == 1 && digests[0] == digest; proof != tt.proof || u.SameServer != tt.same {
						t.Errorf("%v, same server %t", digests, u.SameServer)
					}
				}
			})
		})
	}
}

// TestProofRenewed_Rule81 checks that a release whose update fails gets the digest that its feed states by now.
func TestProofRenewed_Rule81(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		began := time.Now()
		digest := func() string {
			return strings.Repeat(map[bool]string{true: "ab", false: "cd"}[time.Since(began) < time.Hour], 32)
		}
		w.sites["files.example"] = func(*http.Request) *http.Response {
			return says(200,
				fmt.Sprintf(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","date_published":%q,"attachments":[
				{"url":"https://files.example/tool-1.2.tgz","mime_type":"a/b","sha256":%q}]}]}`,
					began.Format(time.RFC3339), digest()))
		}
		a := w.antenna(j)
		a.Feeds = []Feed{{Name: "f", URL: "https://files.example/f", Every: time.Minute}}
		a.Watches = []Watch{{Name: "tool", Releases: &Releases{Template: templateOf(t,
			"https://files.example/tool-{version}.tgz")}}}
		a.Store = storeIn(t, t.TempDir())
		defer closed(t, a.Store)
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if digests, _ := u.Record.Proof(); len(digests) != 1 || digests[0] != "sha256:"+strings.Repeat("cd", 32) {
				return Outcome{}, errors.New("a wrong digest")
			}
			return Outcome{Changed: true}, nil
		}
		watchFor(t, a, j, 12*time.Hour)
		if got := done(j); got != "1.2" {
			t.Errorf("in place: %q, after %d tries", got, len(j.got()))
		}
	})
}
