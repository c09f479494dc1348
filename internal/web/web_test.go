package web

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"braid/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// TestHandshakeErrorNamesTLSOnce: errors of crypto/tls begin with its name, others do not.
func TestHandshakeErrorNamesTLSOnce(t *testing.T) {
	for text, want := range map[string]string{
		"tls: failed to verify certificate":  "TLS: failed to verify certificate",
		"remote error: tls: bad certificate": "TLS: remote error: tls: bad certificate", "EOF": "TLS: EOF",
	} {
		if got := (&HandshakeError{Err: errors.New(text)}).Error(); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestDefaults_Rule21(t *testing.T) {
	var c Client
	c.init()
	if got := c.byTLS[nil].known.own.ResponseHeaderTimeout; got != 30*time.Second {
		t.Errorf("header timeout is %v", got)
	}
	if c.connectTimeout() != 10*time.Second {
		t.Errorf("connect timeout is %v", c.connectTimeout())
	}
}

// An origin is a scheme, a host and a port: http and https differ even on the same port.
func TestSameOrigin_Rule27(t *testing.T) {
	for other, want := range map[string]bool{
		"http://a.example/y": true, "http://A.example:80/": true, "https://a.example:80/": false,
		"http://a.example:81/": false, "http://b.example/": false,
	} {
		a, err := url.Parse("http://a.example/x")
		if err != nil {
			t.Fatal(err)
		}
		b, err := url.Parse(other)
		if err != nil {
			t.Fatal(err)
		}
		if sameOrigin(a, b) != want {
			t.Errorf("%s: %v", other, !want)
		}
	}
}

// The round-trip time is that of the connect if there was a direct one. On a reused connection or through a proxy, it
// is the time from the request to the first byte.
func TestRoundTripTime(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		trace  *trace
		direct bool
		want   time.Duration
	}{
		"connected":       {&trace{connect: 7, wrote: now, heard: now.Add(20)}, true, 7},
		"by a proxy":      {&trace{connect: 7, wrote: now, heard: now.Add(20)}, false, 20},
		"reused":          {&trace{connect: 7, reused: true, wrote: now, heard: now.Add(20)}, true, 20},
		"not connected":   {&trace{wrote: now, heard: now.Add(20)}, true, 20},
		"not written":     {&trace{heard: now}, false, 0},
		"heard too early": {&trace{wrote: now.Add(20), heard: now}, false, 0},
	} {
		if _, got := tt.trace.result(tt.direct); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// A failed connect does not count as a measurement.
func TestFailedConnectIsNoMeasure(t *testing.T) {
	x := trace{dialed: map[string]time.Time{}}
	hooks := x.hooks()
	hooks.ConnectStart("tcp", "192.0.2.1:80")
	hooks.ConnectDone("tcp", "192.0.2.1:80", errors.New("refused"))
	if x.connect != 0 {
		t.Errorf("%v", x.connect)
	}
	hooks.ConnectDone("tcp", "192.0.2.1:80", nil)
	if x.connect == 0 {
		t.Error("no time of a connect")
	}
}
