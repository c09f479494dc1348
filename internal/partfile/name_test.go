package partfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"

	"braid/internal/fsys"
)

// odd are entries other than an ordinary file with one name. Each is created at path. aside is another file, whose
// content must not change.
var odd = []struct {
	name string
	make func(t *testing.T, path, aside string)
}{
	{"symbolic link", func(t *testing.T, path, aside string) { must(t, os.Symlink(aside, path)) }},
	{"dangling link", func(t *testing.T, path, aside string) { must(t, os.Symlink("nowhere", path)) }},
	{"folder", func(t *testing.T, path, aside string) { must(t, os.Mkdir(path, 0o700)) }},
	{"socket", func(t *testing.T, path, aside string) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		must(t, err)
		t.Cleanup(func() { l.Close() })
	}},
}

// Part file and journal must be ordinary files, and a file with another name is not written to.
func TestPartIsAnOrdinaryFile_Rule1(t *testing.T) {
	hard := struct {
		name string
		make func(t *testing.T, path, aside string)
	}{"hard link", func(t *testing.T, path, aside string) { must(t, os.Link(aside, path)) }}
	for _, tt := range append(odd, hard) {
		for _, name := range []string{"x.part", "x.part.journal"} {
			t.Run(tt.name+" at "+name, func(t *testing.T) {
				t.Chdir(t.TempDir()) // the paths of sockets must be short
				write(t, "aside", []byte("keep"))
				tt.make(t, name, "aside")
				f, err := Open(fsys.OS, ".", "x")
				if err == nil {
					f.Close()
				}
				wantNameError(t, err)
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%q does not say which file", err)
				}
				wantContent(t, "aside", []byte("keep"))
			})
		}
	}
}

func TestOurs_Rule1(t *testing.T) {
	good := fsys.Info{Mode: 0o600, UID: os.Geteuid(), Links: 1}
	if err := ours("x", good); err != nil {
		t.Error(err)
	}
	stranger, device, twice := good, good, good
	stranger.UID++
	device.Mode = fs.ModeDevice
	twice.Links = 2
	for _, info := range []fsys.Info{stranger, device, twice} {
		wantNameError(t, ours("x", info))
	}
}

// Part file and journal are private, regardless of the umask and of the mode of an earlier run.
func TestPartIsPrivate_Rule1(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("abc"), 0)
	for _, name := range []string{"x.part", "x.part.journal"} {
		if m := mode(t, in(dir, name)); m != 0o600 {
			t.Errorf("%s is %v", name, m)
		}
	}
	must(t, f.Close())
	must(t, os.Chmod(in(dir, "x.part"), 0o644))
	recovered(t, dir)
	if m := mode(t, in(dir, "x.part")); m != 0o600 {
		t.Errorf("after the second run it is %v", m)
	}
}

func TestTarget_Rule4(t *testing.T) {
	for _, tt := range odd {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "aside", []byte("keep"))
			tt.make(t, "x", "aside")
			_, present, err := Target(fsys.OS, ".", "x")
			wantNameError(t, err)
			if present {
				t.Error("present")
			}
		})
	}
	_, _, err := Target(fsys.OS, "/dev", "null")
	wantNameError(t, err)

	dir := t.TempDir()
	if info, present, err := Target(fsys.OS, dir, "x"); info != (fsys.Info{}) || present || err != nil {
		t.Errorf("nothing there: %v, %v, %v", info, present, err)
	}
	write(t, in(dir, "x"), []byte("four"))
	if info, present, err := Target(fsys.OS, dir, "x"); err != nil || !present || info.Size != 4 {
		t.Errorf("a file: %v, %v, %v", info, present, err)
	}
	if _, _, err := Target(fsys.OS, in(dir, "none"), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// The user's folder may be a symbolic link. A folder below it may not, regardless of its target.
func TestNoLinkBelowTheFolder_Rule5(t *testing.T) {
	top := t.TempDir()
	must(t, os.MkdirAll(in(top, "real/sub"), 0o700))
	must(t, os.Symlink("real", in(top, "link")))
	must(t, os.Symlink("sub", in(top, "real/inside")))
	must(t, os.Symlink("/", in(top, "real/outside")))
	write(t, in(top, "real/file"), nil)

	f, err := Open(fsys.OS, in(top, "link"), "sub/x")
	must(t, err)
	if want := in(top, "link/sub/x.part"); f.Path() != want {
		t.Errorf("path is %s, want %s", f.Path(), want)
	}
	wantFiles(t, in(top, "real/sub"), "x.part", "x.part.journal")
	must(t, f.Close())

	for _, name := range []string{
		"inside/x", "outside/x", "file/x", "inside/none/x", "../x", "sub/../x", "/x", "sub//x", "sub/", "", ".", "..",
	} {
		_, err := Open(fsys.OS, in(top, "link"), name)
		wantNameError(t, err)
		_, _, err = Target(fsys.OS, in(top, "link"), name)
		wantNameError(t, err)
	}
	if _, err := Open(fsys.OS, in(top, "real"), "none/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
