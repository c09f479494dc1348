//go:build unix

package partfile

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"braid/internal/fsys"
	"braid/verify"
)

func TestUmask(t *testing.T) {
	old := unix.Umask(0o027)
	defer unix.Umask(old)
	if got := readUmask(); got != 0o027 {
		t.Errorf("umask %v, want 027", got)
	}
}

func TestCommit(t *testing.T) {
	want := content(100_000)
	modified := time.Date(2020, 2, 3, 4, 5, 6, 7000, time.UTC)
	for _, tt := range []struct {
		final Final
		mode  fs.FileMode
	}{
		{Final{}, 0o666 &^ umask()},
		{Final{Mode: 0o755, ModTime: modified}, 0o755},
		{Final{Replace: true, Mode: fs.ModeSetuid | 0o600}, 0o600},
	} {
		dir := t.TempDir()
		f := begun(t, dir, want, 0)
		must(t, f.Preallocate(1<<20))
		must(t, f.Commit(proof(t, want), tt.final))
		wantFiles(t, dir, "x")
		wantContent(t, in(dir, "x"), want)
		info, err := os.Lstat(in(dir, "x"))
		must(t, err)
		if info.Mode() != tt.mode {
			t.Errorf("mode is %v, want %v", info.Mode(), tt.mode)
		}
		if m := tt.final.ModTime; !m.IsZero() && !info.ModTime().Equal(m) {
			t.Errorf("modified %v, want %v", info.ModTime(), m)
		}
		var st unix.Stat_t
		must(t, unix.Stat(in(dir, "x"), &st))
		if st.Blocks*512 > 200_000 {
			t.Errorf("%d blocks: what was preallocated is still there", st.Blocks)
		}
		must(t, f.Close())
		must(t, f.Discard())
		wantFiles(t, dir, "x")
	}
}

func TestCommitEmptyFile(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, nil, 0)
	wantStateError(t, f.Commit(verify.Proof{}, Final{}))
	must(t, f.Commit(proof(t, nil), Final{}))
	wantContent(t, in(dir, "x"), nil)
	wantFiles(t, dir, "x")
}

// Commit fails without a proof about exactly the bytes of the file.
func TestCommitNeedsProof_Rule2(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("abc"), 0)
	refused := func(p verify.Proof) {
		t.Helper()
		wantStateError(t, f.Commit(p, Final{}))
		wantFiles(t, dir, "x.part", "x.part.journal")
	}
	refused(verify.Proof{})
	refused(verify.Unchecked(2))
	refused(verify.Unchecked(4))
	must(t, voided(f, span(1, 2)))
	refused(verify.Unchecked(3))
	put(t, f, []byte("d"), 3)
	refused(verify.Unchecked(3))
	put(t, f, []byte("b"), 1)
	must(t, voided(f, span(3, 4)))
	put(t, f, []byte("e"), 4)
	refused(verify.Unchecked(3))
	must(t, voided(f, span(4, 5)))
	must(t, f.Commit(verify.Unchecked(3), Final{}))
	wantContent(t, in(dir, "x"), []byte("abc"))

	empty := begun(t, t.TempDir(), nil, 0) // all of its bytes are present
	wantStateError(t, empty.Commit(verify.Proof{}, Final{}))
	must(t, empty.Commit(verify.Unchecked(0), Final{}))
}

// The verified bytes are those of the open file. Another file at its name is not committed.
func TestSameDescriptor_Rule2(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("abc"), 0)
	must(t, os.Rename(in(dir, "x.part"), in(dir, "elsewhere")))
	write(t, in(dir, "x.part"), []byte("bad"))
	got := make([]byte, 3)
	if _, err := f.ReadAt(got, 0); err != nil || string(got) != "abc" {
		t.Errorf("read %q, %v", got, err)
	}
	wantNameError(t, f.Commit(proof(t, got), Final{}))
	wantFiles(t, dir, "elsewhere", "x.part", "x.part.journal")

	write(t, in(dir, "other"), []byte("bad"))
	before, err := os.Stat(in(dir, "other"))
	must(t, err)
	must(t, os.Remove(in(dir, "x.part")))
	must(t, os.Symlink("other", in(dir, "x.part")))
	wantNameError(t, f.Commit(proof(t, got), Final{ModTime: time.Unix(1, 0), Mode: 0o777}))
	after, err := os.Stat(in(dir, "other"))
	must(t, err)
	if !after.ModTime().Equal(before.ModTime()) || after.Mode() != before.Mode() {
		t.Errorf("what a symbolic link stands for was changed: %v, %v", after.ModTime(), after.Mode())
	}
}

// A file at the final name stays, even if it appeared late, unless it may be replaced.
func TestExisting_Rule3(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("new"), 0)
	write(t, in(dir, "x"), []byte("old"))
	must(t, os.Link(in(dir, "x"), in(dir, "other name")))
	if err := f.Commit(proof(t, []byte("new")), Final{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v, want fs.ErrExist", err)
	}
	if err := f.store.at.linkNew("x.part", "x"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("by link: error is %v, want fs.ErrExist", err)
	}
	wantContent(t, in(dir, "x"), []byte("old"))
	wantFiles(t, dir, "x", "x.part", "x.part.journal", "other name")
	if m := mode(t, f.Path()); m != 0o600 {
		t.Errorf("the part file is %v", m)
	}
	must(t, f.Commit(proof(t, []byte("new")), Final{Replace: true}))
	wantContent(t, in(dir, "x"), []byte("new"))
	// Rule 4: the other name keeps its bytes.
	wantContent(t, in(dir, "other name"), []byte("old"))
	wantFiles(t, dir, "x", "other name")
}

func TestLinkNew_Rule3(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("new"), 0)
	must(t, f.store.at.linkNew("x.part", "x"))
	wantContent(t, in(dir, "x"), []byte("new"))
	wantFiles(t, dir, "x", "x.part.journal")
}

// Replace is for ordinary files only.
func TestReplaceNothingOdd_Rule4(t *testing.T) {
	for _, tt := range odd {
		for _, replace := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				t.Chdir(t.TempDir())
				write(t, "aside", []byte("keep"))
				tt.make(t, "x", "aside")
				before := mode(t, "x")
				f := begun(t, ".", []byte("new"), 0)
				err := f.Commit(proof(t, []byte("new")), Final{Replace: replace})
				if replace {
					wantNameError(t, err)
				} else if !errors.Is(err, fs.ErrExist) {
					t.Errorf("error is %v, want fs.ErrExist", err)
				}
				wantContent(t, "aside", []byte("keep"))
				wantContent(t, "x.part", []byte("new"))
				if mode(t, "x") != before {
					t.Errorf("it is %v now", mode(t, "x"))
				}
			})
		}
	}
}

func TestOutOfTurn(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	_, err := f.WriteAt([]byte("a"), 0)
	wantStateError(t, err)
	wantStateError(t, f.Commit(verify.Unchecked(0), Final{}))
	must(t, f.Begin(Identity{}))
	put(t, f, []byte("a"), 0)
	must(t, f.Close())
	isClosed := func(err error) {
		t.Helper()
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("error is %v, want fs.ErrClosed", err)
		}
	}
	_, err = f.WriteAt([]byte("b"), 1)
	isClosed(err)
	isClosed(f.Begin(Identity{}))
	isClosed(voided(f, span(0, 1)))
	isClosed(f.Reset(""))
	isClosed(f.Restart())
	isClosed(f.Commit(verify.Unchecked(1), Final{}))

	f = open(t, dir)
	wantStateError(t, f.Begin(Identity{}))
	_, err = f.WriteAt([]byte("b"), 1)
	wantStateError(t, err)
	wantStateError(t, voided(f, span(0, 1)))
}

// No file stays open after any kind of end.
func TestNothingStaysOpen(t *testing.T) {
	openFiles := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(entries)
	}
	dir := t.TempDir()
	must(t, os.Mkdir(in(dir, "sub"), 0o700))
	write(t, in(dir, "foreign.part.journal"), []byte("foreign"))
	write(t, in(dir, "foreign.part"), []byte("foreign"))
	must(t, os.Mkdir(in(dir, "odd.part"), 0o700))
	before := openFiles()
	for _, name := range []string{"x", "sub/x", "none/x", "foreign", "odd"} {
		f, err := Open(fsys.OS, dir, name)
		if err != nil {
			continue
		}
		_, err = Open(fsys.OS, dir, name)
		wantInUse(t, err, os.Getpid())
		must(t, f.Begin(Identity{}))
		put(t, f, []byte("abc"), 0)
		must(t, f.Reset("test"))
		must(t, f.Begin(Identity{}))
		put(t, f, []byte("abc"), 0)
		if name == "x" {
			must(t, f.Commit(verify.Unchecked(3), Final{}))
		} else {
			must(t, f.Close())
		}
		_, _, err = Target(fsys.OS, dir, name)
		must(t, err)
	}
	if after := openFiles(); after > before { // other tests may close files meanwhile
		t.Errorf("%d files are open, before there were %d", after, before)
	}
}

// Close removes empty files and keeps bytes for the next run.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir).Close())
	wantFiles(t, dir)
	must(t, begun(t, dir, nil, 0).Close())
	wantFiles(t, dir)
	f := begun(t, dir, []byte("abc"), 0)
	must(t, voided(f, span(0, 3)))
	must(t, f.Close())
	wantFiles(t, dir)

	must(t, begun(t, dir, []byte("abc"), 0).Close())
	must(t, open(t, dir).Close()) // the inherited bytes are undecided
	wantFiles(t, dir, "x.part", "x.part.journal")
	f = recovered(t, dir)
	wantHave(t, f, span(0, 3))
	must(t, f.Close()) // Begin was not called
	f = recovered(t, dir)
	wantHave(t, f, span(0, 3))
	must(t, f.Discard())
	wantFiles(t, dir)
}

// Proves rules 1 and 7: the system reports a failed write only once. File remembers a failed Sync, so that a later
// successful fsync does not let Commit rename an incomplete file.
func TestFailedSyncIsRemembered_Rule7(t *testing.T) {
	dir, p := t.TempDir(), content(5000)
	f := begun(t, dir, p, 0)
	must(t, f.Flush())
	whole := f.store.part.File
	closed := device(t, "null")
	must(t, closed.Close())
	f.store.part.File = closed
	if err := f.Sync(); err == nil {
		t.Fatal("Sync of a closed descriptor succeeds")
	}
	f.store.part.File = whole
	if err := f.Commit(proof(t, p), Final{}); err == nil {
		t.Error("committed")
	}
	wantFiles(t, dir, "x.part", "x.part.journal")
}
