package cli

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/fsystest"
	"braid/verify"
)

// A file of which a run that was stopped left the journal is "already complete" if this run demands no more than that one proved, and if the
// journal is this user's; else what counts is what get says of it.
func TestResumeOfWhatIsInPlace_Rule8(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := httptest.NewServer(http.FileServer(http.Dir(t.TempDir())))
	defer s.Close()
	for name, tt := range map[string]struct {
		words  []string
		sealed bool
		code   int
		says   string
	}{
		"as it was":       {nil, true, exitDone, "already complete"},
		"more demanded":   {[]string{"--require", "digest"}, true, exitLocal, ""},
		"not this user's": {nil, false, exitLocal, "nothing shows that its journal is of a download of yours"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			leaveJournal(t, s.URL+"/a.iso", tt.sealed)
			code, _, stderr := command(t, append(append([]string{"parts", "resume"}, tt.words...), "a.iso")...)
			if code != tt.code || !strings.Contains(stderr, tt.says) {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
}

// leaveJournal puts a.iso in place, without evidence, as a run that is stopped before it removes the journal.
func leaveJournal(t *testing.T, from string, sealed bool) {
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
	if sealed {
		key := partfile.OpenKey(fsys.OS, journalKey())
		if err := key.Make(); err != nil {
			t.Fatal(err)
		}
		f.SealWith(key)
	}
	if err := f.Begin(partfile.Identity{URL: from, URLSum: partfile.SumURL(u), Size: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	c := verify.NewChecker(-1, nil)
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
