package partfile

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/test/leaktest"
	"braid/verify"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

// content returns n pseudorandom bytes.
func content(n int) []byte {
	p := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(p)
	return p
}

func open(t *testing.T, dir string) *File {
	t.Helper()
	f, err := Open(fsys.OS, dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// begun opens and begins x in dir, and writes p to it at off.
func begun(t *testing.T, dir string, p []byte, off int64) *File {
	t.Helper()
	f := open(t, dir)
	must(t, f.Begin(Identity{URL: "https://a.example/x", Size: -1}))
	put(t, f, p, off)
	return f
}

func put(t *testing.T, f *File, p []byte, off int64) {
	t.Helper()
	if n, err := f.WriteAt(p, off); n != len(p) || err != nil {
		t.Fatalf("write %d at %d: %d fresh, %v", len(p), off, n, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// voided revokes and voids r.
func voided(f *File, r byterange.Range) error {
	f.Revoke(r)
	return f.Void()
}

// always is a function for WriteWhile that never stops the writer.
func always() bool { return true }

// crash ends f as a kill would: it writes nothing more and releases the lock.
func crash(f *File) { f.store.release() }

// recovered opens x in dir and takes over its bytes.
func recovered(t *testing.T, dir string) *File {
	t.Helper()
	f := open(t, dir)
	must(t, f.Recover(t.Context()))
	return f
}

func wantHave(t *testing.T, f *File, want ...byterange.Range) {
	t.Helper()
	set := byterange.NewSet(want...)
	if have := f.Have(); have.String() != set.String() {
		t.Errorf("have %v, want %v", &have, &set)
	}
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("files are %q, want %q", got, want)
	}
}

func wantContent(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes (%.20q), %v; want %d (%.20q)", path, len(got), got, err, len(want), want)
	}
}

func wantNameError(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*NameError](err); !ok || e.What == "" || e.Path == "" {
		t.Errorf("error is %v, want a *NameError", err)
	}
}

func wantStateError(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*StateError](err); !ok {
		t.Errorf("error is %v, want a *StateError", err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(path, data, 0o644))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	p, err := os.ReadFile(path)
	must(t, err)
	return p
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.Mode()
}

// proof returns a proof about p without claims.
func proof(t *testing.T, p []byte) verify.Proof {
	t.Helper()
	c := verify.NewChecker(int64(len(p)), nil)
	c.Write(p)
	pr, err := c.Proof()
	must(t, err)
	return pr
}

func in(dir, name string) string { return filepath.Join(dir, name) }

func span(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

// memory returns a new folder in memory if the system supports that, otherwise on disk. It is for tests that call fsync
// often and do not simulate a loss of power.
func memory() string {
	dir, err := os.MkdirTemp("/dev/shm", "partfile")
	if err != nil {
		dir, err = os.MkdirTemp("", "partfile")
	}
	if err != nil {
		panic(err)
	}
	return dir
}
