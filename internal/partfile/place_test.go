package partfile

import (
	"errors"
	"os"
	"testing"

	"braid/internal/fsys"
)

// openedPlace returns the place of x in dir, and its open part file with the bytes p.
func openedPlace(t *testing.T, dir string, p []byte) (place, fsys.File) {
	t.Helper()
	at, err := openPlace(fsys.OS, dir, "x")
	must(t, err)
	t.Cleanup(func() { at.close() })
	part, _, err := at.openOurs(at.part())
	must(t, err)
	t.Cleanup(func() { part.Close() })
	_, err = part.WriteAt(p, 0)
	must(t, err)
	return at, part
}

// The name of a part file may be taken from it, or be given to another file. Neither of these may get the final name.
func TestPlaceOfOpenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at, part := openedPlace(t, dir, []byte("ours"))
	must(t, second(at.check(part)))
	if path, err := at.find(part); path != in(dir, "x.part") || err != nil {
		t.Errorf("found at %q, %v", path, err)
	}
	must(t, os.Rename(in(dir, "x.part"), in(dir, "y")))
	for name, err := range map[string]error{"check": second(at.check(part)), "find": second(at.find(part))} {
		if _, moved := errors.AsType[*MovedError](err); !moved {
			t.Errorf("%s: a removed name: %v", name, err)
		}
	}
	write(t, in(dir, "x.part"), []byte("theirs"))
	wantNameError(t, second(at.check(part)))
	if path, err := at.find(part); path != "" || err == nil {
		t.Errorf("another file is found at %q, %v", path, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestPlaceRename(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at, _ := openedPlace(t, dir, []byte("new"))
	write(t, in(dir, "x"), []byte("old"))
	if err := at.rename(false); !errors.Is(err, os.ErrExist) {
		t.Errorf("another file was replaced: %v", err)
	}
	wantFiles(t, dir, "x", "x.part")
	must(t, at.rename(true))
	wantFiles(t, dir, "x")
	wantContent(t, in(dir, "x"), []byte("new"))
}

// A second name is removed only if the journal says that a commit was interrupted.
func TestPlaceUnlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at, _ := openedPlace(t, dir, []byte("new"))
	must(t, os.Link(in(dir, "x.part"), in(dir, "x")))
	must(t, at.unlink(history{}))
	wantFiles(t, dir, "x", "x.part")
	must(t, at.unlink(history{committed: &committed{}}))
	wantFiles(t, dir, "x")
	write(t, in(dir, "x.part"), []byte("another one"))
	must(t, at.unlink(history{committed: &committed{}}))
	wantFiles(t, dir, "x", "x.part")
}
