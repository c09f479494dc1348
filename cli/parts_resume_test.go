package cli

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/partfile"
	"braid/internal/test/fsystest"
	"braid/verify"
)

// A file of which a run that was stopped left the journal is "already complete" if this run demands no more than that
// one proved, and if the journal is this user's; else what counts is what get says of it.
func TestResumeOfWhatIsInPlace_Rule8(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := httptest.NewServer(http.FileServer(http.Dir(t.TempDir())))
	defer s.Close()
	none := func(t *testing.T) {}
	demanded := []string{"--require", "digest"}
	for name, tt := range map[string]struct {
		words  []string
		id     partfile.Identity // what that run knew and demanded
		sealed string            // how much of the journal is: all, nothing, or all but its end
		then   func(t *testing.T)
		code   int
		says   string
	}{
		"as it was":     {nil, partfile.Identity{}, "all", none, exitDone, "already complete"},
		"more demanded": {demanded, partfile.Identity{}, "all", none, exitLocal, ""},
		"not this user's": {nil, partfile.Identity{}, "nothing", none, exitLocal,
			"nothing shows that the journal of this part belongs to one of your downloads"},
		"the end not this one's": {nil, partfile.Identity{}, "all but its end", none, exitLocal,
			"nothing shows that the journal of this part belongs to one of your downloads"},
		"proven":                 {demanded, proven("abc", ""), "all", none, exitDone, "already complete"},
		"demanded before":        {nil, proven("abc", "digest"), "all", none, exitDone, "already complete"},
		"changed":                {demanded, proven("abc", ""), "all", changeInPlace, exitLocal, ""},
		"changed, undemanded":    {nil, proven("abc", ""), "all", changeInPlace, exitLocal, ""},
		"changed, demanded then": {nil, proven("abc", "digest"), "all", changeInPlace, exitLocal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			leaveJournal(t, s.URL+"/a.iso", tt.id, tt.sealed)
			tt.then(t)
			code, _, stderr := command(t, append(append([]string{"parts", "resume"}, tt.words...), "a.iso")...)
			if code != tt.code || !strings.Contains(stderr, tt.says) ||
				code != exitDone && strings.Contains(stderr, "already complete") {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
}

// A journal of an older version does not say whether its URL was asked or only named by a document. No server is asked,
// and nothing is touched.
func TestResumeOfOlderJournal(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("abcdef"))
	}))
	defer s.Close()
	id := proven("abcdef", "")
	id.URL, id.Size = s.URL+"/a.iso", 6
	u, err := url.Parse(id.URL)
	if err != nil {
		t.Fatal(err)
	}
	id.URLSum = partfile.SumURL(u)
	leave := func() {
		key := partfile.OpenKey(fsys.OS, job.JournalKey())
		f, err := partfile.Open(fsys.OS, ".", "a.iso")
		if err == nil {
			err = key.Make()
		}
		if err != nil {
			t.Fatal(err)
		}
		f.SealWith(key)
		if err = f.Begin(id); err == nil {
			_, err = f.WriteAt([]byte("abc"), 0)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	code, _, stderr := command(t, "parts", "resume")
	if left, ok, err := partfile.Look(fsys.OS, ".", "a.iso"); code != exitLocal || asked.Load() > 0 || !ok ||
		left.Have.Len() != 3 ||
		!strings.Contains(stderr, "lacks the URL of the document that describes the file") ||
		!strings.Contains(stderr, "repeat the braid get command") {
		t.Errorf("exit code %d, %d requests, %+v, %v: %s", code, asked.Load(), left, err, stderr)
	}
	if _, err := partfile.Remove(fsys.OS, ".", "a.iso"); err != nil {
		t.Fatal(err)
	}
	id.Asked = true
	leave()
	if code, _, stderr := command(t, "parts", "resume"); code != exitDone || asked.Load() == 0 {
		t.Errorf("of one that says it: exit code %d, %d requests: %s", code, asked.Load(), stderr)
	}
}

// proven is the identity of a file with a digest that its server gave.
func proven(data, require string) partfile.Identity {
	sum := sha256.Sum256([]byte(data))
	d, _ := verify.NewDigest(verify.SHA256, sum[:])
	return partfile.Identity{Claims: []verify.Claim{{Digest: d, Field: "Digest", Channel: verify.HTTPS}}, Require: require}
}

// changeInPlace writes other bytes into a.iso, which keeps its size and date.
func changeInPlace(t *testing.T) {
	info, err := os.Stat("a.iso")
	if err == nil {
		err = os.WriteFile("a.iso", []byte("xyz"), info.Mode())
	}
	if err == nil {
		err = os.Chtimes("a.iso", time.Time{}, info.ModTime())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// leaveJournal puts a.iso in place, with what id has of evidence, as a run that is stopped before it removes the journal.
func leaveJournal(t *testing.T, from string, id partfile.Identity, sealed string) {
	t.Helper()
	u, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	files := fsystest.Tap(fsys.OS, func(op fsystest.Op) error {
		if op.Name == "remove" && strings.HasSuffix(op.Path, ".journal") {
			return syscall.EACCES
		}
		return nil
	})
	f, err := partfile.Open(files, ".", "a.iso")
	if err != nil {
		t.Fatal(err)
	}
	if sealed != "nothing" {
		key := partfile.OpenKey(fsys.OS, job.JournalKey())
		if err := key.Make(); err != nil {
			t.Fatal(err)
		}
		f.SealWith(key)
	}
	id.URL, id.URLSum, id.Asked, id.Size = from, partfile.SumURL(u), true, 3
	if err := f.Begin(id); err != nil {
		t.Fatal(err)
	}
	if sealed == "all but its end" {
		other := partfile.OpenKey(fsys.OS, filepath.Join(t.TempDir(), "key"))
		if err := other.Make(); err != nil {
			t.Fatal(err)
		}
		f.SealWith(other)
	}
	if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	c := verify.NewChecker(-1, id.Claims)
	c.Write([]byte("abc"))
	proof, err := c.Proof()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(proof, partfile.Final{}); err != nil {
		t.Fatal(err)
	}
	if left, ok, err := partfile.Look(fsys.OS, ".", "a.iso"); !ok || !left.Committed || err != nil {
		t.Fatalf("%+v, %v", left, err)
	}
}
