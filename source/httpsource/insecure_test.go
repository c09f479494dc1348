package httpsource

import (
	"crypto/tls"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
	"braid/verify"
)

// One host need not show who it is; what it says counts like what comes over http, also in a redirect, and the others are asked
// for their certificate all the same. Proves rules 29 and 64.
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
	// Behind it, everything is hearsay, and it cannot send anybody to an insecure place as one that has proven itself could.
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
