package rpc

import (
	"net/url"
	"testing"
	"time"

	"braid/daemon/queue"
)

// settled returns the settings of a daemon that was started with some options.
func settled(given map[string]string) *settings {
	return &settings{given: &Options{Root: "/srv", Given: given}, queue: queue.New(1)}
}

// TestSettingsPrecedence checks that an option of a client comes before one of the command line, and that before the
// default.
func TestSettingsPrecedence(t *testing.T) {
	s := settled(map[string]string{"split": "4", "retry-wait": "2", "rpc-secret": "hush"})
	s.queue.ChangeGlobal(map[string]string{"retry-wait": "9"})
	all := s.all()
	for name, want := range map[string]string{"split": "4", "retry-wait": "9", "max-tries": "5", "rpc-secret": "",
		"dir": "/srv"} {
		if all[name] != want {
			t.Errorf("%s is %q, want %q", name, all[name], want)
		}
	}
	if usual["split"] != "16" {
		t.Error("the defaults have changed")
	}
	for _, tt := range []struct {
		name, value string
		nothing     bool
	}{{"split", "4", true}, {"split", "16", false}, {"retry-wait", "9", true}, {"max-tries", "5", true}, {"out", "", false}} {
		if got := s.saysNothing(tt.name, tt.value); got != tt.nothing {
			t.Errorf("%s=%s says nothing: %v", tt.name, tt.value, got)
		}
	}
}

// TestSettingsFolder checks which folder a download gets.
func TestSettingsFolder(t *testing.T) {
	s := settled(map[string]string{"dir": "/srv/given"})
	watched := queue.Entry{Watch: "w", Path: "/srv/w/f", Options: map[string]string{"dir": "/srv/own"}}
	own := queue.Entry{Path: "/srv/x/f", Options: map[string]string{"dir": "/srv/own"}}
	for _, tt := range []struct {
		e    *queue.Entry
		want string
	}{{&watched, "/srv/w"}, {&own, "/srv/own"}, {&queue.Entry{}, "/srv/given"}} {
		if got := s.folderOf(tt.e); got != tt.want {
			t.Errorf("%+v is in %s, want %s", tt.e, got, tt.want)
		}
	}
	if s.queue.ChangeGlobal(map[string]string{"dir": "/srv/now"}); s.folder() != "/srv/now" {
		t.Errorf("the folder is %s", s.folder())
	}
}

// TestSecretsOfAnEntry checks that a placeholder is replaced by the secret of its entry, and only for a download from
// the same server.
func TestSecretsOfAnEntry(t *testing.T) {
	s := settled(nil)
	k := &secrets{s}
	const uri = "ftp://anna:hush@h/x"
	g, err := s.queue.Add(time.Unix(1e9, 0), queue.Entry{URIs: []string{uri},
		Options: map[string]string{"ftp-passwd": "hush"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for server, ok := range map[string]bool{"ftp://h/y": true, "ftp://other/y": false} {
		if got, err := k.reveal("ftp-passwd", placeholder(g), []string{server}); err == nil != ok || ok && got != "hush" {
			t.Errorf("%s: %q, %v", server, got, err)
		}
	}
	if got, err := k.reveal("ftp-passwd", placeholder(g+1), []string{"ftp://h/y"}); err == nil {
		t.Errorf("an entry that does not exist has the secret %q", got)
	}
	u, _ := url.Parse(masked(uri, g))
	if got, err := k.revealURI(u.String(), u); err != nil || got != uri {
		t.Errorf("the URI is %q, %v", got, err)
	}
	if got, err := k.knownURIs([]string{" " + u.String(), "relative"}); err != nil || len(got) != 1 || got[0] != uri {
		t.Errorf("the URIs are %q, %v", got, err)
	}
}
