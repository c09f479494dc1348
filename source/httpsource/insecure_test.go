package httpsource

import (
	"crypto/tls"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
	"braid/verify"
)

// TestInsecureHost_Rule64 checks that the certificate of one host need not be verified. Its responses count as sent
// over http, also after redirects. The certificates of other hosts are still verified (rules 29 and 64).
func TestInsecureHost_Rule64(t *testing.T) {
	secure := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Digest())
	doubtful := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Digest())
	c := newClient(t, secure)
	c.TLSFor = map[string]*tls.Config{doubtful.Addr: {InsecureSkipVerify: true}}
	for s, want := range map[*mirrortest.Server]verify.Channel{secure: verify.HTTPS, doubtful: verify.HTTP} {
		k := mustFetch(t, c, s.URL, Options{}, part(0, 10))
		if got := k.Heard.Claims[0].Channel; got != want || k.Heard.Hops[0].Proven() != (want == verify.HTTPS) {
			t.Errorf("claim is over %v, hop %+v", got, k.Heard.Hops[0])
		}
	}
	// Responses after its redirects are trusted no more than http, and it may not redirect to http like a verified host
	// with a digest.
	doubtful.Set(mirrortest.Redirect(secure.URL))
	if k := mustFetch(t, c, doubtful.URL, Options{}, part(0, 10)); k.Heard.Claims[0].Channel != verify.HTTP {
		t.Error("a redirect from nobody knows whom is believed")
	}
	plain := mirrortest.New(t, file)
	doubtful.Set(mirrortest.Redirect(plain.URL), mirrortest.Digest())
	_, err := fetch(t, c, doubtful.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)

	other := newClient(t)
	other.TLSFor = map[string]*tls.Config{"127.0.0.2": {InsecureSkipVerify: true}}
	_, err = fetch(t, other, secure.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultTLS, false)
	other.TLSFor = nil
	byName := newClient(t)
	byName.TLSFor = map[string]*tls.Config{"127.0.0.1": {InsecureSkipVerify: true}}
	mustFetch(t, byName, secure.URL, Options{}, part(0, 10))
}
