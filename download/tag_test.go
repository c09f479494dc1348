package download_test

import (
	"bytes"
	"net/http"
	"os"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// leading starts a server that redirects to one host after another, and to the last one from then on.
func leading(t *testing.T, to ...*mirrortest.Server) *mirrortest.Server {
	t.Helper()
	n := 0
	return mirrortest.New(t, []byte{}, mirrortest.Choose(func(r *http.Request) []mirrortest.Option {
		at := min(n, len(to)-1)
		if r.Method == http.MethodGet {
			n++
		}
		return []mirrortest.Option{mirrortest.Redirect(to[at].URL)}
	}))
}

// Proves S18: an ETag counts together with its host. A redirect to another host with the same ETag and size
// leads to another file, in one run and from one run to the next.
func TestETagsOfTwoHosts_S18(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	tag := mirrortest.ETag(`"1"`)
	t.Run("one run", func(t *testing.T) {
		a := mirrortest.New(t, made(size, 8), tag, mirrortest.CutAfter(mib))
		b := sized(t, size, tag)
		newRun(t, leading(t, a, b).URL).right(b.Content)
	})
	t.Run("the next run", func(t *testing.T) {
		a := mirrortest.New(t, made(size, 8), tag, mirrortest.DieAfter(mib))
		b := sized(t, size, tag)
		dead := mirrortest.New(t, []byte{}, mirrortest.Status(404))
		l := leading(t, a, dead)
		r := newRun(t, l.URL)
		if _, err := r.get(); err == nil {
			t.Fatal("it succeeded")
		}
		l.Set(mirrortest.Redirect(b.URL))
		r.right(b.Content)
	})
	t.Run("several requests", func(t *testing.T) {
		a := mirrortest.New(t, made(size, 8), tag, mirrortest.Rate(8*mib))
		b := sized(t, size, tag, mirrortest.Rate(8*mib))
		n := 0
		l := mirrortest.New(t, []byte{}, mirrortest.Choose(func(*http.Request) []mirrortest.Option {
			n++
			return []mirrortest.Option{mirrortest.Redirect([]*mirrortest.Server{a, b}[n%2].URL)}
		}))
		r := newRun(t, l.URL)
		r.client.PerHost = 2
		if _, err := r.get(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(r.path())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, b.Content.Bytes()) && !bytes.Equal(got, a.Content.Bytes()) { // on a busy machine, a may answer first
			t.Errorf("%d bytes of neither server", len(got))
		}
	})
	t.Run("a digest", func(t *testing.T) {
		a := sized(t, size, tag, mirrortest.CutAfter(mib))
		b := sized(t, size, tag)
		r := newRun(t, leading(t, a, b).URL)
		r.req.Trust.Claims = userClaim(b.Digest())
		if res := r.right(b.Content); res.Fetched > size+mib/2 {
			t.Errorf("%d bytes were fetched", res.Fetched)
		}
	})
}

// Proves rule 30: mirrors that the user typed are combined by their own ETag, not by one behind a redirect.
// Places of a document are not combined by ETag either.
func TestETagsOfPlaces_Rule30_S18(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	tag := mirrortest.ETag(`"1"`)
	other := mirrortest.New(t, made(size, 8), tag)
	origin := sized(t, size, tag, held(mib, requested(other)))
	r := newRun(t, origin.URL)
	r.mirrors(leading(t, other))
	r.right(origin.Content)
	asked(t, other, true)

	f := weakly(t, made(size, 7), false, false)
	r = following(t, f, origin, other)
	r.right(origin.Content)
	r = following(t, f, mirrortest.New(t, made(size, 7), tag, mirrortest.DieAfter(mib)), other)
	r.client.Tries = 2
	if res, err := r.get(); err != nil || res.Fetched != size+mib {
		t.Errorf("%d bytes were fetched: %v", res.Fetched, err)
	}
}

// Proves S18: several ETag fields in one answer, or an empty tag, tie nothing together.
func TestETagsThatTieNothing_S18(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	for name, tags := range map[string][2][]string{
		"two fields": {{`"1"`, `"2"`}, {`"1"`, `"3"`}},
		"one list":   {{`"1", "2"`}, {`"1", "2"`}},
		"empty":      {{`""`}, {`""`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versions, n := [2][]byte{made(size, 8), made(size, 9)}, 0
			s := mirrortest.New(t, []byte{}, mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Etag"] = tags[min(n, 1)]
				r.Header.Del("If-Match")
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(versions[min(n, 1)]))
				n++
			})), mirrortest.Once(mirrortest.CutAfter(mib)))
			r := newRun(t, s.URL)
			res, err := r.get()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(res.Path); err != nil || !bytes.Equal(got, versions[1]) {
				t.Errorf("it is a file of both versions, %v", err)
			}
		})
	}
}
