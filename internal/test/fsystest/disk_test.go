package fsystest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"braid/internal/fsys"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree is all that a file system has below a folder: a line for each entry.
func tree(t *testing.T, files fsys.FS, at string) []string {
	t.Helper()
	d, err := files.OpenDir(at)
	must(t, err)
	defer d.Close()
	return list(t, d, "")
}

func list(t *testing.T, d fsys.Dir, prefix string) (lines []string) {
	t.Helper()
	names, err := d.Names()
	must(t, err)
	for _, name := range names {
		info, err := d.Stat(name)
		must(t, err)
		if info.Mode.IsDir() {
			lines = append(lines, fmt.Sprintf("%s%s %v", prefix, name, info.Mode))
			sub, err := d.OpenDir(name)
			must(t, err)
			lines = append(lines, list(t, sub, prefix+name+"/")...)
			sub.Close()
			continue
		}
		f, err := d.Open(name)
		must(t, err)
		text, err := io.ReadAll(fsys.Reader(f))
		must(t, err)
		f.Close()
		lines = append(lines, fmt.Sprintf("%s%s %v %d %q", prefix, name, info.Mode, info.Links, text))
	}
	return lines
}

// A player does operations by chance, and writes down what each of them says.
type player struct {
	top, sub fsys.Dir
	open     []fsys.File
	said     []string
}

func (p *player) say(op string, err error) {
	said := "fine"
	for _, e := range []error{fs.ErrExist, fs.ErrNotExist, io.EOF} {
		if errors.Is(err, e) {
			said = e.Error()
		}
	}
	if said == "fine" && err != nil {
		said = "an error"
	}
	p.said = append(p.said, op+": "+said)
}

// play does one.
func (p *player) play(r *rand.Rand) {
	names := []string{"a", "b", "c", "sub"}
	d := []fsys.Dir{p.top, p.sub}[r.IntN(2)]
	x, y := names[r.IntN(4)], names[r.IntN(3)]
	switch r.IntN(7) {
	case 0:
		f, err := d.Create(x, 0o600)
		p.say("create "+x, err)
		p.keep(f, err)
	case 1:
		if x != "sub" { // the system opens a folder only to read it, and says so in another way
			f, err := d.Open(x)
			p.say("open "+x, err)
			p.keep(f, err)
		}
	case 2:
		p.say("remove "+x, d.Remove(x))
	case 3:
		if x != "sub" {
			p.say("rename "+x+" "+y, d.Rename(x, y))
		}
	case 4:
		if x != "sub" {
			p.say("rename new "+x+" "+y, d.RenameNew(x, y))
		}
	case 5:
		if x == "sub" {
			return
		}
		p.say("link "+x+" "+y, d.Link(x, []fsys.Dir{p.top, p.sub}[r.IntN(2)], y))
	default:
		p.write(r)
	}
}

func (p *player) keep(f fsys.File, err error) {
	if err == nil {
		p.open = append(p.open, f)
	}
}

// write does something with a file that is open.
func (p *player) write(r *rand.Rand) {
	if len(p.open) == 0 {
		return
	}
	i := r.IntN(len(p.open))
	f := p.open[i]
	off := r.Int64N(40)
	switch r.IntN(6) {
	case 0:
		p.say("truncate", f.Truncate(off))
	case 1:
		p.say("chmod", f.Chmod(fs.FileMode(0o600|r.IntN(0o100))))
	case 2:
		buf := make([]byte, 8)
		n, err := f.ReadAt(buf, off)
		p.say(fmt.Sprintf("read %q", buf[:n]), err)
	case 3:
		info, err := f.Info()
		p.say(fmt.Sprintf("info %d %d %v", info.Size, info.Links, info.Mode), err)
	case 4:
		p.say("close", f.Close())
		p.open = slices.Delete(p.open, i, i+1)
	default:
		n, err := f.WriteAt([]byte(strings.Repeat("x", r.IntN(9)+1)), off)
		p.say(fmt.Sprintf("write %d", n), err)
	}
}

// The fake is an implementation: whatever is done, it says what the system says, and ends with the same files.
func TestDiskIsLikeTheSystem(t *testing.T) {
	for seed := range uint64(60) {
		disk := NewDisk()
		dir := t.TempDir()
		var said, left [2][]string
		for i, files := range []fsys.FS{fsys.OS, disk} {
			root := []string{dir, "/"}[i]
			top, err := files.OpenDir(root)
			must(t, err)
			must(t, top.Mkdir("sub", 0o700))
			sub, err := top.OpenDir("sub")
			must(t, err)
			p := &player{top: top, sub: sub}
			r := rand.New(rand.NewPCG(seed, 0))
			for range 200 {
				p.play(r)
			}
			for _, f := range p.open {
				must(t, f.Close())
			}
			must(t, errors.Join(sub.Close(), top.Close()))
			said[i], left[i] = p.said, tree(t, files, root)
		}
		for i := range said[0] {
			if said[0][i] != said[1][i] {
				t.Fatalf("seed %d, operation %d: the system says %q, the fake %q", seed, i, said[0][i], said[1][i])
			}
		}
		if !slices.Equal(left[0], left[1]) {
			t.Fatalf("seed %d: the system has\n%q\nthe fake\n%q", seed, left[0], left[1])
		}
		if found := tree(t, disk.Crash(disk.Changes(), Kept), "/"); !slices.Equal(found, left[1]) {
			t.Fatalf("seed %d: with everything kept there is\n%q\nand not\n%q", seed, found, left[1])
		}
		if found := tree(t, disk.Crash(0, Kept), "/"); len(found) != 0 {
			t.Fatalf("seed %d: before anything was done there is %q", seed, found)
		}
	}
}

// Paths that lead nowhere, and locks, are those of the system, too.
func TestPathsAndLocks(t *testing.T) {
	disk := NewDisk()
	for i, files := range []fsys.FS{fsys.OS, disk} {
		root := []string{t.TempDir(), ""}[i]
		must(t, fsys.MkdirAll(files, root+"/x/y", 0o755))
		must(t, fsys.MkdirAll(files, root+"/x/y", 0o755))
		f, name := create(t, files, root+"/x/y/f")
		if err := fsys.MkdirAll(files, root+"/x/y/f/z", 0o755); err == nil {
			t.Error("a folder was made below a file")
		}
		if _, err := files.OpenDir(name); err == nil {
			t.Error("a file was opened as a folder")
		}
		if _, err := files.Stat(root + "/none/z"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat: %v", err)
		}
		read, err := files.Open(name)
		must(t, err)
		if _, err := read.WriteAt([]byte("x"), 0); err == nil {
			t.Error("what is open for reading was written to")
		}
		mine, err := f.TryLock()
		theirs, err2 := read.TryLock()
		if !mine || theirs || err != nil || err2 != nil {
			t.Errorf("locked %t and %t, %v, %v", mine, theirs, err, err2)
		}
		must(t, f.Close())
		if theirs, err = read.TryLock(); !theirs || err != nil {
			t.Errorf("after the first has closed it: %t, %v", theirs, err)
		}
		if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		must(t, read.Close())
	}
}

func create(t *testing.T, files fsys.FS, name string) (fsys.File, string) {
	t.Helper()
	d, base, err := fsys.OpenParent(files, name)
	must(t, err)
	defer d.Close()
	f, err := d.Create(base, 0o600)
	must(t, err)
	return f, name
}
