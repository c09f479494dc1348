package download_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// TestLookupHostile: what is not the asked server's list of the folder proves nothing, and ends no download.
func TestLookupHostile_Rule77(t *testing.T) {
	file := book()
	line := sum256(file) + "  disk.iso\n"
	mirror := newFolderSite(t, "SHA256SUMS", line, "disk.iso.sha256", sum256(file),
		"wrong/SHA256SUMS", sum256("other")+"  disk.iso\n")
	deeper := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, to, http.StatusFound) }
	}
	text := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name   string
		beside []string         // pairs; an index lists them
		other  http.HandlerFunc // answers everything else; there is no index
		want   string           // of a place
	}{
		{"soft 404", nil, text(200, "text/html", "<h1>disk.iso</h1><pre>\n"+line+"</pre>"),
			"the response is a page instead of a list"},
		{"soft 404 that begins as a list", nil, text(200, "text/html; charset=utf-8", line+"<p>not found</p>"),
			"the response is a page instead of a list"},
		{"soft 404 as a list", nil, text(200, "Text/HTML", line), "the response is a page instead of a list"},
		{"soft 404 as text", nil, text(200, "text/plain", "there is no disk.iso here\n"+line),
			"no list of checksums"},
		{"404 with a list", nil, text(404, "text/plain", line), "404"},
		{"a list of another folder", []string{"SHA256SUMS",
			sum256(file) + "  other/disk.iso\n" + sum256(file) + "  /pub/disk.iso\n"}, nil, "no digest of this file"},
		{"a list of 1 GiB", nil, func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(1<<30))
			io.WriteString(w, line)
		}, "it has more than"},
		{"a list without an end", nil, func(w http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(line, 1000)); err != nil {
					return
				}
			}
		}, "it has more than"},
		{"another host has the list", nil, deeper(mirror.URL + "/pub/SHA256SUMS"), ", a mirror"},
		{"another host has the digest", nil, deeper(mirror.URL + "/pub/disk.iso.sha256"), ", a mirror"},
		{"another host has another list", nil, deeper(mirror.URL + "/pub/wrong/SHA256SUMS"), ", a mirror"},
		{"a limit", nil, text(429, "text/plain", line), "429"},
		{"an error", nil, text(503, "text/plain", line), "503"},
		{"refused", nil, text(403, "text/plain", line), "403"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, append([]string{"disk.iso", file}, tt.beside...)...)
			s.index, s.other = tt.other == nil, tt.other
			r := lookingUp(t, s, "disk.iso")
			res := r.right(mirrortest.ContentOf([]byte(file)))
			var places []string
			for _, p := range res.Looked.Places {
				places = append(places, p.String())
			}
			if res.Proof.Verified() || !strings.Contains(strings.Join(places, "\n"), tt.want) {
				t.Errorf("%v\n%s\nwant %q", res.Proof, strings.Join(places, "\n"), tt.want)
			}
			agrees := tt.want == ", a mirror" && !strings.Contains(tt.name, "another list")
			if list, ok := res.Looked.Agreeing(res.Proof.Digests()); ok != agrees {
				t.Errorf("agrees with a mirror: %v, %v", list, ok)
			}

			r = lookingUp(t, s, "disk.iso")
			r.req.Trust.Require = download.RequireDigest
			r.wrong(download.NoEvidence)
		})
	}
}

// TestLookupContentDigest: a mirror that answers with a Content-Digest of its own does not prevent that the list of the
// asked server is read.
func TestLookupContentDigest_Rule77(t *testing.T) {
	file := book()
	mirror := mirrortest.New(t, []byte(strings.ToUpper(file)), mirrortest.ContentDigest())
	s := newFolderSite(t, "SHA256SUMS", sum256(file)+"  disk.iso\n")
	s.index, s.other = false, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/pub/disk.iso" {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Link", "<"+mirror.URL+">; rel=duplicate") // without a digest
		http.Redirect(w, q, mirror.URL, http.StatusFound)
	}
	e := lookingUp(t, s, "disk.iso").wrong(download.Mismatch)
	if !strings.Contains(e.Error(), "SHA256SUMS beside it") {
		t.Error(e)
	}
}

// TestLookupRedirectedInBatch: the list of a file is read although three files before it have none, if otherwise the
// digest of a host that the asked server redirects to would decide.
func TestLookupRedirectedInBatch_Rule77(t *testing.T) {
	to := mirrortest.New(t, []byte(book()), mirrortest.Digest())
	s := newFolderSite(t, "d.iso.sha256", sum256("another")+"  d.iso\n")
	s.index, s.other = false, func(w http.ResponseWriter, q *http.Request) {
		if !strings.HasSuffix(q.URL.Path, ".iso") {
			http.NotFound(w, q)
			return
		}
		http.Redirect(w, q, to.URL, http.StatusFound)
	}
	dir := t.TempDir()
	all := func(yield func(download.Request) bool) {
		for _, name := range []string{"a.iso", "b.iso", "c.iso", "d.iso"} {
			r := download.Request{URL: parse(t, s.URL+"/pub/"+name), Dir: dir, Trust: download.Trust{Lookup: true}}
			if !yield(r) {
				return
			}
		}
	}
	ended := func(i int, _ download.Request, _ download.Result, err error) {
		if wrong := kindOfError(err) == download.Mismatch; wrong != (i == 3) || !wrong && err != nil {
			t.Errorf("file %d: %v", i, err)
		}
	}
	if n := new(download.Client).GetAll(t.Context(), all, download.Batch{AtOnce: 1, Ended: ended}); n != 4 {
		t.Errorf("%d downloads", n)
	}
}

// TestLookupRedirected: the digest of a host that the asked server redirects to, without a word about the file, does not
// prevent that its list is read. The two must not contradict each other.
func TestLookupRedirected_Rule77(t *testing.T) {
	file, other := book(), strings.ToUpper(book())
	for _, field := range []string{"Digest", "Repr-Digest", "X-Checksum-Sha256", "Content-Digest"} {
		for _, how := range []string{"get", "require", "resumed", "there", "overwrite", "newer", "plan", "probe",
			"no lookup", "right", "unlisted"} {
			t.Run(field+"/"+how, func(t *testing.T) {
				t.Parallel()
				gives := other
				if how == "right" {
					gives = file
				}
				sum := sha256.Sum256([]byte(gives))
				value := map[string]string{"Digest": "SHA-256=%s", "Repr-Digest": "sha-256=:%s:",
					"Content-Digest": "sha-256=:%s:"}[field]
				value = strings.ReplaceAll(value, "%s", base64.StdEncoding.EncodeToString(sum[:]))
				if field == "X-Checksum-Sha256" {
					value = fmt.Sprintf("%x", sum)
				}
				to := newFolderSite(t, "SHA256SUMS", sum256(gives)+"  disk.iso\n")
				to.index, to.other = false, func(w http.ResponseWriter, q *http.Request) {
					w.Header().Set(field, value)
					http.ServeContent(w, q, "", time.Time{}, strings.NewReader(gives))
				}
				s := newFolderSite(t, "SHA256SUMS", sum256(file)+"  disk.iso\n")
				s.other = func(w http.ResponseWriter, q *http.Request) {
					http.Redirect(w, q, to.URL+"/pub/disk.iso", http.StatusFound)
				}
				redirected(t, lookingUp(t, s, "disk.iso"), s, how, field, gives)
			})
		}
	}
}

// redirected makes a run of TestLookupRedirected.
func redirected(t *testing.T, r *run, s *folderSite, how, field, gives string) {
	there := func() {
		if err := os.WriteFile(r.path(), []byte(gives), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	switch how {
	case "no lookup":
		r.req.Trust.Lookup, r.req.Trust.Require = false, download.RequireDigest
		if field == "Content-Digest" {
			r.req.Trust.Require = download.RequireNothing
		}
		r.right(mirrortest.ContentOf([]byte(gives)))
		if asked := s.requests("disk.iso"); asked != "" {
			t.Errorf("asked for %q", asked)
		}
		return
	case "right":
		r.req.Trust.Require = download.RequireDigest
		if r.right(mirrortest.ContentOf([]byte(gives))); !strings.Contains(s.requests("disk.iso"), "SHA256SUMS") {
			t.Errorf("asked for %q", s.requests("disk.iso"))
		}
		return
	case "probe":
		o, err := r.client.Probe(r.ctx, r.req)
		if err != nil || field != "Content-Digest" && o.Contradiction == nil {
			t.Errorf("%v, %v", o.Contradiction, err)
		}
		return
	case "plan":
		p, err := r.client.Plan(r.ctx, r.req)
		if field != "Content-Digest" && kindOfError(err) != download.Mismatch {
			t.Errorf("%v, %v", p, err)
		}
		return
	case "require":
		r.req.Trust.Require = download.RequireDigest
	case "there":
		if there(); field == "Content-Digest" { // it is of the answer's bytes only, and nothing is fetched
			r.fails(download.Local)
			return
		}
	case "overwrite":
		there()
		r.req.IfExists.Overwrite = true
	case "newer":
		there()
		r.req.IfExists.IfNewer = true
	}
	var e *download.Error
	times := 1
	if how == "resumed" || how == "unlisted" {
		times = 3
	}
	for range times {
		if e = r.fails(download.Mismatch); how == "unlisted" { // from now on the server fails to send the list
			s.fail("SHA256SUMS", "disk.iso")
		}
	}
	if !strings.Contains(e.Error(), "SHA256SUMS beside it") || e.Hint != download.HintNoLookup {
		t.Error(e)
	}
}

// TestLookupContentDigestOfParts: the Content-Digest of an answer that is cut proves nothing, so the list is read.
func TestLookupContentDigestOfParts_Rule77(t *testing.T) {
	file := made(mib, 7)
	list := mirrortest.Document("/SHA256SUMS", "text/plain", fmt.Appendf(nil, "%x  file.bin\n", sha256.Sum256(file)))
	whole := func(q *http.Request) bool { return q.URL.Path == "/file.bin" && q.Header.Get("Range") == "" }
	s := mirrortest.New(t, file, mirrortest.ContentDigest(), mirrortest.ETag(`"1"`), list,
		mirrortest.When(whole, mirrortest.CutAfter(mib/2)))
	r := newRun(t, s.URL)
	r.req.Trust.Lookup, r.req.Trust.Require = true, download.RequireDigest
	if got := r.right(s.Content).Proof.String(); got != "sha-256 from SHA256SUMS beside it over http" {
		t.Error(got)
	}
}

// TestLookupIndexElsewhere: an index that leads out of the folder, or that another host or folder answers, names no
// list.
func TestLookupIndexElsewhere_Rule77(t *testing.T) {
	file := book()
	line := sum256("other") + "  disk.iso\n"
	mirror := newFolderSite(t, "disk.iso", file, "SHA256SUMS", line, "x_checksums.txt", line)
	t.Cleanup(func() {
		if asked := mirror.requests("disk.iso"); asked != "INDEX" {
			t.Errorf("the mirror was asked for %q", asked)
		}
	})
	guesses := []string{"disk.iso.sha256", "SHA256SUMS", "sha256sum.txt", "checksums.txt"}
	here := "<a href=disk.iso>disk.iso</a>"
	for name, index := range map[string]http.HandlerFunc{
		"links out": func(w http.ResponseWriter, q *http.Request) {
			for _, to := range []string{"/SHA256SUMS", "../SHA256SUMS", "sub/SHA256SUMS", mirror.URL +
				"/pub/SHA256SUMS",
				strings.TrimPrefix(mirror.URL, "http:") + "/pub/SHA256SUMS", "..%2fSHA256SUMS", "?SHA256SUMS"} {
				fmt.Fprintf(w, "<a href=%q>SHA256SUMS</a>%s", to, here)
			}
		},
		"another host": func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, mirror.URL+"/pub/", http.StatusFound)
		},
		"another folder": func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/pub/" {
				http.Redirect(w, q, "/old/", http.StatusFound)
				return
			}
			fmt.Fprint(w, here+"<a href=x.sha256>x</a>")
		},
		"a page": func(w http.ResponseWriter, q *http.Request) {
			fmt.Fprint(w,
				"<a href=x_checksums.txt>all lists</a>")
		},
		"a base": func(w http.ResponseWriter, q *http.Request) {
			fmt.Fprint(w, "<base href=/old/>"+here+"<a href=x_checksums.txt>")
		},
		"too long": func(w http.ResponseWriter, q *http.Request) {
			fmt.Fprint(w, here+strings.Repeat(" ", 1<<20)+"<a href=x.sha256>")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "disk.iso", file)
			s.index, s.other = false, func(w http.ResponseWriter, q *http.Request) {
				switch {
				case strings.HasSuffix(q.URL.Path, "/"):
					index(w, q)
				case slices.Contains(guesses, strings.TrimPrefix(q.URL.Path, "/pub/")):
					http.NotFound(w, q)
				default:
					t.Errorf("asked for %s", q.URL.Path)
				}
			}
			if res := lookingUp(t, s, "disk.iso").right(mirrortest.ContentOf([]byte(file))); res.Proof.Verified() {
				t.Errorf("%v: %v", res.Proof, res.Looked.Places)
			}
		})
	}
}

// TestLookupSignaturePage: where each path is answered with a page, none of them is a signature of a list. The signature
// of the file, or another one of the list, counts.
func TestLookupSignaturePage_Rule77(t *testing.T) {
	file, alice := book(), newSigner(t, "alice")
	list := sum256(file) + "  disk.iso\n"
	for _, page := range []string{"<html>nothing here</html>", strings.Repeat("<p>nothing here\n", 1<<17)} {
		for _, signed := range [][2]string{
			{"disk.iso.asc", string(alice.sign(t, []byte(file)))}, {"SHA256SUMS.sig", string(alice.sign(t, []byte(list)))},
			{"", ""},
		} {
			s := newFolderSite(t, "disk.iso", file, "SHA256SUMS", list, signed[0], signed[1])
			s.kinds["SHA256SUMS"] = "text/plain"
			s.other = func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, page)
			}
			r := lookingUp(t, s, "disk.iso")
			r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
			if signed[0] == "" {
				r.wrong(download.NoEvidence)
			} else if res := r.right(mirrortest.ContentOf([]byte(file))); !res.Proof.Signed() {
				t.Errorf("%s: %v", signed[0], res.Proof)
			}
		}
	}
}
