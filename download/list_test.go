package download_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// listed returns a list of one file.
func listed(t *testing.T, data []byte, name string) []byte {
	t.Helper()
	return fmt.Appendf(nil, "%s  %s\n", sum(t, data).Hex(), name)
}

// fetchList fetches the list that a server has at a path.
func fetchList(t *testing.T, r *run, s *mirrortest.Server, path string) *download.List {
	t.Helper()
	l, err := r.client.List(t.Context(), download.Request{URL: parse(t, "http://"+s.Addr+path)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The folders of the URL tell files of the same name in a list apart, as far as the list has folders.
func TestListNames(t *testing.T) {
	t.Parallel()
	a, b := listed(t, []byte("a"), "./18/disk.iso"), listed(t, []byte("b"), "20/disk.iso")
	l, err := download.ReadList(bytes.NewReader(append(a, b...)), "dir/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ url, name, want string }{
		{"http://h/pub/18/disk.iso", "", "sha-256 from line 1 of SHA256SUMS"},
		{"http://h/pub/20/disk.iso?x", "new.iso", "sha-256 from line 2 of SHA256SUMS"},
		{"http://h/%32%30/disk.iso", "", "sha-256 from line 2 of SHA256SUMS"},
		{"http://h/22/disk.iso", "", `several listed paths end in "disk.iso"`},
		{"http://h/a/../disc.iso", "x/disk.isoo", `"disc.iso" is not in the list; similar names are`},
		{"http://h/", "", `"" is not in the list`},
	} {
		r := download.Request{URL: parse(t, tt.url), Name: tt.name}
		got := fmt.Sprint(l.Vouch(&r))
		if len(r.Trust.Claims) > 0 {
			got = r.Trust.Claims[0].String()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.url, got, tt.want)
		}
	}
}

// A list above the file on the same server has other files of the same name in other folders.
func TestListAbove(t *testing.T) {
	t.Parallel()
	digest := strings.Fields(string(listed(t, []byte("a"), "x")))[0]
	for _, tt := range []struct {
		list, line, url string
		good            bool
	}{
		{"http://h/pub/SUMS", "v1/disk.iso", "http://h/pub/v2/disk.iso", false},
		{"http://h:80/SUMS", "./v1/disk.iso", "http://h/pub/v2/disk.iso", false},
		{"http://h/pub/SUMS", "v1/disk.iso", "https://h/pub/v2/disk.iso", false},
		{"https://h/pub/SUMS", "v1/disk.iso", "http://h/pub/v2/disk.iso", false},
		{"http://h/x/../pub/SUMS", "v1/disk.iso", "http://h/./pub/v%32/disk.iso", false},
		{"http://h/pub/SUMS", "y/v2/disk.iso", "http://h/pub/x/v2/disk.iso", false},
		{"http://h/pub/SUMS", "v2/disk.iso", "http://h/pub/x/v2/disk.iso", true},
		{"http://h/pub/SUMS", "disk.iso", "http://h/pub/v2/disk.iso", true},
		{"http://h/pub/SUMS", "pub/v2/disk.iso", "http://h/pub/v2/disk.iso", true},
		{"http://h/m/SUMS", "debian/a/disk.iso", "http://h/m/a/disk.iso", true},
		{"http://h/debian/SUMS", "./dists/a/disk.iso", "http://h/debian/dists/a/disk.iso", true},
		{"http://h/v1/SUMS", "dist/disk.iso", "http://h/v1/disk.iso", true},
		{"http://h/v1/sums/SUMS", "dist/disk.iso", "http://h/v1/disk.iso", true},
		{"http://other/pub/SUMS", "v1/disk.iso", "http://h/pub/v2/disk.iso", true},
		{"http://h:8/pub/SUMS", "v1/disk.iso", "http://h/pub/v2/disk.iso", true},
	} {
		l, err := download.ReadList(strings.NewReader(digest+"  "+tt.line+"\n"), "SUMS")
		if err != nil {
			t.Fatal(err)
		}
		l.URL = parse(t, tt.list)
		for _, name := range []string{"", "disk.iso", "own.iso"} {
			r := download.Request{URL: parse(t, tt.url), Name: name}
			err := l.Vouch(&r)
			if (err == nil) != tt.good || err != nil && !strings.Contains(err.Error(), `"disk.iso" is not in the list`) {
				t.Errorf("%s with %s, %s as %q: %v", tt.list, tt.line, tt.url, name, err)
			}
		}
	}
}

// Proves rule 64 for pins: a list over http does not replace evidence that the URL no longer offers.
func TestListDoesNotKeepPromises_Rule64(t *testing.T) {
	t.Parallel()
	data := made(mib, 7)
	origin := sized(t, mib, mirrortest.Document("/SUMS", "text/plain", listed(t, data, "file.bin")))
	for _, own := range []bool{false, true} {
		r := newRun(t, origin.URL)
		r.client.State = &state.Store{}
		r.client.State.KeepPin(r.req.URL, state.PinOf(nil, "application/pgp-signature"))
		l := fetchList(t, r, origin, "/SUMS")
		if own {
			l, _ = download.ReadList(bytes.NewReader(listed(t, data, "file.bin")), "SUMS")
		}
		if err := l.Vouch(&r.req); err != nil {
			t.Fatal(err)
		}
		if own {
			r.right(origin.Content)
		} else {
			r.wrong(download.NoEvidence)
		}
	}
}

// Proves rules 47 and 48 for lists: the first signature beside the list is used, with the trusted keys, and
// what is none is ignored. Only the known suffixes are requested from a server that has none.
func TestListSigned_Rule47_Rule48(t *testing.T) {
	t.Parallel()
	list := listed(t, made(mib, 7), "file.bin")
	alice, bob := newSigner(t, "alice"), newSigner(t, "bob")
	good, nobody, bad := alice.sign(t, list), bob.sign(t, list), alice.sign(t, []byte("x"))
	for name, tt := range map[string]struct {
		beside map[string][]byte
		named  []byte
		want   download.Kind
		signed bool
		asked  int // requests for signatures
	}{
		"first":      {map[string][]byte{".asc": good, ".sig": bad}, nil, download.Other, true, 1},
		"third":      {map[string][]byte{".gpg": good}, nil, download.Other, true, 3},
		"none":       {nil, nil, download.Other, false, 4},
		"bad":        {map[string][]byte{".sig": bad}, nil, download.BadSignature, false, 2},
		"nobody's":   {map[string][]byte{".sign": nobody}, nil, download.NoKey, false, 4},
		"empty":      {map[string][]byte{".asc": {}}, nil, download.Other, false, 4},
		"a page":     {map[string][]byte{".asc": []byte("<html>"), ".sig": good}, nil, download.Other, true, 2},
		"both":       {map[string][]byte{".asc": append(nobody, good...)}, nil, download.Other, true, 1},
		"one is bad": {map[string][]byte{".asc": append(bad, good...)}, nil, download.BadSignature, false, 1},
		"too long":   {map[string][]byte{".asc": make([]byte, 2<<20)}, nil, download.Other, false, 4},
		"named":      {map[string][]byte{".asc": bad}, good, download.Other, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := mirrortest.New(t, list, mirrortest.Name("SUMS"))
			for ending, data := range tt.beside {
				s.Set(mirrortest.Document("/SUMS"+ending, "text/plain", data))
			}
			r := newRun(t, s.URL)
			r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
			l := fetchList(t, r, s, "/SUMS")
			var named []download.Signature
			if tt.named != nil {
				named = []download.Signature{{From: "x", Data: tt.named}}
			}
			unsigned, err := r.client.CheckSigned(t.Context(), l, r.req, named)
			if e, _ := errors.AsType[*download.Error](err); (e != nil) != (tt.want != download.Other) ||
				e != nil && e.Kind != tt.want {
				t.Errorf("got %v, want kind %d", err, tt.want)
			}
			if signed := l.Over == verify.Signed && l.By.Key == alice.fingerprint; signed != tt.signed ||
				err == nil && signed != (unsigned == "") {
				t.Errorf("over %v by %v, unsigned: %q", l.Over, l.By, unsigned)
			}
			if n := len(s.Requests()) - 1; n != tt.asked {
				t.Errorf("%d requests for signatures, want %d", n, tt.asked)
			}
		})
	}
}

// Proves rule 64 across runs: a digest that an earlier run had from a signed list counts like any digest in a
// run that trusts other keys, whatever the journal states.
func TestListSignedEarlier_Rule64(t *testing.T) {
	t.Parallel()
	s := resumable(t)
	list := listed(t, s.Content.Bytes(), "file.bin")
	alice, bob := newSigner(t, "alice"), newSigner(t, "bob")
	l, err := download.ReadList(bytes.NewReader(list), "SUMS")
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t, s.URL)
	trusting := download.Request{Trust: download.Trust{Anchors: trusts(t, alice)}}
	if unsigned, err := r.client.CheckSigned(t.Context(), l, trusting,
		[]download.Signature{{From: "x", Data: alice.sign(t, list)}}); err != nil || unsigned != "" {
		t.Fatal(unsigned, err)
	}
	plain := r.req
	if err := l.Vouch(&r.req); err != nil {
		t.Fatal(err)
	}
	r.interrupt(2 * mib)
	again := r.req
	r.req = plain
	r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, bob), download.RequireSignature
	r.wrong(download.NoEvidence)
	r.req = again
	r.req.Trust.Require = download.RequireSignature
	r.req.Trust.Anchors = trusts(t, alice)
	res := r.right(s.Content)
	if res.Resumed == 0 || !res.Proof.Signed() || len(res.Proof.Evidence()) != 1 {
		t.Errorf("resumed %d: %v (%v)", res.Resumed, res.Proof, res.Proof.Evidence())
	}
}

// The URL of a file does not offer a list that came over https, so the next command may omit the list. A
// digest of the server must still be offered.
func TestListIsNotPinned_Rule64(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.TLS(nil))
	list := []verify.Claim{{Digest: origin.Digest(), Field: "a list", Channel: verify.HTTPS}}
	r := newRun(t, origin.URL)
	r.tls, r.client.State = &tls.Config{RootCAs: mirrortest.Pool(origin)}, &state.Store{}
	get := func(claims []verify.Claim) {
		t.Helper()
		r.req.Trust.Claims = claims
		r.right(origin.Content)
		if err := os.Remove(r.path()); err != nil {
			t.Fatal(err)
		}
	}
	get(list)
	get(nil)
	origin.Set(mirrortest.Digest())
	get(list)
	origin.Reset(mirrortest.TLS(nil))
	r.req.Trust.Claims = nil
	r.wrong(download.NoEvidence)
}

// Proves rule 26 for lists: the channel is that of the weakest answer on the way. An answer that is no list
// is an error.
func TestFetchList(t *testing.T) {
	t.Parallel()
	list := listed(t, made(mib, 7), "file.bin")
	s := mirrortest.New(t, list, mirrortest.Name("SUMS"), mirrortest.Document("/page", "text/html", []byte("<html>")))
	r := newRun(t, s.URL)
	if l := fetchList(t, r, s, "/SUMS"); l.Over != verify.HTTP || l.Name != "SUMS" {
		t.Errorf("%v over %v", l.Name, l.Over)
	}
	for path, want := range map[string]download.Kind{"/page": download.Protocol, "/none": download.Refused} {
		_, err := r.client.List(t.Context(), download.Request{URL: parse(t, "http://"+s.Addr+path)})
		if e, _ := errors.AsType[*download.Error](err); e == nil || e.Kind != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	s.Set(mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(bytes.Repeat([]byte("#\n"), 5<<20))
	})))
	_, err := r.client.List(t.Context(), download.Request{URL: parse(t, s.URL)})
	if e, _ := errors.AsType[*download.Error](err); e == nil || e.Kind != download.Limit {
		t.Errorf("a long one: %v", err)
	}
}
