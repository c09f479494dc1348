package httpsource

import (
	"net/url"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

func authorizations(s *mirrortest.Server) (list []string) {
	for _, r := range s.Requests() {
		scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		list = append(list, scheme)
	}
	return list
}

// TestLogin_Rule27 checks that a server is asked for its scheme once over http, and that credentials are sent with each
// request after that. A server that accepts Digest never gets the password over http.
func TestLogin_Rule27(t *testing.T) {
	me := url.UserPassword("me", "s3cret")
	for _, tt := range []struct {
		scheme string
		tls    bool
		want   string
	}{
		{"Basic", false, ",Basic,Basic,Basic"},
		{"Basic", true, "Basic,Basic,Basic"},
		{"Digest", false, ",Digest,Digest,Digest"},
		{"Digest", true, "Basic,Digest,Digest,Digest"},
		{"Stale", false, ",Digest,Digest,Digest,Digest"}, // the nonce of the second request is too old
	} {
		options := []mirrortest.Option{mirrortest.Login(tt.scheme, "me", "s3cret")}
		if tt.tls {
			options = append(options, mirrortest.TLS(nil))
		}
		s := mirrortest.New(t, file, options...)
		c := newClient(t, s)
		for range 3 {
			k := mustFetch(t, c, s.URL+"?a=b%20c", Options{User: me}, part(10, 100))
			k.Has(file, part(10, 100))
			if len(k.Heard.Hops) != 1 {
				t.Errorf("%s: %d hops", tt.scheme, len(k.Heard.Hops))
			}
		}
		if got := strings.Join(authorizations(s), ","); got != tt.want {
			t.Errorf("%s, TLS %v: %s, want %s", tt.scheme, tt.tls, got, tt.want)
		}
		if s.MaxConcurrent() != 1 {
			t.Errorf("%d requests at once", s.MaxConcurrent())
		}
		if tt.scheme != "Basic" && !tt.tls {
			for _, r := range s.Requests() {
				if strings.Contains(r.Header.Get("Authorization"), "s3cret") ||
					strings.HasPrefix(r.Header.Get("Authorization"), "Basic") {
					t.Errorf("told %s", r.Header.Get("Authorization"))
				}
			}
		}
	}
}

// TestLoginRefused checks that a wrong password is sent once, and that no Authorization is sent without a user.
func TestLoginRefused(t *testing.T) {
	for _, tt := range []struct {
		scheme string
		user   *url.Userinfo
		want   string
	}{
		{"Basic", url.UserPassword("me", "wrong"), ",Basic"},
		{"Digest", url.UserPassword("me", "wrong"), ",Digest"},
		{"Digest", nil, ""},
	} {
		s := mirrortest.New(t, file, mirrortest.Login(tt.scheme, "me", "s3cret"))
		_, err := fetch(t, newClient(t), s.URL, Options{User: tt.user}, whole)
		sourcetest.Fault(t, err, source.FaultAuth, false)
		if got := strings.Join(authorizations(s), ","); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.scheme, got, tt.want)
		}
	}
}

// TestLoginOnlyAtOrigin_Rule27 checks that another origin does not get credentials, neither after a redirect nor as a
// mirror.
func TestLoginOnlyAtOrigin_Rule27(t *testing.T) {
	me := url.UserPassword("me", "s3cret")
	other := mirrortest.New(t, file, mirrortest.Login("Basic", "me", "s3cret"))
	origin := mirrortest.New(t, file, mirrortest.Login("Digest", "me", "s3cret"))
	c := newClient(t)
	mustFetch(t, c, origin.URL, Options{User: me}, part(0, 10)) // the client knows the scheme of the origin now
	origin.Set(mirrortest.Redirect(other.URL))
	for _, o := range []Options{{User: me}, {User: me, Mirror: true}} {
		_, err := fetch(t, c, map[bool]string{false: origin.URL, true: other.URL}[o.Mirror], o, whole)
		sourcetest.Fault(t, err, source.FaultAuth, false)
	}
	if got := strings.Join(authorizations(other), ""); got != "" || len(other.Requests()) != 2 {
		t.Errorf("the other one was told %q", got)
	}
}

// TestLoginOwnField checks that an Authorization field of the user is sent instead of credentials.
func TestLoginOwnField(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.Login("Digest", "me", "s3cret"))
	_, err := fetch(t, newClient(t), s.URL, Options{User: url.UserPassword("me", "s3cret"),
		Header: map[string][]string{"authorization": {"Bearer x"}}}, whole)
	sourcetest.Fault(t, err, source.FaultAuth, false)
	if got := strings.Join(authorizations(s), ","); got != "Bearer" {
		t.Errorf("told %s", got)
	}
}
