package download_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
)

// An opposing site redirects to another host for the file, and publishes lists beside the file.
type opposing struct {
	*run
	mu     sync.Mutex
	site   *httptest.Server
	pages  map[string]http.Handler // by the name in the folder; others are missing
	host   http.Handler            // the host that has the file
	failed bool                    // the site only redirects to the host, and fails to answer anything else
}

func newOpposing(t *testing.T, lists map[string]string, host http.Handler) *opposing {
	o := &opposing{pages: map[string]http.Handler{}, host: host}
	for name, list := range lists {
		o.pages[name] = text(list)
	}
	b := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		o.mu.Lock()
		h := o.host
		o.mu.Unlock()
		h.ServeHTTP(w, q)
	}))
	t.Cleanup(b.Close)
	o.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		name := strings.TrimPrefix(q.URL.Path, "/pub/")
		o.mu.Lock()
		page, failed := o.pages[name], o.failed
		o.mu.Unlock()
		switch {
		case name == "disk.iso" && page == nil:
			http.Redirect(w, q, b.URL+"/disk.iso", http.StatusFound)
		case failed:
			w.WriteHeader(http.StatusServiceUnavailable)
		case page != nil:
			page.ServeHTTP(w, q)
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(o.site.Close)
	o.run = lookingUp(t, &folderSite{Server: o.site}, "disk.iso")
	o.client.State = &state.Store{Dir: t.TempDir()}
	return o
}

// put replaces a page of the folder. If page is nil, it is missing.
func (o *opposing) put(name string, page http.Handler) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pages[name] = page
}

// serves makes the host send another file.
func (o *opposing) serves(host http.Handler) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.host = host
}

// fail makes the site fail to answer anything but requests for the file, until ok.
func (o *opposing) fail(failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = failed
}

// anew removes the file and its part.
func (o *opposing) anew() {
	for _, ending := range []string{"", ".part", ".part.journal"} {
		os.Remove(o.path() + ending)
	}
}

// refuses checks that the file is refused, and removes its part.
func (o *opposing) refuses(when string) {
	o.t.Helper()
	if _, err := o.get(); kindOfError(err) != download.Mismatch {
		o.t.Errorf("%s: %v", when, err)
	}
	o.anew()
}

// accepts checks that the file is put in place, and removes it.
func (o *opposing) accepts(when string) {
	o.t.Helper()
	if _, err := o.get(); err != nil {
		o.t.Errorf("%s: %v", when, err)
	}
	o.anew()
}

func text(s string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, s)
	})
}

func status(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

func plain(file []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.ServeContent(w, q, "disk.iso", time.Time{}, bytes.NewReader(file))
	})
}

// stating sends file with its digest.
func stating(file []byte) http.Handler { return digesting{plain(file), string(file)} }

func sumLine(file []byte) string { return sum256(string(file)) + "  disk.iso\n" }

// TestOpposedFailures: a contradiction is remembered while the server fails to send the list, whatever the failure is.
func TestOpposedFailures_Rule77(t *testing.T) {
	t.Parallel()
	right, wrong := made(mib, 1), made(mib, 2)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	for name, failure := range map[string]http.Handler{
		"400": status(400), "401": status(401), "403": status(403), "451": status(451), "507": status(507), "521": status(521),
		"a page":              text("<html><body>We are down for maintenance</body></html>"),
		"empty":               text(""),
		"another host's 404":  http.RedirectHandler(elsewhere.URL, http.StatusFound),
		"a loop of redirects": http.RedirectHandler("SHA256SUMS", http.StatusFound),
	} {
		o := newOpposing(t, map[string]string{"SHA256SUMS": sumLine(right)}, stating(wrong))
		o.refuses(name + ", the list")
		o.put("SHA256SUMS", failure)
		o.refuses(name)
		o.fail(true)
		o.refuses(name + ", 503")
	}
}

// TestOpposedWithdrawn: a contradiction is over if the server answers that the list is gone, although it always fails to
// send the index of the folder.
func TestOpposedWithdrawn_Rule77(t *testing.T) {
	t.Parallel()
	right, stale := made(mib, 1), made(mib, 2)
	for name, host := range map[string]http.Handler{"opposed": stating(right), "only the bytes": plain(right)} {
		for _, code := range []int{http.StatusNotFound, http.StatusGone} {
			o := newOpposing(t, map[string]string{"SHA256SUMS": sumLine(stale)}, host)
			o.put("", status(500))
			if _, err := o.get(); kindOfError(err) != download.Mismatch {
				t.Errorf("%s: %v", name, err)
			}
			o.put("SHA256SUMS", status(code))
			o.accepts(fmt.Sprint(name, ", part, ", code))
			o.accepts(fmt.Sprint(name, ", ", code))
		}
	}
}

// TestOpposedOver: a contradiction is forgotten once list and host agree, by their digests or by the bytes. The list of
// then refuses no later version.
func TestOpposedOver_Rule77(t *testing.T) {
	t.Parallel()
	old, next, last := made(mib, 1), made(mib, 2), made(mib, 3)
	for name, list := range map[string]string{"SHA256SUMS": sumLine(next), "SHA512SUMS": sum512(string(next)) + "  disk.iso\n"} {
		o := newOpposing(t, map[string]string{"SHA256SUMS": sumLine(old)}, stating(next))
		o.refuses("the stale list")
		o.put("SHA256SUMS", nil)
		o.put(name, text(list))
		o.put("", text("<html><title>Index of /pub/</title><a href=\"disk.iso\">x</a><a href=\""+name+"\">x</a>"))
		o.accepts(name)
		o.serves(stating(last))
		o.fail(true)
		o.accepts(name + ", the next version")
	}
}

// TestOpposedSigned: a run that looks for signed digests only, or whose lists contradict each other, does not forget an
// unsigned list that is still there.
func TestOpposedSigned_Rule77(t *testing.T) {
	t.Parallel()
	right, wrong := made(mib, 1), made(mib, 2)
	for name, change := range map[string]func(o *opposing){
		"signed": func(o *opposing) {
			o.serves(plain(right))
			o.req.Trust.Claims, o.req.Trust.Anchors = userClaim(digestOf(right)), trusts(t, newSigner(t, "alice"))
			o.req.Trust.Require = download.RequireSignature
			o.fails(download.NoEvidence)
		},
		"contradictory lists": func(o *opposing) {
			o.put("checksums.txt", text(sumLine(made(mib, 3))))
			o.fails(download.Protocol)
		},
	} {
		o := newOpposing(t, map[string]string{"SHA256SUMS": sumLine(right)}, stating(wrong))
		o.refuses(name + ", the list")
		req := o.req
		change(o)
		o.anew()
		o.req = req
		o.serves(stating(wrong))
		o.fail(true)
		o.refuses(name + ", 503")
	}
}

// TestOpposedByBytes: a contradiction that only the bytes show, between a SHA-512 and a SHA-256, or that comes from the
// list of an earlier file of the run, is remembered like any other, also by Verify.
func TestOpposedByBytes_Rule77(t *testing.T) {
	t.Parallel()
	right, wrong := made(mib, 1), made(mib, 2)
	index := "<html><title>Index of /pub/</title><a href=\"disk.iso\">x</a><a href=\"SHA512SUMS\">x</a>"
	lists := map[string]string{"": index, "SHA512SUMS": sum512(string(right)) + "  disk.iso\n"}
	for _, require := range []download.Require{download.RequireNothing, download.RequireDigest} {
		o := newOpposing(t, lists, stating(wrong))
		o.req.Trust.Require = require
		o.refuses("the list")
		o.fail(true)
		o.refuses("503")
	}
	for name, lists := range map[string]map[string]string{"SHA-512": lists, "SHA-256": {"SHA256SUMS": sumLine(right)}} {
		o := newOpposing(t, lists, stating(wrong))
		o.client.State = &state.Store{Dir: t.TempDir(), PinsOnly: true, Opposing: true}
		o.onDisk(wrong)
		for _, failed := range []bool{false, true} {
			o.fail(failed)
			if v, err := o.client.Verify(o.ctx, o.req); kindOfError(err) != download.Mismatch || v.Proof.Verified() {
				t.Errorf("verify, %s, failed %v: %v, %v", name, failed, err, v.Proof)
			}
		}
	}
}

// TestRefreshedLooked: what was found beside the file of the earlier URL does not judge the file of a new link, for which
// nothing can be looked up.
func TestRefreshedLooked_Rule77(t *testing.T) {
	t.Parallel()
	file := made(mib, 1)
	s := newFolderSite(t, "SHA256SUMS", sumLine(made(mib, 2)))
	s.put("disk.iso", string(file), `"v"`)
	r := lookingUp(t, s, "disk.iso")
	r.wrong(download.Mismatch)
	r.req.URL, r.req.IfExists.Refresh = parse(t, r.req.URL.String()+"?token=1"), true
	verified(t, r.right(mirrortest.ContentOf(file)), "unverified")
}

// TestLookupKeptComplete: the complete file that a stale list refused, without an ETag, is not fetched again if the
// mended list or the user's digest accepts it.
func TestLookupKeptComplete_Rule77(t *testing.T) {
	t.Parallel()
	file := made(mib, 1)
	for name, mend := range map[string]func(s *folderSite, r *run){
		"the list":          func(s *folderSite, _ *run) { s.put("SHA256SUMS", sumLine(file), "") },
		"the user's digest": func(_ *folderSite, r *run) { r.req.Trust.Claims = userClaim(digestOf(file)) },
	} {
		s := newFolderSite(t, "disk.iso", string(file), "SHA256SUMS", sumLine(made(mib, 2)))
		r := lookingUp(t, s, "disk.iso")
		r.wrong(download.Mismatch)
		mend(s, r)
		if res := r.right(mirrortest.ContentOf(file)); res.Fetched > 0 || !res.Proof.Verified() {
			t.Errorf("%s: %d bytes fetched, %v", name, res.Fetched, res.Proof)
		}
	}
}
