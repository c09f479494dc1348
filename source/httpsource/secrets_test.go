package httpsource

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
)

var secrets = map[string][]string{
	"authorization": {"Bearer t0ken"}, "Cookie": {"id=1"}, "X-Api-Key": {"k"}, "Private-Token": {"p"},
	"Proxy-Authorization": {"Basic x"}, "Referer": {"http://users.example/own"}, "Host": {"virtual.example"},
	"X-Pass": {"p"}, "cf-access-jwt-assertion": {"j"}, "X-Kind": {"k"}, "Accepted": {"a"}, "From": {"me@users.example"},
	"User-Agent": {"mine"}, "accept-language": {"de"}, "Accept": {"a/b"},
}

var secretNames = []string{
	"Authorization", "Cookie", "X-Api-Key", "Private-Token", "Proxy-Authorization", "X-Pass", "Cf-Access-Jwt-Assertion", "X-Kind",
	"Accepted", "From",
}

// TestCredentialsOnlyToOrigin_Rule27 checks that credentials are sent only to the exact origin (rule 27).
func TestCredentialsOnlyToOrigin_Rule27(t *testing.T) {
	other := mirrortest.New(t, file)
	origin := mirrortest.New(t, file)
	c := newClient(t)
	mustFetch(t, c, origin.URL, Options{Header: secrets}, part(0, 10))
	got := origin.Requests()[0]
	for _, name := range secretNames {
		if got.Header.Get(name) == "" {
			t.Errorf("the origin did not get %s", name)
		}
	}
	if got.Host != "virtual.example" || got.Header.Get("Referer") != "http://users.example/own" ||
		got.Header.Get("User-Agent") != "mine" {
		t.Errorf("host %s, header %v", got.Host, got.Header)
	}

	// Another port is another origin. A redirect from there back to the origin gets no credentials either.
	origin.Set(mirrortest.Once(mirrortest.Redirect(other.URL)))
	other.Set(mirrortest.Once(mirrortest.Redirect(origin.URL + "?back")))
	mustFetch(t, c, origin.URL, Options{Header: secrets, User: url.UserPassword("me", "pw")}, part(0, 10))
	mustFetch(t, c, other.URL, Options{Header: secrets, User: url.UserPassword("me", "pw"), Mirror: true}, part(0, 10))
	wantNoSecrets(t, other.Requests()[0], other.Addr)
	wantNoSecrets(t, other.Requests()[1], other.Addr)
	wantNoSecrets(t, origin.Requests()[2], origin.Addr)
	if got := origin.Requests()[1].Header.Get("Authorization"); got != "Bearer t0ken" {
		t.Errorf("Authorization is %q: the user's own field holds", got)
	}
}

func wantNoSecrets(t *testing.T, r mirrortest.Request, addr string) {
	t.Helper()
	for _, name := range append(secretNames, "Referer") {
		if v := r.Header.Get(name); v != "" {
			t.Errorf("%s got %s: %s", addr, name, v)
		}
	}
	if h := r.Header; r.Host != addr || h.Get("User-Agent") != "mine" || h.Get("Accept") != "a/b" ||
		h.Get("Accept-Language") != "de" {
		t.Errorf("%s: host %s, header %v", addr, r.Host, r.Header)
	}
}

// TestHeaderTo_Rule27 checks that fields are also sent to a server that the user names for them, except those that
// concern only the origin, and never over http if the user's URL is https.
func TestHeaderTo_Rule27(t *testing.T) {
	plain, secure := mirrortest.New(t, file), mirrortest.New(t, file, mirrortest.TLS(nil))
	for _, tt := range []struct {
		name, to string
		mirror   bool // otherwise a redirect leads to it
		secure   bool // the user's URL is https
		want     bool
	}{
		{name: "another", to: "other.example:80", mirror: true}, {name: "another port", to: "127.0.0.1:1", mirror: true},
		{name: "port", to: plain.Addr, mirror: true, want: true}, {name: "host", to: "127.0.0.1", mirror: true, want: true},
		{name: "from https", to: "127.0.0.1", mirror: true, secure: true}, {name: "redirect from https", to: "127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, plain, secure)
			c.AllowDowngrade = true
			o := Options{Header: secrets, HeaderTo: []string{tt.to}, User: url.UserPassword("me", "pw"),
				Mirror: tt.mirror, Secure: tt.secure}
			first := plain.URL
			if !tt.mirror {
				first = secure.URL
				secure.Set(mirrortest.Once(mirrortest.Redirect(plain.URL)))
			}
			mustFetch(t, c, first, o, part(0, 10))
			requests := plain.Requests()
			last := requests[len(requests)-1]
			if !tt.want {
				wantNoSecrets(t, last, plain.Addr)
				return
			}
			for _, name := range secretNames {
				if last.Header.Get(name) == "" {
					t.Errorf("%s is missing", name)
				}
			}
			if last.Host != plain.Addr || last.Header.Get("Referer") != "" {
				t.Errorf("host %s, header %v", last.Host, last.Header)
			}
		})
	}
}

// TestCredentialsFromURL_Rule27 checks that credentials in the URL are sent again after a redirect within the origin.
func TestCredentialsFromURL_Rule27(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Once(mirrortest.Redirect("file.bin?again")))
	withUser := strings.Replace(s.URL, "//", "//me:p%40ss@", 1)
	k := mustFetch(t, newClient(t, s), withUser, Options{}, part(0, 10))
	for _, r := range s.Requests() {
		if r.Header.Get("Authorization") != "Basic bWU6cEBzcw==" {
			t.Errorf("Authorization is %q", r.Header.Get("Authorization"))
		}
	}
	if k.Heard.URL.User != nil || k.Heard.Hops[0].URL.User != nil {
		t.Error("an answer carries the password")
	}
	mustFetch(t, newClient(t, s), withUser, Options{Mirror: true}, part(0, 10))
	if got := s.Requests()[2].Header.Get("Authorization"); got != "" {
		t.Errorf("a mirror's URL gave itself credentials: %q", got)
	}
	s.Set(mirrortest.Redirect(strings.Replace(s.URL, "//", "//evil:pw@", 1)+"?x"),
		mirrortest.When(isFile, mirrortest.Redirect("")))
}

// TestUsersFieldsCannotChangeTheQuestion checks that fields of the user cannot change the range or the coding of a
// request.
func TestUsersFieldsCannotChangeTheQuestion(t *testing.T) {
	s := mirrortest.New(t, file)
	k := mustFetch(t, newClient(t), s.URL, Options{Header: map[string][]string{
		"Range": {"bytes=50-60"}, "if-range": {`"x"`}, "Accept-Encoding": {"gzip"}, "Connection": {"close"}, "Accept": {"a/b"},
	}}, part(0, 10))
	k.Has(file, part(0, 10))
	h := s.Requests()[0].Header
	if h.Get("Accept-Encoding") != "identity" || h.Get("If-Range") != "" || h.Get("Connection") != "" ||
		h.Get("Accept") != "a/b" {
		t.Errorf("header is %v", h)
	}
}

// TestReferer_Rule28 checks which Referer is sent (S14 and rule 28).
func TestReferer_Rule28(t *testing.T) {
	plain := mirrortest.New(t, file)
	secure := mirrortest.New(t, file, mirrortest.TLS(nil))
	for _, tt := range []struct {
		name, referer string
		server        *mirrortest.Server
		options       Options
		off           bool
		want          string
	}{
		{name: "plain", referer: "http://o.example/a%20b/c.iso?sig=x#f", server: plain, want: "http://o.example/a%20b/c.iso"},
		{name: "to https", referer: "http://o.example/c", server: secure, want: "http://o.example/c"},
		{name: "https", referer: "https://o.example/c?q", server: secure, want: "https://o.example/c"},
		{name: "https to http", referer: "https://o.example/c", server: plain},
		{name: "user info", referer: "http://u:p@o.example/c", server: plain},
		{name: "user", referer: "http://o.example/c", server: plain, options: Options{User: url.User("u")}},
		{name: "cookie", referer: "http://o.example/c", server: plain,
			options: Options{Header: map[string][]string{"cookie": {"a=b"}}}},
		{name: "a field", referer: "http://o.example/c", server: plain,
			options: Options{Header: map[string][]string{"X-Pass": {"p"}}}},
		{name: "a language", referer: "http://o.example/c", server: plain,
			options: Options{Header: map[string][]string{"accept-language": {"de"}}}, want: "http://o.example/c"},
		{name: "off", referer: "http://o.example/c", server: plain, off: true},
		{name: "none", server: plain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, plain, secure)
			c.NoReferer = tt.off
			o := tt.options
			o.Mirror = true
			if tt.referer != "" {
				o.Referer = sourcetest.URL(t, tt.referer)
			}
			mustFetch(t, c, tt.server.URL, o, part(0, 10))
			requests := tt.server.Requests()
			if got := requests[len(requests)-1].Header.Get("Referer"); got != tt.want {
				t.Errorf("Referer is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNoCookieNoField checks that no Cookie field is sent if the jar has no cookie for the server.
func TestNoCookieNoField(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := mirrortest.New(t, file)
	c := newClient(t)
	c.Cookies = jar
	mustFetch(t, c, s.URL, Options{}, part(0, 10))
	if got, sent := s.Requests()[0].Header["Cookie"]; sent {
		t.Errorf("Cookie: %q", got)
	}
}

// TestCookiesOnlyToOrigin_Rule27 checks that cookies are sent to the server of the user's URL and not to a mirror, even
// if the jar has some for it.
func TestCookiesOnlyToOrigin_Rule27(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := mirrortest.New(t, file)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(u, []*http.Cookie{{Name: "id", Value: "1"}})
	c := newClient(t)
	c.Cookies = jar
	for mirror, want := range map[bool]string{false: "id=1", true: ""} {
		mustFetch(t, c, s.URL, Options{Mirror: mirror}, part(0, 10))
		requests := s.Requests()
		if got := requests[len(requests)-1].Header.Get("Cookie"); got != want {
			t.Errorf("mirror %v: %q, want %q", mirror, got, want)
		}
	}
}
