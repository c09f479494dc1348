package download_test

import (
	"context"
	"crypto/md5"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// A forgeSite is all hosts of forges in one, with a certificate for them. Requests go to it wherever they lead.
type forgeSite struct {
	t       *testing.T
	server  *httptest.Server
	client  *httpsource.Client
	mu      sync.Mutex
	answers map[string]string // by host and path; one that begins with > is a redirect, with a number a status
	asked   []string
	tokens  []string // hosts and paths that got one
}

func newForgeSite(t *testing.T, pairs ...string) *forgeSite {
	s := &forgeSite{t: t, answers: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.answers[pairs[i]] = pairs[i+1]
	}
	config, pem := mirrortest.Certify(t, func(c *x509.Certificate) {
		c.DNSNames = []string{"github.com", "api.github.com", "objects.githubusercontent.com", "mirror.example",
			"pypi.org",
			"files.pythonhosted.org", "codeberg.org", "gitlab.com", "zenodo.org"}
	})
	config.NextProtos = []string{"http/1.1"}
	s.server = httptest.NewUnstartedServer(s)
	s.server.TLS, s.server.Config.ErrorLog = config, log.New(io.Discard, "", 0)
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	s.client = &httpsource.Client{TLS: &tls.Config{RootCAs: pool},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.server.Listener.Addr().String())
		}}
	if err := s.client.AllowHosts.Add("127.0.0.0/8"); err != nil { // where the forges of the test are
		t.Fatal(err)
	}
	t.Cleanup(s.client.CloseIdle)
	return s
}

func (s *forgeSite) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	at := q.Host + q.URL.EscapedPath()
	s.mu.Lock()
	if q.Method != http.MethodHead {
		s.asked = append(s.asked, at)
	}
	if q.Header.Get("Authorization") != "" {
		s.tokens = append(s.tokens, at)
	}
	answer, ok := s.answers[at]
	s.mu.Unlock()
	answer, expired := strings.CutPrefix(answer, "401 to tokens: ")
	if expired && q.Header.Get("Authorization") != "" {
		http.Error(w, "Bad credentials", http.StatusUnauthorized)
		return
	}
	to, redirects := strings.CutPrefix(answer, ">")
	switch {
	case !ok:
		http.NotFound(w, q)
	case redirects:
		http.Redirect(w, q, to, http.StatusFound)
	case answer == "403":
		http.Error(w, "API rate limit exceeded", http.StatusForbidden)
	default:
		http.ServeContent(w, q, "", time.Time{}, strings.NewReader(answer))
	}
}

// get downloads what is at u, and returns what was proven and what was asked for beside the file.
func (s *forgeSite) get(u string, change func(*download.Client, *download.Request)) (res download.Result,
	asked string, err error) {
	s.mu.Lock()
	s.asked, s.tokens = nil, nil
	s.mu.Unlock()
	c := download.Client{HTTP: s.client}
	r := download.Request{URL: parse(s.t, u), Dir: s.t.TempDir(), Name: "file.bin", Trust: download.Trust{Lookup: true}}
	if change != nil {
		change(&c, &r)
	}
	res, err = c.Get(download.WithLookupGrace(s.t.Context(), time.Hour), r)
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.asked)
	return res, strings.Join(slices.Compact(s.asked), " "), err
}

const (
	releaseFile = "github.com/acme/tool/releases/download/v1/tool.tgz"
	releaseList = "github.com/acme/tool/releases/download/v1/tool_checksums.txt"
	releaseAsks = "api.github.com/repos/acme/tool/releases/tags/v1"
	delivered   = "objects.githubusercontent.com/"
)

// released is the answer about a release with a file and, if it is not empty, a list.
func released(digest, list string) string {
	asset := func(at, digest string) string {
		return fmt.Sprintf(`{"browser_download_url":"https://%s","state":"uploaded","digest":%s}`, at, digest)
	}
	all := []string{asset(releaseFile, digest)}
	if list != "" {
		all = append(all, asset(list, "null"))
	}
	return `{"assets":[` + strings.Join(all, ",") + `]}`
}

// TestLookupForge: what the forge knows of a file proves it, by one question, and else the lists that the release has.
func TestLookupForge_Rule77(t *testing.T) {
	file := book()
	digest, line := `"sha256:`+sum256(file)+`"`, sum256(file)+"  tool.tgz\n"
	guesses := " github.com/acme/tool/releases/download/v1/ github.com/acme/tool/releases/download/v1/SHA256SUMS" +
		" github.com/acme/tool/releases/download/v1/checksums.txt github.com/acme/tool/releases/download/v1/sha256sum.txt" +
		" " + releaseFile + " " + releaseFile + ".sha256"
	for _, tt := range []struct {
		name        string
		answers     []string
		want, asked string // what is proven, and what was asked for beside the file
	}{
		{"digest", []string{releaseAsks, released(digest, "")}, "sha-256 from api.github.com over https",
			releaseAsks},
		{"digest and list", []string{releaseAsks, released(digest, releaseList), releaseList, "0"},
			"sha-256 from api.github.com over https", releaseAsks},
		{"list", []string{releaseAsks, released("null", releaseList), releaseList, line},
			"sha-256 from tool_checksums.txt beside it over https", releaseAsks + " " + releaseList},
		{"delivered list", []string{releaseAsks, released("null", releaseList), releaseList, ">https://" + delivered +
			"list", delivered + "list", line},
			"sha-256 from tool_checksums.txt beside it over https", releaseAsks + " " + releaseList + " " +
				delivered + "list"},
		{"list of a mirror", []string{releaseAsks, released("null", releaseList), releaseList,
			">https://mirror.example/list", "mirror.example/list", line},
			"unverified", releaseAsks + " " + releaseList + " mirror.example/list"},
		{"list elsewhere", []string{releaseAsks, released("null", "mirror.example/tool_checksums.txt"),
			"mirror.example/tool_checksums.txt", line},
			"unverified", releaseAsks},
		{"neither", []string{releaseAsks, released("null", "")}, "unverified", releaseAsks},
		{"rate limit", []string{releaseAsks, "403"}, "unverified", releaseAsks + guesses},
		{"another host answers", []string{releaseAsks, ">https://mirror.example/api", "mirror.example/api",
			released(digest, "")},
			"unverified", releaseAsks + guesses + " mirror.example/api"},
		{"another tag", []string{releaseAsks, strings.ReplaceAll(released(digest, ""), "/v1/", "/v2/")}, "unverified",
			releaseAsks + guesses},
		{"too long", []string{releaseAsks, released(digest, "") + strings.Repeat(" ", 4<<20)}, "unverified",
			releaseAsks + guesses},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newForgeSite(t, append(tt.answers, releaseFile, ">https://"+delivered+"file", delivered+"file",
				file)...)
			res, asked, err := s.get("https://"+releaseFile, nil)
			for _, own := range []string{releaseFile, delivered + "file"} {
				asked = strings.TrimSpace(strings.ReplaceAll(" "+asked+" ", " "+own+" ", " "))
			}
			want := strings.Fields(strings.ReplaceAll(tt.asked, " "+releaseFile+" ", " "))
			slices.Sort(want)
			if err != nil || res.Proof.String() != tt.want || asked != strings.Join(want, " ") {
				t.Errorf("%v, %v, want %s\nasked %s\nwant  %s\n%v", err, res.Proof, tt.want, asked,
					strings.Join(want, " "), res.Looked.Places)
			}
		})
	}
	t.Run("latest", func(t *testing.T) {
		t.Parallel()
		const latest = "github.com/acme/tool/releases/latest/download/tool.tgz"
		s := newForgeSite(t, latest, ">https://"+releaseFile, releaseFile, file, releaseAsks, released(digest, ""))
		if res, _, err := s.get("https://"+latest, nil); err != nil || !res.Proof.Verified() {
			t.Errorf("%v, %v", res.Proof, err)
		}
	})
	t.Run("kept elsewhere on the host", func(t *testing.T) {
		t.Parallel()
		const at, kept = "gitlab.com/acme/tool/-/releases/v1/downloads/", "gitlab.com/-/project/7/uploads/0123/"
		link := func(name string) string {
			return `{"name":"` + name + `","url":"https://` + kept + name + `","direct_asset_url":"https://` + at + name + `"}`
		}
		s := newForgeSite(t, at+"tool.tgz", ">https://"+kept+"tool.tgz", kept+"tool.tgz", file,
			at+"SUMS.sha256", ">https://"+kept+"SUMS.sha256", kept+"SUMS.sha256", line,
			"gitlab.com/api/v4/projects/acme%2Ftool/releases/v1",
			`{"assets":{"links":[`+link("tool.tgz")+","+link("SUMS.sha256")+`]}}`)
		if res, asked, err := s.get("https://"+at+"tool.tgz", nil); err != nil ||
			res.Proof.String() != "sha-256 from SUMS.sha256 beside it over https" {
			t.Errorf("%v, %v, asked %s", res.Proof, err, asked)
		}
	})
	t.Run("replaced after the question", func(t *testing.T) {
		t.Parallel()
		s := newForgeSite(t, releaseFile, file, releaseAsks, released(`"sha256:`+sum256("other")+`"`, ""))
		if _, _, err := s.get("https://"+releaseFile, nil); kindOfError(err) != download.Mismatch {
			t.Error(err)
		}
	})
	t.Run("an MD5", func(t *testing.T) {
		t.Parallel()
		const at = "zenodo.org/records/12/files/a.zip"
		for name, content := range map[string]string{"right": file, "wrong": "another"} {
			s := newForgeSite(t, at, file, "zenodo.org/api/records/12",
				fmt.Sprintf(`{"files":[{"key":"a.zip","checksum":"md5:%x"}]}`, md5.Sum([]byte(content))))
			res, _, err := s.get("https://"+at, nil)
			good := content == file
			if good && (err != nil || res.Proof.Verified()) || !good && kindOfError(err) != download.Mismatch {
				t.Errorf("%s: %v, %v", name, res.Proof, err)
			}
			res, _, err = s.get("https://"+at, func(_ *download.Client, r *download.Request) { r.Stream = io.Discard })
			if good && (err != nil || res.Proof.Verified()) || !good && kindOfError(err) != download.Mismatch {
				t.Errorf("stream, %s: %v, %v", name, res.Proof, err)
			}
			for _, goOn := range []bool{false, true} {
				res, _, err = s.get("https://"+at, func(_ *download.Client, r *download.Request) {
					r.IfExists.Continue = goOn
					if err := os.WriteFile(filepath.Join(r.Dir, r.Name), []byte(file), 0o600); err != nil {
						t.Fatal(err)
					}
				})
				switch { // samples that are the same complete a file with Continue
				case good && goOn:
					if err != nil || res.Proof.Verified() {
						t.Errorf("continued: %v, %v", res.Proof, err)
					}
				case kindOfError(err) != download.Local, strings.Contains(err.Error(), "from zenodo.org") == good:
					t.Errorf("in place, %s: %v", name, err)
				}
			}
			c, path := download.Client{HTTP: s.client}, filepath.Join(t.TempDir(), "a.zip")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := c.Verify(t.Context(), download.Request{URL: parse(t, "https://"+at), Dir: filepath.Dir(path), Name: "a.zip",
				Trust: download.Trust{Lookup: true}})
			if good && (err != nil || v.Proof.Verified()) || !good && kindOfError(err) != download.Mismatch {
				t.Errorf("verify, %s: %v, %v", name, v.Proof, err)
			}
		}
	})
	t.Run("a host of its own for questions", func(t *testing.T) {
		t.Parallel()
		const at = "files.pythonhosted.org/packages/aa/acme-1.0.tar.gz"
		s := newForgeSite(t, at, file, "pypi.org/pypi/acme/1.0/json",
			`{"urls":[{"url":"https://`+at+`","digests":{"sha256":"`+sum256(file)+`"}}]}`)
		if res, asked, err := s.get("https://"+at, nil); err != nil ||
			res.Proof.String() != "sha-256 from pypi.org over https" {
			t.Errorf("%v, %v, asked %s", res.Proof, err, asked)
		}
	})
}
