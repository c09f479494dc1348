package lfs

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"braid/download"
)

// TestCredentials checks that credentials from git are sent after a 401, and that git is told whether they were
// accepted.
func TestCredentials(t *testing.T) {
	for password, want := range map[string]string{"s3cret": "credential approve", "other": "credential reject"} {
		k := newTalk(t, func(w http.ResponseWriter, r *http.Request) {
			if _, got, _ := r.BasicAuth(); got != password {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			answer(w, r)
		})
		said, err := k.say(first, `{"event":"download","oid":"`+oid+`","size":11}`, last)
		if err != nil || !slices.Contains(k.asked, want) ||
			strings.Contains(said[len(said)-1], "path") != (password == "s3cret") {
			t.Errorf("%s: %q, %v, %q", password, said, err, k.asked)
		}
	}
}

// TestCredentialsForAnother checks that git is asked for credentials of the very server that sent the 401, whatever a
// URL contains, and that another server cannot make git delete a password.
func TestCredentialsForAnother(t *testing.T) {
	unauthorized := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(unauthorized))
	defer elsewhere.Close()
	get := `{"event":"download","oid":"` + oid + `","size":11`
	k := newTalk(t, func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); r.URL.Path == "/objects/batch" {
			http.NotFound(w, r)
			return
		} else if password == "" {
			unauthorized(w, r)
			return
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	})
	if said, err := k.say(first, get+`,"action":{"href":"`+k.server.URL+`/it%0ahost=example.org"}}`,
		last); err != nil || strings.Contains(k.told, "\nhost=example.org") {
		t.Errorf("%q, %v, git was told %q", said, err, k.told)
	}
	if said, err := k.say(first, get+`,"action":{"href":"`+k.server.URL+`/it"}}`, last); err != nil ||
		!slices.Contains(k.asked, "credential fill") || slices.Contains(k.asked, "credential reject") {
		t.Errorf("%q, %v, %q", said, err, k.asked)
	}
	k = newTalk(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/objects/batch" {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	})
	if said, err := k.say(first, get+`,"action":{"href":"`+k.server.URL+`/it"}}`, last); err != nil ||
		slices.Contains(k.asked, "credential fill") {
		t.Errorf("%q, %v, %q", said, err, k.asked)
	}
	k = newTalk(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if said, err := k.say(first, get+`}`, last); err != nil || slices.Contains(k.asked, "credential fill") ||
		!strings.Contains(said[len(said)-1], "redirects to") {
		t.Errorf("%q, %v, %q", said, err, k.asked)
	}
}

// TestCredentialsOfHTTPS checks that credentials for https are not sent over http.
func TestCredentialsOfHTTPS(t *testing.T) {
	shown := ""
	k := newTalk(t, func(w http.ResponseWriter, r *http.Request) {
		_, shown, _ = r.BasicAuth()
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	at, err := url.Parse(k.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	known := credential{user: url.UserPassword("me", "s3cret")}
	agent := Agent{Git: func(context.Context, Command) (string, error) { return "", errors.New("none") }}
	s := &session{agent: &agent, client: &download.Client{}, server: &server{url: &url.URL{}},
		asked: map[string]credential{at.Host: known, "https://" + at.Host: known}}
	if _, err := s.authorized(t.Context(), download.Request{URL: at, Dir: t.TempDir(), Name: "x"},
		&action{}); err == nil || shown != "" {
		t.Errorf("it was shown %q, %v", shown, err)
	}
}

// TestLoginFields checks that header fields from git's configuration are sent only to the server that they are
// configured for.
func TestLoginFields(t *testing.T) {
	s := server{url: &url.URL{Scheme: "https", Host: "example.org", Path: "/repo"},
		fields: http.Header{"Authorization": {"Basic mine"}}, login: &login{action: &action{}}}
	for href, want := range map[string]string{"": "Basic mine", "https://example.org/other": "Basic mine",
		"https://example.com/repo": "", "http://example.org/repo": ""} {
		s.login.action = &action{Href: href}
		if u, fields, err := s.to(t.Context()); err != nil || fields.Get("Authorization") != want {
			t.Errorf("%s: %v, %v", u, fields, err)
		}
	}
}
