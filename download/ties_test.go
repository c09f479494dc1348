package download_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/source"
	"braid/verify"
)

// whole checks that the file, if it exists, is one of these contents as a whole.
func (r *run) whole(contents ...[]byte) {
	r.t.Helper()
	got, err := os.ReadFile(r.path())
	for _, c := range contents {
		if os.IsNotExist(err) || bytes.Equal(got, c) {
			return
		}
	}
	r.t.Errorf("the file is a mixture (%v)", err)
}

// Proves S18: a digest that was given to an earlier run tied a mirror's bytes to the server's. When it no
// longer counts, the same ETag of the two hosts does not tie them.
func TestMirrorsTagTiesNothing_S18(t *testing.T) {
	t.Parallel()
	mirror := mirrortest.New(t, made(6*mib, 8), mirrortest.Digest(), mirrortest.ETag(`"v1"`), mirrortest.Rate(8*mib),
		mirrortest.Once(mirrortest.StallAfter(5*mib)))
	origin := sized(t, 6*mib, mirrortest.ETag(`"v1"`), mirrortest.Mirrors(mirror.URL), mirrortest.Rate(8*mib),
		mirrortest.Once(mirrortest.StallAfter(2*mib)))
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(mirror.Digest())
	r.interrupt(4 * mib)
	r.req.Trust.Claims = nil
	r.get()
	r.whole(origin.Content.Bytes(), mirror.Content.Bytes())
}

// Proves S18: before any byte came the server redirects elsewhere, and the known tag is then that host's. A
// mirror that the user typed shares the tags of the server, not those of the redirect's target.
func TestTagOfWhereItLeads_S18(t *testing.T) {
	t.Parallel()
	elsewhere := sized(t, 256<<10, mirrortest.ETag(`"v2"`), mirrortest.Status(http.StatusServiceUnavailable),
		mirrortest.Once(mirrortest.Status(0), mirrortest.CutAfter(128<<10)))
	mirror := mirrortest.New(t, made(256<<10, 8), mirrortest.ETag(`"v2"`),
		mirrortest.Once(mirrortest.Status(http.StatusServiceUnavailable), mirrortest.RetryAfter("1")))
	var asked atomic.Int32
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if asked.Add(1) > 1 {
			http.Redirect(w, q, elsewhere.URL, http.StatusFound)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Length", fmt.Sprint(256<<10))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(origin.Close)
	r := newRun(t, origin.URL+"/file.bin")
	r.mirrors(mirror)
	r.client.Tries = 2
	r.get()
	r.whole(elsewhere.Content.Bytes(), mirror.Content.Bytes())
}

// Proves S18 and rule 8 for a journal without a seal: another host's answer with the same date is not of the
// same version.
func TestDateOfAnotherHost_S18_Rule8(t *testing.T) {
	t.Parallel()
	date := mirrortest.Modified(monday)
	first := resumable(t, mirrortest.ETag(`"v1"`), date)
	second := mirrortest.New(t, made(6*mib, 8), mirrortest.ETag(`"v2"`), date)
	origin := sized(t, 6*mib, mirrortest.Redirect(first.URL))
	r := newRun(t, origin.URL)
	r.interrupt(2 * mib)
	origin.Set(mirrortest.Redirect(second.URL))
	r.client.JournalKey = filepath.Join(t.TempDir(), "another")
	if _, err := r.get(); err != nil {
		t.Error(err)
	}
	r.whole(second.Content.Bytes())
}

// Proves rule 54: a part file of an older version replaces no newer file, even if the server cannot be asked
// before.
func TestOlderPart_Rule54(t *testing.T) {
	t.Parallel()
	old, now := made(mib, 7), made(mib, 8)
	var fallen atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, etag, date := now, `"v2"`, tuesday
		if fallen.Load() {
			body, etag, date = old, `"v1"`, monday
		}
		if q.Method == http.MethodHead {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("ETag", etag)
		http.ServeContent(w, q, "", date, bytes.NewReader(body))
	}))
	t.Cleanup(s.Close)
	r := newRun(t, s.URL+"/file.bin")
	r.client.State, r.req.IfExists.IfNewer = &state.Store{Dir: t.TempDir()}, true
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	fallen.Store(true)
	host := source.HostPort(r.req.URL)
	r.plant(partfile.Identity{ETag: `"v1"`, ETagHost: host, LastModified: monday, Host: host, Date: monday}, old, r.key())
	if res, err := r.get(); err != nil || !res.Older {
		t.Errorf("%+v, %v", res, err)
	}
	r.whole(now)
}

// Proves rule 15: the version changes while the rest of the user's file is fetched. That file stays.
func TestContinueChanges_Rule15(t *testing.T) {
	t.Parallel()
	old, now := made(4*mib, 7), made(4*mib, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var start int64
		fmt.Sscanf(q.Header.Get("Range"), "bytes=%d-", &start)
		body, etag := old, `"v1"`
		if q.Method == http.MethodGet && (start >= 2*mib || q.Header.Get("Range") == "") {
			body, etag = now, `"v2"`
		}
		w.Header().Set("ETag", etag)
		http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(body))
	}))
	t.Cleanup(s.Close)
	r := newRun(t, s.URL+"/file.bin")
	r.put(old[:2*mib])
	r.req.IfExists.Continue = true
	r.fails(download.Local)
	r.whole(old[:2*mib])
}

// Proves rule 8: when a download resumes from another URL, the first server's facts no longer count, except
// the digest that ties the bytes.
func TestOtherURLsWordEnds_Rule8(t *testing.T) {
	t.Parallel()
	first, second := resumable(t), resumable(t, mirrortest.Digest())
	first.Set(mirrortest.Digest(first.Digest(), md5Of(t, made(mib, 9))))
	r := newRun(t, first.URL)
	kept := r.interrupt(2 * mib).Kept
	r.req.URL = parse(t, second.URL)
	res := r.right(second.Content)
	if res.Resumed < kept || len(res.Proof.Evidence()) != 1 {
		t.Errorf("resumed %d of %d, by %v", res.Resumed, kept, res.Proof.Evidence())
	}
}

// Proves rules 54 and 64 for a document in place of a file: it must offer as much evidence as the URL did,
// and does not replace the file by one with less proof.
func TestDocumentInPlaceProvesLess_Rule54_Rule64(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]bool{"pin": false, "-N": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := mirrortest.New(t, made(mib, 8), mirrortest.Name("file.bin"))
			text := fmt.Sprintf(`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file.bin"><url>%s</url></file></metalink>`, place.URL)
			var document atomic.Bool
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if document.Load() {
					w.Header().Set("Content-Type", "application/metalink4+xml")
					http.ServeContent(w, q, "", tuesday, strings.NewReader(text))
					return
				}
				w.Header().Set("Digest", verify.Field(sum(t, made(mib, 7))))
				http.ServeContent(w, q, "", monday, bytes.NewReader(made(mib, 7)))
			}))
			if newer {
				s.Start()
			} else {
				s.StartTLS()
			}
			t.Cleanup(s.Close)
			r := newRun(t, s.URL+"/file.bin")
			r.client.State, r.req.IfExists.IfNewer = &state.Store{Dir: t.TempDir()}, newer
			if !newer {
				r.tls = s.Client().Transport.(*http.Transport).TLSClientConfig
			}
			if _, err := r.get(); err != nil {
				t.Fatal(err)
			}
			if !newer {
				if err := os.Remove(r.path()); err != nil {
					t.Fatal(err)
				}
			}
			document.Store(true)
			r.fails(download.NoEvidence)
			r.whole(made(mib, 7))
		})
	}
}

// Proves S18: the target of a redirect copies the tag of the server, and brings some of the bytes. When the digest of
// an earlier run no longer counts, that tag does not tie them to the server's.
func TestCopiedTagTiesNothing_S18(t *testing.T) {
	t.Parallel()
	body := made(6*mib, 7)
	var moved atomic.Bool
	target := mirrortest.New(t, made(6*mib, 8), mirrortest.ETag(`"v1"`))
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if !moved.Load() {
			w.Header().Set("Link", "<"+target.URL+">; rel=duplicate")
			http.Redirect(w, q, target.URL, http.StatusFound)
			return
		}
		http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(body))
	}))
	defer origin.Close()
	r := newRun(t, origin.URL+"/file.bin")
	r.req.Trust.Claims = userClaim(digestBy(t, verify.SHA256, body))
	r.interrupt(2 * mib)
	moved.Store(true)
	target.Set(mirrortest.Status(http.StatusNotFound))
	r.req.Trust.Claims = nil
	r.get()
	r.whole(body, target.Content.Bytes())
}

// Proves S18: a mirror answers while the server is down, and sends its bytes only after the server has answered, with
// a tag. That tag does not tie the mirror's bytes.
func TestTagBeforeMirrorsBytes_S18(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	right, wrong := made(size, 7), made(size, 8)
	byMirror, byOrigin := make(chan struct{}), make(chan struct{}) // closed when the answer has been admitted
	mirrorIn, originIn := sync.OnceFunc(func() { close(byMirror) }), sync.OnceFunc(func() { close(byOrigin) })
	var asked, resumed, served atomic.Bool
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !served.CompareAndSwap(false, true) {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(size))
		w.(http.Flusher).Flush()
		<-byOrigin
		w.Write(wrong[:5*mib])
		w.(http.Flusher).Flush()
		<-q.Context().Done()
	}))
	defer mirror.Close()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		switch {
		case asked.CompareAndSwap(false, true):
			w.WriteHeader(http.StatusServiceUnavailable)
		case resumed.Load():
			http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(right))
		default:
			<-byMirror
			http.ServeContent(stalled{w, q}, q, "", time.Time{}, bytes.NewReader(right))
		}
	}))
	defer origin.Close()
	r := newRun(t, origin.URL+"/file.bin")
	r.req.Mirrors, r.req.Trust.Claims = append(r.req.Mirrors, parse(t, mirror.URL+"/file.bin")),
		userClaim(digestBy(t, verify.SHA256, right))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.req.Observe = func(ev download.Event) {
		switch ev := ev.(type) {
		case download.RangeAnswered:
			if ev.Host == r.req.URL.Host {
				originIn()
			} else {
				mirrorIn()
			}
		case download.Progress:
			if ev.Done >= 4*mib {
				cancel()
			}
		}
	}
	if _, err := r.client.Get(ctx, r.req); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	resumed.Store(true)
	r.req.Mirrors, r.req.Trust.Claims, r.req.Observe = nil, nil, nil
	r.get()
	r.whole(right)
}

// stalled sends the header of an answer and none of its body.
type stalled struct {
	http.ResponseWriter
	req *http.Request
}

func (s stalled) Write([]byte) (int, error) {
	s.ResponseWriter.(http.Flusher).Flush()
	<-s.req.Context().Done()
	return 0, s.req.Context().Err()
}
