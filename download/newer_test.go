package download_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/verify"
)

// A shelf is a server with a file that changes between two downloads.
type shelf struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	body     []byte
	etag     string
	modified time.Time
	digest   bool
	deaf     bool // ignores conditions
	headless bool // does not support HEAD
	seen     []string
	sent     int
}

func newShelf(t *testing.T, body string) *shelf {
	s := &shelf{t: t, body: []byte(body)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := r.Method
	for _, f := range []string{"If-None-Match", "If-Modified-Since"} {
		if r.Header.Get(f) != "" {
			said += " " + f
		}
	}
	s.seen = append(s.seen, said)
	if s.headless && r.Method == http.MethodHead {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if s.deaf {
		r.Header.Del("If-None-Match")
		r.Header.Del("If-Modified-Since")
	}
	if s.etag != "" {
		w.Header().Set("ETag", s.etag)
	}
	if s.digest {
		w.Header().Set("Digest", verify.Field(sum(s.t, s.body)))
	}
	c := &counter{ResponseWriter: w}
	http.ServeContent(c, r, "", s.modified, bytes.NewReader(s.body))
	s.sent += c.n
}

type counter struct {
	http.ResponseWriter
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n += n
	return n, err
}

// put changes the file, and forgets the earlier requests.
func (s *shelf) put(body, etag string, modified time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body, s.etag, s.modified, s.seen, s.sent = []byte(body), etag, modified, nil, 0
}

// asked returns the requests since the file was put there.
func (s *shelf) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *shelf) bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// newer begins a download of a version newer than the existing file.
func (s *shelf) newer(t *testing.T) *run {
	r := newRun(t, s.URL+"/file.bin")
	r.req.IfExists.IfNewer = true
	r.client.State = &state.Store{Dir: t.TempDir()}
	return r
}

// gets downloads, and checks that the file then has this content.
func (r *run) gets(want string) download.Result {
	r.t.Helper()
	res, err := r.get()
	if err != nil {
		r.t.Fatal(err)
	}
	r.holds(r.path(), want)
	return res
}

var (
	monday  = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	tuesday = monday.Add(24 * time.Hour)
)

// A file that did not change is not transferred, however the server states that.
func TestIfNewerUnchanged(t *testing.T) {
	for name, tt := range map[string]struct {
		etag           string
		modified       time.Time
		digest, deaf   bool
		headless       bool
		wantNotChanged bool // and not "already complete", by the digest
	}{
		"tag":                        {etag: `"v1"`, wantNotChanged: true},
		"weak tag":                   {etag: `W/"v1"`, wantNotChanged: true},
		"date":                       {modified: monday, wantNotChanged: true},
		"tag and date":               {etag: `"v1"`, modified: monday, wantNotChanged: true},
		"tag that nobody looks at":   {etag: `"v1"`, deaf: true, wantNotChanged: true},
		"date that nobody looks at":  {modified: monday, deaf: true, wantNotChanged: true},
		"no HEAD":                    {etag: `"v1"`, headless: true, wantNotChanged: true},
		"digest":                     {digest: true},
		"digest with tag, none asks": {digest: true, etag: `"v1"`, deaf: true},
		"digest with tag":            {digest: true, etag: `"v1"`, wantNotChanged: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t, "one")
			s.digest, s.deaf, s.headless = tt.digest, tt.deaf, tt.headless
			r := s.newer(t)
			s.put("one", tt.etag, tt.modified)
			if res := r.gets("one"); res.NotModified || res.AlreadyComplete {
				t.Fatalf("the first time: %+v", res)
			}
			s.put("one", tt.etag, tt.modified)
			res := r.gets("one")
			if res.NotModified != tt.wantNotChanged || res.AlreadyComplete == tt.wantNotChanged || res.Older {
				t.Errorf("%+v", res)
			}
			if res.Fetched != 0 || s.bytes() != 0 {
				t.Errorf("%d bytes were sent, for %v", s.bytes(), s.asked())
			}
			if res.Size != 3 || res.ETag != tt.etag || !res.LastModified.Equal(tt.modified) {
				t.Errorf("size %d, tag %s, date %v", res.Size, res.ETag, res.LastModified)
			}
			if res.Proof.Verified() != tt.digest {
				t.Errorf("proof: %v", res.Proof)
			}
		})
	}
}

// A changed file replaces the old one once it is proven; an older one does not (rule 54).
func TestIfNewerChanged_Rule54(t *testing.T) {
	s := newShelf(t, "")
	r := s.newer(t)
	s.put("one", `"v1"`, monday)
	r.gets("one")
	s.put("two", `"v2"`, tuesday)
	if res := r.gets("two"); res.NotModified || res.ETag != `"v2"` {
		t.Errorf("newer: %+v", res)
	}
	s.put("old", `"v1"`, monday)
	if res := r.gets("two"); !res.NotModified || !res.Older || s.bytes() != 0 {
		t.Errorf("older: %+v, %d bytes", res, s.bytes())
	}
	r.req.IfExists.AllowOlder = true
	if res := r.gets("old"); res.Older {
		t.Errorf("older, and allowed: %+v", res)
	}
	r.req.IfExists.AllowOlder = false
	s.put("three", `"v3"`, time.Time{}) // nothing shows that it is older
	r.gets("three")
	s.put("four", "", tuesday)
	r.gets("four")
	s.put("five", "", tuesday.Add(-time.Minute))
	s.headless = true // the first answer is to GET
	if res := r.gets("four"); !res.Older || res.Fetched != 0 {
		t.Errorf("older, without HEAD: %+v", res)
	}
	s.headless = false
	if res := r.gets("four"); !res.Older || s.bytes() != 0 {
		t.Errorf("older, by date: %+v", res)
	}
	r.req.IfExists.AllowOlder = true
	r.gets("five")
	s.put("five", "", tuesday.Add(-time.Minute))
	if res := r.gets("five"); !res.NotModified || s.bytes() != 0 {
		t.Errorf("the same, where an older one would be taken: %+v", res)
	}
	s.put("six", "", tuesday.Add(-time.Hour))
	r.req.IfExists.AllowOlder = false
	r.req.Trust.Claims = userClaim(sum(t, []byte("six"))) // the user states which version is wanted
	r.gets("six")
}

// An impossible date counts as none: one in the future would be newer than all later ones.
func TestIfNewerNonsense_Rule54(t *testing.T) {
	s := newShelf(t, "")
	r := s.newer(t)
	s.put("one", `"v1"`, time.Now().Add(48*time.Hour))
	r.gets("one")
	s.put("two", `"v2"`, tuesday)
	r.gets("two")
	s.put("three", `"v3"`, time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC))
	r.gets("three")
}

// The server's statement that it has nothing newer is not about a file that was changed on disk: its bytes
// are read again.
func TestIfNewerDamaged(t *testing.T) {
	for name, deaf := range map[string]bool{"304": false, "the same tag": true} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t, "")
			s.deaf = deaf
			r := s.newer(t)
			for _, damage := range []string{"oNe", "on", ""} {
				s.put("one", `"v1"`, monday)
				r.gets("one")
				r.put([]byte(damage))
				if res := r.gets("one"); res.NotModified {
					t.Errorf("%q: %+v", damage, res)
				}
			}
			if err := os.Remove(r.path()); err != nil {
				t.Fatal(err)
			}
			if res := r.gets("one"); res.NotModified {
				t.Errorf("gone: %+v", res)
			}
		})
	}
}

// A failed download changes nothing, nor does one with a wrong proof.
func TestIfNewerFails(t *testing.T) {
	s := newShelf(t, "")
	r := s.newer(t)
	s.put("one", `"v1"`, monday)
	r.gets("one")
	s.put("two", `"v2"`, tuesday)
	r.req.Trust.Require = download.RequireDigest
	r.fails(download.NoEvidence)
	r.holds(r.path(), "one")
	r.req.Trust.Require = download.RequireNothing
	r.req.Trust.Claims = userClaim(other())
	r.fails(download.Mismatch)
	r.holds(r.path(), "one")
}

// A file that was accepted unverified does not suffice if proof is demanded, whatever the server states about
// changes.
func TestIfNewerWantsProof(t *testing.T) {
	s := newShelf(t, "")
	r := s.newer(t)
	s.put("one", `"v1"`, monday)
	r.gets("one")
	r.req.Trust.Require = download.RequireDigest
	r.fails(download.NoEvidence)
	s.digest = true
	if res := r.gets("one"); !res.AlreadyComplete || !res.Proof.Verified() {
		t.Errorf("%+v", res)
	}
	s.put("one", `"v1"`, monday)
	if res := r.gets("one"); !res.NotModified || !res.Proof.Verified() { // it is known to be right now
		t.Errorf("%+v", res)
	}
}

// Another server's tag may be the same by chance. Its date is that of its file, which must not be older.
func TestIfNewerElsewhere(t *testing.T) {
	a, b := newShelf(t, "one"), newShelf(t, "two")
	a.put("one", `"1"`, monday)
	b.put("two", `"1"`, monday)
	to := a
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to.URL+"/file.bin", http.StatusFound)
	}))
	defer gate.Close()
	r := a.newer(t)
	r.req.URL = parse(t, gate.URL+"/file.bin")
	r.gets("one")
	if res := r.gets("one"); !res.NotModified {
		t.Errorf("%+v", res)
	}
	to = b
	if res := r.gets("two"); res.NotModified {
		t.Errorf("%+v", res)
	}
	a.put("old", `"1"`, monday.Add(-time.Hour))
	to = a // a is behind
	if res := r.gets("two"); !res.Older || a.bytes() > 0 {
		t.Errorf("%+v, %d bytes of the older one", res, a.bytes())
	}
	r.req.IfExists.AllowOlder = true
	if res := r.gets("old"); res.NotModified {
		t.Errorf("%+v", res)
	}
}

// A caller that knows the version, such as an antenna, passes it; nothing needs to be remembered.
func TestIfNewerCallerKnows(t *testing.T) {
	s := newShelf(t, "")
	s.put("two", `"v2"`, tuesday)
	r := s.newer(t)
	r.client.State = nil
	r.put([]byte("one"))
	r.req.IfExists.Known = &state.Version{ETag: `"v2"`, LastModified: tuesday}
	if res := r.gets("one"); !res.NotModified || res.ETag != `"v2"` || res.Size != 3 {
		t.Errorf("%+v", res)
	}
	s.put("old", `"v0"`, monday)
	if res := r.gets("one"); !res.Older {
		t.Errorf("%+v", res)
	}
	s.put("two", `"v2"`, tuesday)
	r.req.IfExists.Known = &state.Version{ETag: `"v1"`, LastModified: monday}
	res := r.gets("two")
	if res.NotModified || res.ETag != `"v2"` || !res.LastModified.Equal(tuesday) || len(res.Proof.Digests()) == 0 {
		t.Errorf("%+v", res)
	}
	if err := os.Remove(r.path()); err != nil {
		t.Fatal(err)
	}
	r.req.IfExists.Known = &state.Version{ETag: `"v2"`}
	r.gets("two") // a missing file is not up to date
}

// The file has the server's date, if that is wanted and possible.
func TestRemoteTime(t *testing.T) {
	for name, tt := range map[string]struct {
		date   time.Time
		wanted bool
		set    bool
	}{
		"wanted":      {monday, true, true},
		"not wanted":  {monday, false, false},
		"none":        {time.Time{}, true, false},
		"future":      {time.Now().Add(240 * time.Hour), true, false},
		"before 1990": {time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t, "")
			s.put("one", "", tt.date)
			r := newRun(t, s.URL+"/file.bin")
			r.req.RemoteTime = tt.wanted
			r.gets("one")
			info, err := os.Stat(r.path())
			if err != nil {
				t.Fatal(err)
			}
			if got := info.ModTime().Equal(tt.date); got != tt.set {
				t.Errorf("the date is %v, the server's is %v", info.ModTime(), tt.date)
			}
			if note := len(saw[download.Note](r)) > 0; note != (tt.wanted && !tt.set) {
				t.Errorf("told: %v", note)
			}
		})
	}
}

// A folder or a link in the way stays (rule 4).
func TestIfNewerInTheWay_Rule4(t *testing.T) {
	s := newShelf(t, "one")
	r := s.newer(t)
	if err := os.Mkdir(r.path(), 0o700); err != nil {
		t.Fatal(err)
	}
	r.fails(download.Local)
	if info, err := os.Stat(r.path()); err != nil || info.Mode().Type() != fs.ModeDir {
		t.Errorf("%v, %v", info, err)
	}
}
