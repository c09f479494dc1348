package antenna

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// Feeds are downloaded by the client for files, which has tests of its own. These tests check that its checks apply to
// feeds.

// onceAt polls the feed of a server once.
func onceAt(t *testing.T, s *mirrortest.Server, feed string) error {
	t.Helper()
	j := &journal{}
	a := &Antenna{Feeds: []Feed{{URL: feed}}, HostGap: time.Millisecond, Observe: j.observe}
	if strings.HasPrefix(feed, "https:") {
		a.TLS = &tls.Config{RootCAs: mirrortest.Pool(s)}
	}
	return a.Once(t.Context(), j.take)
}

// TestFeedLogin_Rule27 checks that a server that accepts Digest never gets the password over http.
func TestFeedLogin_Rule27(t *testing.T) {
	for scheme, want := range map[string]string{"Basic": ",Basic", "Digest": ",Digest", "Stale": ",Digest"} {
		s := mirrortest.New(t, mirrortest.ContentOf([]byte("# nothing\n")), mirrortest.Login(scheme, "me", "s3cret"))
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword("me", "s3cret")
		if err := onceAt(t, s, u.String()); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
		var said []string
		for _, r := range s.Requests() {
			word, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			said = append(said, word)
		}
		if got := strings.Join(said, ","); got != want {
			t.Errorf("%s: told %q, want %q", scheme, got, want)
		}
		u.User = url.UserPassword("me", "wrong")
		if err := onceAt(t, s, u.String()); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("%s: a wrong password: %v", scheme, err)
		}
	}
}

// TestFeedFraming_Rule17_Rule20_Rule29 checks that a response with contradictory or incomplete framing is refused.
func TestFeedFraming_Rule17_Rule20_Rule29(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want string }{
		"two framings": {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			"both Content-Length and Transfer-Encoding"},
		"many fields": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 4001) + "Content-Length: 0\r\n\r\n",
			"4000 header fields"},
		"many answers": {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n",
			21) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "20 informational answers"},
		"longer than it is": {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n#\n#\n", "longer than announced"},
	} {
		s := mirrortest.New(t, mirrortest.ContentOf([]byte(nil)), mirrortest.RawString(tt.answer))
		if err := onceAt(t, s, s.URL); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := mirrortest.New(t, mirrortest.ContentOf([]byte("# nothing\n")), mirrortest.TLS(nil), mirrortest.UntilClose())
	if err := onceAt(t, s, s.URL); err != nil {
		t.Error(err)
	}
	s.Set(mirrortest.NoCloseNotify())
	if err := onceAt(t, s, s.URL); err == nil || !strings.Contains(err.Error(), "close_notify") {
		t.Errorf("cut: %v", err)
	}
}

// TestFeedContentDigest checks that a response is compared with its Content-Digest (RFC 9530, section 2).
func TestFeedContentDigest(t *testing.T) {
	text := mirrortest.ContentOf([]byte("# nothing\n"))
	if s := mirrortest.New(t, text, mirrortest.ContentDigest()); onceAt(t, s, s.URL) != nil {
		t.Error("a right one is refused")
	}
	s := mirrortest.New(t, text, mirrortest.ContentDigest(), mirrortest.Corrupt(5))
	if err := onceAt(t, s, s.URL); err == nil || !strings.Contains(err.Error(), "Content-Digest has sha-256") {
		t.Errorf("a wrong one: %v", err)
	}
}

// TestFeedClientCertificate_Rule27 checks that the client certificate is sent to the server of the feed and not to the
// target of a redirect.
func TestFeedClientCertificate_Rule27(t *testing.T) {
	var mu sync.Mutex
	shown := map[string]int{} // number of certificates by path
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		shown[r.URL.Path] = len(r.TLS.PeerCertificates)
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Write([]byte("# nothing\n"))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	defer s.Close()
	elsewhere := strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/elsewhere"
	j := &journal{}
	a := &Antenna{
		Feeds: []Feed{{URL: s.URL + "/feed?to=" + url.QueryEscape(elsewhere)}}, HostGap: time.Millisecond, Observe: j.observe,
		TLS: &tls.Config{Certificates: s.TLS.Certificates, InsecureSkipVerify: true},
	}
	if err := a.Once(t.Context(), j.take); err != nil || shown["/feed"] != 1 || shown["/elsewhere"] != 0 || len(shown) != 2 {
		t.Errorf("%v, certificates shown: %v", err, shown)
	}
}
