package lfs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/source/httpsource"
)

// TestSettings checks that the server of an object is asked with git's settings for that server, and shown no
// certificate.
func TestSettings(t *testing.T) {
	t.Setenv("GIT_SSL_CAINFO", "")
	for _, tt := range []struct {
		here, there string // settings for the LFS server and for the server of the object
		want        []Settings
	}{
		{"http.proxy\nproxy", "http.proxy\nproxy", []Settings{{Proxy: "proxy"}}},
		{"http.sslcert\nmine", "http.sslcert\nmine", []Settings{{Cert: "mine"}}},
		{"http.proxy\nproxy", "", []Settings{{Proxy: "proxy"}, {}}},
		{"", "http.sslcainfo\nca\x00http.sslcert\nmine", []Settings{{}, {CAInfo: "ca"}}},
		{"http.sslverify\nfalse", "http.sslverify\nfalse", []Settings{{Insecure: true}, {Insecure: true}}},
	} {
		var got []Settings
		ask := func(_ context.Context, c Command) (string, error) {
			switch line := strings.Join(c.Args, " "); line {
			case "lfs env":
				return "Endpoint=http://127.0.0.1/repo (auth=none)\nLfsStorageDir=" + t.TempDir() + "\n", nil
			case "config -z --get-urlmatch http http://127.0.0.1/repo":
				return tt.here, nil
			case "config -z --get-urlmatch http http://cdn.example/":
				return tt.there, nil
			}
			return "", errors.New("no answer")
		}
		agent := Agent{Git: ask, Out: io.Discard, Client: func(s Settings) (*download.Client, error) {
			if want := []string{"http://127.0.0.1/repo", "http://cdn.example/"}[len(got)]; s.Endpoint.String() != want {
				t.Errorf("settings for %s, want %s", s.Endpoint, want)
			}
			s.Endpoint = nil
			got = append(got, s)
			return &download.Client{HTTP: &httpsource.Client{Transport: transport(func(r *http.Request) *http.Response {
				w := httptest.NewRecorder()
				answer(w, r)
				return w.Result()
			})}}, nil
		}}
		get := `{"event":"download","oid":"` + oid + `","size":11,"action":{"href":"http://cdn.example/it"}}`
		agent.In = strings.NewReader(strings.Join([]string{first, get, get, last}, "\n"))
		if err := agent.Run(t.Context()); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q and %q: got %+v, want %+v, %v", tt.here, tt.there, got, tt.want, err)
		}
	}
}

// TestSettingsInEnvironment checks that the authorities in the environment replace those of the settings, as in git.
func TestSettingsInEnvironment(t *testing.T) {
	t.Setenv("GIT_SSL_CAINFO", "of the environment")
	ask := func(context.Context, Command) (string, error) { return "http.sslcainfo\nof the settings", nil }
	got, _, err := (&Agent{Git: ask}).settings(t.Context(), &url.URL{Scheme: "https", Host: "lfs.example"})
	if err != nil || got.CAInfo != "of the environment" {
		t.Errorf("%+v, %v", got, err)
	}
}
