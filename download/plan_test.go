package download_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/source/httpsource"
	"braid/verify"
)

// plan plans the download, and checks that nothing on disk changes and no server sends a byte of the file.
func (r *run) plan(servers ...*mirrortest.Server) (download.Plan, error) {
	r.t.Helper()
	before := r.listing()
	sent := 0
	for _, s := range servers {
		sent += len(s.Requests())
	}
	hc := &httpsource.Client{}
	defer hc.CloseIdle()
	c := r.client
	c.HTTP = hc
	h, err := c.Plan(r.t.Context(), r.req)
	if after := r.listing(); !slices.Equal(before, after) {
		r.t.Errorf("a plan changed the folder: %v, then %v", before, after)
	}
	for _, s := range servers {
		for _, q := range s.Requests()[min(sent, len(s.Requests())):] {
			if q.Path == "/file.bin" && q.Sent > 1<<20 {
				r.t.Errorf("%d bytes of the file were sent", q.Sent)
			}
		}
	}
	return h, err
}

// listing returns the names, sizes and times of the files in the folder.
func (r *run) listing() (lines []string) {
	r.t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, info.Name()+" "+info.ModTime().String()+" "+info.Mode().String())
	}
	return lines
}

func roles(h download.Plan) (out []string) {
	for _, p := range h.Places {
		out = append(out, p.URL.Path+strings.Repeat("!", int(p.Role)))
	}
	return out
}

// TestPlan: the places are in the order of use, and nothing is fetched.
func TestPlan(t *testing.T) {
	t.Parallel()
	origin := sized(t, 4*mib, mirrortest.Digest(), mirrortest.ETag(`"e"`), mirrortest.Link(
		`<http://127.0.0.1:1/slow>; rel=duplicate; pri=1`, `<http://127.0.0.1:2/near>; rel=duplicate; pri=9; geo=jp`,
		`<http://127.0.0.1:3/fast>; rel=duplicate; pri=8`, `<ftp://127.0.0.1:4/ftp>; rel=duplicate; pri=7`))
	r := newRun(t, origin.URL)
	r.req.Access.NoFTP, r.req.Near.Locations = true, []string{"JP"}
	r.req.Mirrors = []*url.URL{parse(t, "http://127.0.0.1:5/own")}
	r.client.State = &state.Store{}
	r.client.State.Learn("127.0.0.1:3", state.Speed{Rate: 5e6, RTT: time.Millisecond})
	h, err := r.plan(origin)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := roles(h), []string{"/file.bin", "/fast!", "/near!", "/slow!", "/own!!"}; !slices.Equal(got, want) {
		t.Errorf("places %v, want %v", got, want)
	}
	if p := h.Places; p[1].Rate == 0 || !p[2].Near || p[3].Mirror.Pri != 1 {
		t.Errorf("%+v", p)
	}
	if h.Path != r.path() || h.File.Size != 4*mib || !verify.Strong(h.Claims) || h.Left != nil || h.Done != nil ||
		len(h.Hops) != 1 {
		t.Errorf("%+v", h)
	}
}

// TestPlanWithoutDigest: nothing ties the user's mirrors to the file (rule 30), and mirrors of the server are
// not used (C4).
func TestPlanWithoutDigest_C4(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Link(`<http://127.0.0.1:1/m>; rel=duplicate`))
	r := newRun(t, origin.URL)
	r.req.Mirrors = []*url.URL{parse(t, "http://127.0.0.1:5/own")}
	h, err := r.plan(origin)
	if got := roles(h); err != nil || !slices.Equal(got, []string{"/file.bin", "/own!!!"}) || !h.File.NoDigest {
		t.Errorf("%v, %v", got, err)
	}
	r.req.Trust.Require = download.RequireDigest
	var e *download.Error
	if _, err = r.plan(origin); !errors.As(err, &e) || e.Kind != download.NoEvidence {
		t.Errorf("%v", err)
	}
	r.req.Trust.Require, r.client.MaxSize = 0, 1000
	if _, err = r.plan(origin); !errors.As(err, &e) || e.Kind != download.Limit {
		t.Errorf("%v", err)
	}
}

// TestPlanWhatIsThere: an existing file, the right one, and the part file of an earlier run.
func TestPlanWhatIsThere(t *testing.T) {
	t.Parallel()
	origin := sized(t, 4*mib, mirrortest.Digest(), mirrortest.Rate(2*mib))
	r := newRun(t, origin.URL)
	kept := r.interrupt(mib).Kept
	h, err := r.plan(origin)
	if err != nil || h.Left == nil || h.Resumes != kept || h.Restarts != "" {
		t.Fatalf("%+v, %v, want %d bytes", h.Left, err, kept)
	}
	other := sized(t, 4*mib+1, mirrortest.Digest())
	r.req.URL = parse(t, other.URL)
	if h, err = r.plan(other); err != nil || h.Resumes != 0 || h.Restarts == "" {
		t.Errorf("%d, %q, %v", h.Resumes, h.Restarts, err)
	}
	r.req.URL = parse(t, origin.URL)
	if err := os.WriteFile(r.path(), []byte("something"), 0o644); err != nil {
		t.Fatal(err)
	}
	var e *download.Error
	if _, err = r.plan(origin); !errors.As(err, &e) || e.Kind != download.Local {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(r.path(), origin.Content.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if h, err = r.plan(origin); err != nil || h.Done == nil || !h.Done.AlreadyComplete {
		t.Errorf("%+v, %v", h.Done, err)
	}
}

// TestPlanFolders: a plan makes no folders.
func TestPlanFolders(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Digest())
	r := newRun(t, origin.URL)
	r.req.Dir, r.req.MakeDir = filepath.Join(r.dir, "new"), true
	if h, err := r.plan(origin); err != nil || h.Path != filepath.Join(r.dir, "new", "file.bin") {
		t.Errorf("%s, %v", h.Path, err)
	}
	r.req.MakeDir = false
	var e *download.Error
	if _, err := r.plan(origin); !errors.As(err, &e) || e.Kind != download.Local {
		t.Errorf("%v", err)
	}
}

// TestPlanDocument: a document in place of the file is read, and its places are those of the download.
func TestPlanDocument(t *testing.T) {
	t.Parallel()
	place := sized(t, mib)
	f := metalink.File{Name: "file.bin", Size: mib, Claims: []verify.Claim{{Digest: place.Digest()}},
		Mirrors: []metalink.Mirror{{URL: parse(t, place.URL), Pri: 1}}}
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{f}})
	if err != nil {
		t.Fatal(err)
	}
	origin := sized(t, mib, mirrortest.Document("/d.meta4", metalink.MediaType4, doc))
	r := newRun(t, "http://"+origin.Addr+"/d.meta4")
	h, err := r.plan(origin, place)
	if err != nil || len(h.Places) != 1 || h.Request.Described == nil || h.Path != r.path() || h.File.Size != mib ||
		!verify.Strong(h.Claims) {
		t.Errorf("%+v, %v", h, err)
	}
}
