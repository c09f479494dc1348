package httpsource

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
	"braid/verify"
)

func TestRedirectKeepsHops(t *testing.T) {
	last := mirrortest.New(t, file, mirrortest.ETag(`"last"`))
	first := mirrortest.New(t, file, mirrortest.Digest(), mirrortest.Mirrors("http://m.example/f"))
	c := newClient(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		first.Set(mirrortest.Redirect(last.URL), mirrortest.When(isFile, mirrortest.Status(status),
			mirrortest.Header("Location", last.URL)))
		if status == http.StatusFound {
			first.Reset(mirrortest.Digest(), mirrortest.Mirrors("http://m.example/f"), mirrortest.Redirect(last.URL))
		}
		k := mustFetch(t, c, first.URL, Options{}, part(0, 100))
		first.Reset(mirrortest.Digest(), mirrortest.Mirrors("http://m.example/f"))
		a := k.Heard
		if a.Host != last.Addr || a.URL.String() != last.URL || a.ETag != `"last"` || len(a.Claims) != 0 {
			t.Errorf("%d: answer is %+v", status, a)
		}
		if len(a.Hops) != 2 || a.Hops[0].Status != status || a.Hops[1].Status != 206 || a.Hops[0].URL.String() != first.URL {
			t.Fatalf("%d: hops are %+v", status, a.Hops)
		}
		if len(a.Hops[0].Header["Link"]) != 1 || len(a.Hops[0].Header["Digest"]) != 1 {
			t.Errorf("%d: the header of the first hop is %v", status, a.Hops[0].Header)
		}
	}
	if reuses(t, first); first.MaxConcurrent() != 1 {
		t.Errorf("%d at a time", first.MaxConcurrent())
	}
}

func isFile(r *http.Request) bool { return r.URL.Path == "/file.bin" }

// TestBadRedirect_Rule26 checks that an invalid redirect is an error (rule 26).
func TestBadRedirect_Rule26(t *testing.T) {
	for name, location := range map[string]string{
		"empty":    "",
		"garbled":  "http://[::1/x",
		"escape":   "/%zz",
		"scheme":   "ftp://127.0.0.1/x",
		"file":     "file:///etc/passwd",
		"script":   "javascript:alert(1)",
		"no host":  "http:///x",
		"no slash": "http:x",
		"itself":   "file.bin",
		"fragment": "#part",
		"too long": "/" + strings.Repeat("x", 9000),
	} {
		t.Run(name, func(t *testing.T) {
			s := mirrortest.New(t, file, mirrortest.Status(302), mirrortest.Header("Location", location))
			_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
			e := sourcetest.Fault(t, err, source.FaultRefused, false)
			if e.Status != 302 || len(s.Requests()) != 1 {
				t.Errorf("status %d after %d requests", e.Status, len(s.Requests()))
			}
		})
	}
	missing := mirrortest.New(t, file, mirrortest.Status(302))
	_, err := fetch(t, newClient(t), missing.URL, Options{}, whole)
	e := sourcetest.Fault(t, err, source.FaultRefused, false)
	if !strings.Contains(e.Error(), "no Location") || len(missing.Requests()) != 1 {
		t.Errorf("%v, after %d requests", e, len(missing.Requests()))
	}

	two := mirrortest.New(t, file, mirrortest.Status(302), mirrortest.Header("Location", "/a"),
		mirrortest.Header("Location", "/b"))
	_, err = fetch(t, newClient(t), two.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if n := len(two.Requests()); n != 1 {
		t.Errorf("%d requests: one of two Locations was followed", n)
	}
}

// TestRedirectLimit_Rule26 checks the limit on redirects, and loops (rule 26).
func TestRedirectLimit_Rule26(t *testing.T) {
	var steps int
	hop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.URL.Path, "/%d", &n)
		if n == 0 {
			w.Write(file.Bytes()[:10])
			return
		}
		steps++
		w.Header().Set("Location", fmt.Sprintf("/%d", n-1))
		w.WriteHeader(http.StatusFound)
	})
	s := mirrortest.New(t, file, mirrortest.Handler(hop))
	c := newClient(t)
	base := "http://" + s.Addr
	k := mustFetch(t, c, base+"/10", Options{}, whole)
	if len(k.Heard.Hops) != 11 {
		t.Errorf("%d hops", len(k.Heard.Hops))
	}
	_, err := fetch(t, c, base+"/11", Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)

	a, b := mirrortest.New(t, file), mirrortest.New(t, file)
	a.Set(mirrortest.Redirect(b.URL))
	b.Set(mirrortest.Redirect(a.URL))
	_, err = fetch(t, c, a.URL, Options{}, whole)
	if e := sourcetest.Fault(t, err, source.FaultRefused, false); !strings.Contains(e.Error(), "loop") {
		t.Errorf("error is %q", e)
	}
	if len(a.Requests()) != 1 || len(b.Requests()) != 1 {
		t.Errorf("%d and %d requests", len(a.Requests()), len(b.Requests()))
	}
}

// TestDowngrade_Rule26 checks that a redirect from https to http is refused, with the exceptions of rule 26.
func TestDowngrade_Rule26(t *testing.T) {
	plain := mirrortest.New(t, file)
	secure := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Redirect(plain.URL))
	_, err := fetch(t, newClient(t, secure), secure.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if len(plain.Requests()) != 0 {
		t.Error("the insecure server was asked")
	}

	mustFetch(t, newClient(t, secure), secure.URL, Options{Trusted: true}, part(0, 10))
	c := newClient(t, secure)
	c.AllowDowngrade = true
	mustFetch(t, c, secure.URL, Options{}, part(0, 10))

	md5, err := verify.ParseHex(verify.MD5, strings.Repeat("0", 32))
	if err != nil {
		t.Fatal(err)
	}
	secure.Set(mirrortest.Digest(md5))
	_, err = fetch(t, newClient(t, secure), secure.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)

	secure.Set(mirrortest.Digest()) // like MirrorBrain
	k := mustFetch(t, newClient(t, secure), secure.URL, Options{}, part(0, 10))
	if k.Heard.Host != plain.Addr {
		t.Errorf("answer is %+v", k.Heard)
	}

	// A digest that came over http does not allow the redirect.
	middle := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Redirect(plain.URL))
	begin := mirrortest.New(t, file, mirrortest.Digest(), mirrortest.Redirect(middle.URL))
	_, err = fetch(t, newClient(t, middle), begin.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
}

// TestDowngradeByMirror_Rule26_C2 checks that a mirror cannot allow a redirect to http by its own digest, whether it
// was reached by a redirect with a digest or requested as a mirror.
func TestDowngradeByMirror_Rule26_C2(t *testing.T) {
	md5, err := verify.ParseHex(verify.MD5, strings.Repeat("0", 32))
	if err != nil {
		t.Fatal(err)
	}
	plain := mirrortest.New(t, file)
	mirror := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Digest(), mirrortest.Redirect(plain.URL))
	origin := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Digest(md5), mirrortest.Redirect(mirror.URL))
	c := newClient(t, mirror, origin)
	_, err = fetch(t, c, origin.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	_, err = fetch(t, c, mirror.URL, Options{Mirror: true}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if len(plain.Requests()) != 0 {
		t.Error("the insecure server was asked")
	}
	// If the origin sends no digest, the next server counts as the origin.
	origin.Reset(mirrortest.TLS(nil), mirrortest.Redirect(mirror.URL))
	mustFetch(t, c, origin.URL, Options{}, whole)
}

// TestRedirectToOddQuery checks that a query in a Location is escaped where necessary.
func TestRedirectToOddQuery(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.Once(mirrortest.Redirect("?a b=\u00e9&c=%20")))
	mustFetch(t, newClient(t), s.URL, Options{}, part(0, 10))
	if got := s.Requests()[1].Path; got != "/file.bin?a%20b=%C3%A9&c=%20" {
		t.Errorf("path is %q", got)
	}
}
