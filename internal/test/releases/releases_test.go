package releases

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// certify returns a TLS configuration for all hosts of a world, and the authority in PEM.
func certify(t testing.TB) (*tls.Config, []byte) {
	config, pem := mirrortest.Certify(t, func(c *x509.Certificate) { c.DNSNames = Hosts })
	config.NextProtos = []string{"http/1.1"}
	return config, pem
}

func newChance() *rand.Rand { return rand.New(rand.NewPCG(1, 0)) }

func readNames(t testing.TB, path string) []Name {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names, err := ReadNames(f)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

const namesFile = "../../lookup/testdata/list-names.tsv"

// exitOf is the exit code that the command has for an error of these worlds, without a demand.
func exitOf(err error) int {
	e, ok := errors.AsType[*download.Error](err)
	switch {
	case err == nil, ok && e.Kind == download.NoEvidence:
		return 0
	case ok && e.Kind == download.Mismatch:
		return 11
	case ok && e.Kind == download.Protocol:
		return 7
	}
	return 1
}

// TestReleases: of releases of all kinds, most that publish a strong digest are verified without a flag, and nothing is
// by what misleads, with few requests.
func TestReleases_Rule77(t *testing.T) {
	config, pem := certify(t)
	w, all, stop := New(readNames(t, namesFile), Mix{34, 16, len(traps)}, 1, config)
	defer stop()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	proxy, err := url.Parse(w.Proxy)
	if err != nil {
		t.Fatal(err)
	}
	hc := &httpsource.Client{TLS: &tls.Config{RootCAs: pool}, Proxy: func(*url.URL) (*url.URL, error) { return proxy, nil }}
	defer hc.CloseIdle()
	c := download.Client{HTTP: hc}
	dir, published, verified := t.TempDir(), 0, 0
	for i, r := range all {
		u, err := url.Parse(r.URL)
		if err != nil {
			t.Fatal(err)
		}
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		// Without a demand the end would wait for 5 s only, which a busy machine may need.
		res, err := c.Get(t.Context(), download.Request{
			URL: u, Dir: dir, Name: name, Trust: download.Trust{Lookup: true, Require: download.RequireDigest},
		})
		j := r.Judge(res.Proof.Verified(), exitOf(err))
		if r.Publishes == Strong && r.Trap == "" {
			if published++; j == Right {
				verified++
			}
		}
		cost := Count(w.Take())
		if j == Wrong || j == Misjudged || cost.Questions > 1 || cost.Listings > 1 || cost.Small > 4 {
			t.Errorf("%v: %s, %v, %v; %+v\n%v", r, j, res.Proof, err, cost, res.Looked.Places)
		}
		if j == Missed {
			t.Logf("missed: %v; %v", r, res.Looked.Places)
		}
	}
	if verified*100 < published*85 {
		t.Errorf("%d of %d that publish a strong digest were verified", verified, published)
	}
}

// TestNames: names of lists are those of their rules, and lists have the files they shall have.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ rule, list string }{
		{"checksums.txt", "checksums.txt"}, {"hugo_X_checksums.txt", "hugo_"}, {"X-X.sha", ".sha"}, {"X.sha256sum", ".sha256sum"},
		{"replibyte_X_X-X.X.sha256sum", ".gz.sha256sum"}, {"gopass_X_SHA256SUMS", "_SHA256SUMS"}, {"mlr.X_X", "mlr."}, {"", ""},
	} {
		b, _ := newBuilder(&World{}, newChance(), 7, tt.rule)
		if !strings.Contains(b.list, tt.list) || (b.list == "") != (tt.rule == "") || strings.Contains(b.list, "X") {
			t.Errorf("%s: %s", tt.rule, b.list)
		}
		if of := strings.Contains(b.list, b.file()); of != (b.of == ofFile) {
			t.Errorf("%s: %s of %s", tt.rule, b.list, b.file())
		}
	}
	counts := map[string]int{}
	for _, n := range draw([]Name{{70, "a"}, {29, "b"}, {1, "c"}}, 10, newChance()) {
		counts[n]++
	}
	if counts["a"] != 7 || counts["b"] != 3 || !slices.Equal(draw([]Name{{1, "a"}}, 2, newChance()), []string{"a", "a"}) {
		t.Errorf("drawn %v", counts)
	}
	if _, err := ReadNames(strings.NewReader("# count\tname\n12\tchecksums.txt\n\n1\t../x\n")); err == nil {
		t.Error("a path is taken for a name")
	}
}
