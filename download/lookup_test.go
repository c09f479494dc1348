package download_test

import (
	"bytes"
	"context"
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
	"braid/verify"
)

// TestLookup: a list beside the file proves it, and nothing is asked for that is not needed.
func TestLookup_Rule77(t *testing.T) {
	file, other := book(), sum256("other")
	line := sum256(file) + "  disk.iso\n"
	for _, tt := range []struct {
		name    string
		beside  []string
		noIndex bool
		proof   string // how it begins
		asked   string
	}{
		{"a list", []string{"SHA256SUMS", other + "  a\n" + line}, false,
			"sha-256 from SHA256SUMS beside it over http", "INDEX SHA256SUMS"},
		{"of the file alone", []string{"disk.iso.sha256", sum256(file)}, false,
			"sha-256 from disk.iso.sha256 beside it over http",
			"INDEX disk.iso.sha256"},
		{"two that agree", []string{"checksums.txt", line, "sha256sum.txt", line, "z_checksums.txt", line}, false,
			"sha-256 from sha256sum.txt and checksums.txt beside it over http", "INDEX checksums.txt sha256sum.txt"},
		{"sha-512 alone", []string{"SHA512SUMS", sum512(file) + " *disk.iso\n"}, false,
			"sha-512 from SHA512SUMS beside it over http", "INDEX SHA512SUMS"},
		{"both", []string{"SHA512SUMS", sum512(file) + "  disk.iso\n", "SHA256SUMS", line}, false,
			"sha-512 from SHA512SUMS beside it over http; sha-256 from SHA256SUMS beside it over http",
			"INDEX SHA256SUMS SHA512SUMS"},
		{"without an index", []string{"checksums.txt", line}, true, "sha-256 from checksums.txt beside it over http",
			"INDEX SHA256SUMS checksums.txt disk.iso.sha256 sha256sum.txt"},
		{"of the file alone, without an index", []string{"disk.iso.sha256", sum256(file) + "\n"}, true,
			"sha-256 from disk.iso.sha256 beside it over http",
			"INDEX SHA256SUMS checksums.txt disk.iso.sha256 sha256sum.txt"},
		{"nothing", nil, false, "unverified", "INDEX"},
		{"nothing, without an index", nil, true, "unverified",
			"INDEX SHA256SUMS checksums.txt disk.iso.sha256 sha256sum.txt"},
		{"lists of others", []string{"a_checksums.txt", other + "  a\n", "b_checksums.txt", other + "  b\n",
			"c_checksums.txt", other + "  c\n", "disk_checksums.txt", other + "  disk.img\n", "e_checksums.txt",
			other + "  e\n"}, false,
			"unverified", "INDEX a_checksums.txt b_checksums.txt c_checksums.txt disk_checksums.txt"},
		{"md5", []string{"MD5SUMS", "098f6bcd4621d373cade4e832627b4f6  disk.iso\n"}, false, "unverified", "INDEX"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, append([]string{"disk.iso", file}, tt.beside...)...)
			s.index = !tt.noIndex
			r := lookingUp(t, s, "disk.iso")
			res := r.right(mirrortest.ContentOf([]byte(file)))
			asked := s.requests("disk.iso")
			if got := res.Proof.String(); got != tt.proof || asked != tt.asked {
				t.Errorf("proof %q, want %q\nasked for %s\nwant      %s\n%v", got, tt.proof, asked, tt.asked,
					res.Looked.Places)
			}
			if places := 1 + len(tt.beside)/2; len(res.Looked.Places) != len(strings.Fields(tt.asked)) {
				t.Errorf("%d places, of %d: %v", len(res.Looked.Places), places, res.Looked.Places)
			}
		})
	}
}

// TestNoLookup: with Lookup off, or where the server or the user gives a digest, nothing more is asked for.
func TestNoLookup_Rule77(t *testing.T) {
	file := book()
	for name, change := range map[string]func(s *folderSite, r *run){
		"off": func(s *folderSite, r *run) { r.req.Trust.Lookup = false },
		"of the user": func(s *folderSite,
			r *run) {
			r.req.Trust.Claims = []verify.Claim{{Digest: digestOf([]byte(file))}}
		},
		"of the server": func(s *folderSite, r *run) { s.Config.Handler = digesting{s, file} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "disk.iso", file, "SHA256SUMS", sum256("other")+"  disk.iso\n")
			r := lookingUp(t, s, "disk.iso")
			change(s, r)
			if r.right(mirrortest.ContentOf([]byte(file))); s.requests("disk.iso") != "" {
				t.Errorf("asked for %s", s.requests("disk.iso"))
			}
		})
	}
}

// TestLookupOtherFile: a list of the asked server that has another digest of the file ends the download, whose work
// is kept. Without a lookup that work is gone on with.
func TestLookupOtherFile_Rule77(t *testing.T) {
	file := book()
	for _, list := range []string{sum256("other") + "  disk.iso\n", sum512("other") + "  disk.iso\n"} {
		s := newFolderSite(t, "disk.iso", file, "checksums.txt", list)
		r := lookingUp(t, s, "disk.iso")
		e := r.wrong(download.Mismatch)
		for _, want := range []string{"checksums.txt beside it", "the digest is from"} {
			if !strings.Contains(e.Error(), want) {
				t.Errorf("%v lacks %q", e, want)
			}
		}
		if e.Hint != download.HintNoLookup || e.Kept != int64(len(file)) {
			t.Errorf("hint %q, %d kept", e.Hint, e.Kept)
		}
		if again := r.wrong(download.Mismatch); again.Kept != int64(len(file)) {
			t.Errorf("again: %v, %d kept", again, again.Kept)
		}
		r.req.Trust.Lookup = false
		if res := r.right(mirrortest.ContentOf([]byte(file))); res.Proof.Verified() {
			t.Errorf("verified: %v", res.Proof)
		}
	}
}

// TestLookupContradiction: lists of the asked server that contradict each other, or one that contradicts itself, are
// an error.
func TestLookupContradiction_Rule77(t *testing.T) {
	file := book()
	right, wrong := sum256(file)+"  disk.iso\n", sum256("other")+"  disk.iso\n"
	for name, beside := range map[string][]string{
		"two lists":  {"SHA256SUMS", right, "checksums.txt", wrong},
		"name twice": {"SHA256SUMS", right + wrong},
		"first one":  {"SHA256SUMS", wrong, "checksums.txt", right},
	} {
		s := newFolderSite(t, append([]string{"disk.iso", file}, beside...)...)
		if e := lookingUp(t, s, "disk.iso").wrong(download.Protocol); e.Hint != download.HintNoLookup {
			t.Errorf("%s: %v, hint %q", name, e, e.Hint)
		}
		r := lookingUp(t, s, "disk.iso") // and if the file is there
		if err := os.WriteFile(r.path(), []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
		r.fails(download.Protocol)
	}
}

// TestLookupRequired: a demand for a digest is met by a list beside the file, and else ends with the places that were
// looked at.
func TestLookupRequired_Rules30_77(t *testing.T) {
	file := book()
	s := newFolderSite(t, "disk.iso", file, "SHA256SUMS", sum256(file)+"  disk.iso\n")
	r := lookingUp(t, s, "disk.iso")
	r.req.Trust.Require = download.RequireDigest
	r.right(mirrortest.ContentOf([]byte(file)))

	r = lookingUp(t, s, "disk.iso")
	var out bytes.Buffer
	r.req.Trust.Require, r.req.Stream = download.RequireDigest, &out
	if res, err := r.get(); err != nil || !res.Proof.Verified() || out.String() != file {
		t.Errorf("to a stream: %v, %v", res.Proof, err)
	}

	for _, stream := range []bool{false, true} {
		s = newFolderSite(t, "disk.iso", file)
		r, out = lookingUp(t, s, "disk.iso"), bytes.Buffer{}
		r.req.Trust.Require = download.RequireDigest
		if stream {
			r.req.Stream = &out
		}
		e := r.wrong(download.NoEvidence)
		looked := strings.Contains(e.Error(), "looked at "+s.URL+"/pub/: ")
		if !looked || e.Hint != download.HintGiveDigest || out.Len() > 0 {
			t.Errorf("%v, hint %q, %d bytes out", e, e.Hint, out.Len())
		}
	}
}

// TestLookupExisting: a file that is there is proven by a list, too.
func TestLookupExisting_Rule3(t *testing.T) {
	file := book()
	s := newFolderSite(t, "disk.iso", file, "checksums.txt", sum256(file)+"  disk.iso\n")
	r := lookingUp(t, s, "disk.iso")
	r.right(mirrortest.ContentOf([]byte(file)))
	if res := r.right(mirrortest.ContentOf([]byte(file))); !res.AlreadyComplete || !res.Proof.Verified() {
		t.Errorf("%+v", res)
	}
	r.req.Trust.Lookup = false
	if _, err := r.get(); err == nil {
		t.Error("without a lookup nothing proves it")
	}
}

// TestLookupVerify: a file on disk is compared with what is published.
func TestLookupVerify_Rule77(t *testing.T) {
	file := book()
	s := newFolderSite(t, "disk.iso", file, "checksums.txt", sum256(file)+"  disk.iso\n")
	r := lookingUp(t, s, "disk.iso")
	r.right(mirrortest.ContentOf([]byte(file)))
	v, err := r.client.Verify(r.ctx, r.req)
	if err != nil || !v.Proof.Verified() || len(v.Looked.Places) != 2 {
		t.Errorf("%v, %v, %v", v.Proof, v.Looked, err)
	}
	o, err := r.client.Probe(r.ctx, r.req)
	if err != nil || len(o.Looked.Claims) != 1 || len(o.Looked.Places) != 2 {
		t.Errorf("probe: %v, %v", o.Looked, err)
	}
	planned := r.req
	planned.Dir, planned.Trust.Require = t.TempDir(), download.RequireDigest
	p, err := r.client.Plan(r.ctx, planned)
	if err != nil || len(p.Claims) != 1 {
		t.Errorf("plan: %v, %v", p.Claims, err)
	}
	s.mu.Lock()
	s.files["checksums.txt"] = sum256("other") + "  disk.iso\n"
	s.mu.Unlock()
	if _, err = r.client.Verify(r.ctx, r.req); kindOfError(err) != download.Mismatch {
		t.Errorf("another digest: %v", err)
	}
}

// TestLookupBatch: the files of a folder share what was found there, and lists of single files are not guessed for
// ever.
func TestLookupBatch_Rule77(t *testing.T) {
	const n = 12
	for _, index := range []bool{true, false} {
		s := newFolderSite(t)
		s.index = index
		list := ""
		var requests []download.Request
		for i := range n {
			name := fmt.Sprintf("%02d.bin", i)
			s.files[name] = strings.Repeat(name, 1000)
			list += sum256(s.files[name]) + "  " + name + "\n"
			u := parse(t, s.URL+"/pub/"+name)
			requests = append(requests, download.Request{URL: u, Dir: t.TempDir(), Trust: download.Trust{Lookup: true}})
		}
		s.files["SHA256SUMS"] = list
		c := download.Client{}
		ended := func(_ int, q download.Request, res download.Result, err error) {
			if err != nil || !res.Proof.Verified() {
				t.Errorf("%v: %v, %v", q.URL, res.Proof, err)
			}
		}
		ctx := download.WithLookupGrace(t.Context(), time.Hour)
		c.GetAll(ctx, slices.Values(requests), download.Batch{AtOnce: 1, Ended: ended})
		counts := map[string]int{}
		s.mu.Lock()
		for _, name := range s.asked {
			counts[name]++
		}
		s.mu.Unlock()
		guessed := len(strings.Split(s.requests("SHA256SUMS"), ".sha256 ")) - 1
		if counts[""] != 1 || counts["SHA256SUMS"] != 1 || guessed > 3 || !index && guessed == 0 {
			t.Errorf("index %v: %d guesses, %v", index, guessed, counts)
		}
	}
}

// TestLookupWaits: the end waits for a list that comes later than the file, and not for one that never comes.
func TestLookupWaits(t *testing.T) {
	file := book()
	for _, never := range []bool{false, true} {
		t.Run(fmt.Sprint(never), func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "disk.iso", file)
			s.index = false
			release, ended := make(chan struct{}), make(chan struct{})
			s.other = func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path != "/pub/SHA256SUMS" {
					http.NotFound(w, q)
					return
				}
				if never {
					<-ended
				}
				<-release
				fmt.Fprintln(w, sum256(file)+"  disk.iso")
			}
			r := lookingUp(t, s, "disk.iso")
			if never {
				r.ctx = download.WithLookupGrace(t.Context(), time.Millisecond)
			}
			observe, came := r.req.Observe, int64(0)
			r.req.Observe = func(ev download.Event) {
				observe(ev)
				if p, ok := ev.(download.RangeEnded); ok {
					before := came
					if came += p.Bytes; before < int64(len(file)) && came >= int64(len(file)) {
						close(release)
					}
				}
			}
			res := r.right(mirrortest.ContentOf([]byte(file)))
			close(ended)
			if res.Proof.Verified() == never {
				t.Errorf("%v", res.Proof)
			}
		})
	}
}

// TestLookupTrickles: once a list has the digest that the user demands, another list that does not end is not waited for.
func TestLookupTrickles_Rule77(t *testing.T) {
	file := book()
	for name, tt := range map[string]struct {
		index bool
		slow  string
		run   func(r *run) (download.Result, error)
	}{
		"with an index":    {true, "SHA512SUMS", (*run).get},
		"without an index": {false, "disk.iso.sha256", (*run).get},
		"a stream":         {true, "SHA512SUMS", func(r *run) (download.Result, error) { return r.stream(io.Discard) }},
		"in place": {true, "SHA512SUMS", func(r *run) (download.Result, error) {
			r.put([]byte(file))
			return r.get()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "disk.iso", file, "SHA256SUMS", sum256(file)+"  disk.iso\n", tt.slow, "")
			s.index = tt.index
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if strings.TrimPrefix(q.URL.Path, "/pub/") != tt.slow {
					s.ServeHTTP(w, q)
					return
				}
				io.WriteString(w, "0123")
				http.NewResponseController(w).Flush()
				<-q.Context().Done()
			})
			r := lookingUp(t, s, "disk.iso")
			r.header = time.Hour
			r.ctx = download.WithLookupGrace(t.Context(), time.Millisecond)
			r.req.Trust.Require = download.RequireDigest
			if res, err := tt.run(r); err != nil || res.Proof.String() != "sha-256 from SHA256SUMS beside it over http" {
				t.Errorf("%v, %v", res.Proof, err)
			}
		})
	}
}

// TestLookupInterrupted: a lookup ends with its download.
func TestLookupInterrupted(t *testing.T) {
	s := newFolderSite(t, "disk.iso", book())
	ctx, cancel := context.WithCancel(download.WithLookupGrace(t.Context(), time.Hour))
	s.index, s.other = false, func(w http.ResponseWriter, q *http.Request) {
		cancel()
		<-q.Context().Done()
	}
	r := lookingUp(t, s, "disk.iso")
	r.ctx = ctx
	r.req.Trust.Require = download.RequireDigest
	r.wrong(download.Interrupted)
}

// TestLookupStale_Rule77 checks that digests found in a lookup for one file do not count against a file that was put
// into the folder later, and that the bytes of that file are fetched only once.
func TestLookupStale_Rule77(t *testing.T) {
	for _, later := range []string{"disk.iso", "late.iso"} {
		file := book()
		s := newFolderSite(t, "disk.iso", "an old version", "SHA256SUMS", sum256("an old version")+"  disk.iso\n")
		jobs := make(chan download.Job)
		results := make(chan download.Result, 2)
		ctx := download.WithLookupGrace(t.Context(), time.Hour)
		var c download.Client
		done := make(chan int)
		go func() {
			done <- c.GetEach(ctx, jobs, download.Batch{Ended: func(_ int, q download.Request, res download.Result,
				err error) {
				if err != nil {
					t.Errorf("%v: %v", q.URL, err)
				}
				results <- res
			}})
		}()
		get := func(name string) download.Result {
			r := download.Request{
				URL: parse(t, s.URL+"/pub/"+name), Dir: t.TempDir(), Trust: download.Trust{Lookup: true},
			}
			jobs <- download.Job{Request: func() (download.Request, error) { return r, nil }}
			return <-results
		}
		if res := get("disk.iso"); !res.Proof.Verified() {
			t.Errorf("at first: %v", res.Proof)
		}
		s.mu.Lock()
		s.files[later] = file
		s.files["SHA256SUMS"] = sum256(file) + "  " + later + "\n"
		s.asked = nil
		s.mu.Unlock()
		if res := get(later); later == "disk.iso" && !res.Proof.Verified() {
			t.Errorf("later: %v, %v", res.Proof, res.Looked.Places)
		}
		if got := strings.Count(s.requests("")+" ", later+" "); got != 1 {
			t.Errorf("%s was requested %d times, want 1", later, got)
		}
		close(jobs)
		<-done
	}
}
