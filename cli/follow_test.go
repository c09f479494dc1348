package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFollowTooMany checks that a page with too many files, or with too long names, is refused. A part of it may lack the
// newest version.
func TestFollowTooMany(t *testing.T) {
	for name, long := range map[string]int{"files": 0, "names": 4 << 10} {
		t.Run(name, func(t *testing.T) {
			page := strings.Builder{}
			fmt.Fprint(&page, "<title>Index of /</title>")
			for i := range mostRecords + 1 {
				if fmt.Fprintf(&page, "<a href=t%s-1.%d>t</a>\n", strings.Repeat("x", long), i); page.Len() > 2*mostOfURLs {
					break
				}
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, page.String())
			}))
			defer s.Close()
			var out, errs bytes.Buffer
			code := run(t.Context(), []string{"braid", "follow", s.URL + "/"}, streams{out: &out, err: &errs})
			want := fmt.Sprintf("braid: follow %s/: the page names more than 50000 files, or their URLs have more "+
				"than 8 MiB\n", s.URL)
			if code != exitLimit || out.Len() > 0 || errs.String() != want {
				t.Errorf("%d: %s%s", code, out.String(), errs.String())
			}
		})
	}
}

// TestFollowOnceFeedDigest_Rule81 checks that --once uses the digest in the feed as a watch does: it is evidence if the
// feed is on the server of the file, and a wrong one of another server is a warning.
func TestFollowOnceFeedDigest_Rule81(t *testing.T) {
	const body = "the file"
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
	file := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/dl/v1.0/q-1.0.bin" {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "q-1.0.bin", time.Unix(1e9, 0), strings.NewReader(body))
	}
	var feed http.HandlerFunc
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/releases.json" {
			feed(w, r)
			return
		}
		file(w, r)
	}))
	defer other.Close()
	for _, c := range []struct {
		digest, require, said string
		elsewhere             bool
		code                  int
		moved                 bool // the feed is on another server, to which the server of the file redirects
	}{
		{digest: sum, require: "digest", said: "sha-256 from the feed 127.0.0.1", code: exitDone},
		{digest: strings.Repeat("0", 64), require: "none", said: "from the feed 127.0.0.1", code: exitMismatch},
		{digest: sum, require: "digest", said: "no verifiable digest", elsewhere: true, code: exitNoEvidence},
		{digest: strings.Repeat("0", 64), require: "none", said: "the feed has another digest: sha-256 is " + sum,
			elsewhere: true, code: exitDone},
		{digest: sum, require: "digest", said: "no verifiable digest", moved: true, code: exitNoEvidence},
	} {
		var of string
		feed = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `[{"tag_name":"v1.0","draft":false,"prerelease":false,"html_url":"%s/rel/v1.0","assets":[`+
				`{"name":"q-1.0.bin","size":8,"browser_download_url":"%[1]s/dl/v1.0/q-1.0.bin","digest":"sha256:%s"}]}]`, of, c.digest)
		}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/releases.json":
				file(w, r)
			case c.moved:
				http.Redirect(w, r, other.URL+"/releases.json", http.StatusFound)
			default:
				feed(w, r)
			}
		}))
		if of = s.URL; c.elsewhere {
			of = other.URL
		}
		dir := t.TempDir()
		code, _, said := command(t, "follow", "--once", "--require", c.require, "--asset", of+"/dl/{tag}/q-{version}.bin",
			"-d", dir, s.URL+"/releases.json")
		s.Close()
		_, err := os.Stat(filepath.Join(dir, "q-1.0.bin"))
		if code != c.code || !strings.Contains(said, c.said) || (err == nil) != (c.code == exitDone) {
			t.Errorf("%+v: exit code %d: %s", c, code, said)
		}
	}
}
