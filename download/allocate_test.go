package download_test

import (
	"errors"
	"io/fs"
	"testing"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/test/mirrortest"
)

// A reserving file system records the sizes that files were to reserve; a stingy one reserves nothing.
type reserving struct {
	fsys.FS
	stingy bool
	asked  *int64
}

type reservingDir struct {
	fsys.Dir
	r reserving
}

type reservingFile struct {
	fsys.File
	r reserving
}

func (r reserving) OpenDir(path string) (fsys.Dir, error) {
	d, err := r.FS.OpenDir(path)
	return reservingDir{d, r}, err
}

func (d reservingDir) Create(name string, perm fs.FileMode) (fsys.File, error) {
	f, err := d.Dir.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return reservingFile{f, d.r}, nil
}

func (f reservingFile) Reserve(size int64) error {
	*f.r.asked = max(*f.r.asked, size)
	if f.r.stingy {
		return nil
	}
	return f.File.Reserve(size)
}

// TestAllocation_Rule19: space is reserved once the size is known, if the user wants that. If the file system
// cannot do it, the user decides whether that matters.
func TestAllocation_Rule19(t *testing.T) {
	t.Parallel()
	origin := sized(t, 2*mib, mirrortest.Digest())
	for _, tt := range []struct {
		how    download.Allocation
		stingy bool
		asked  int64
		fails  bool
	}{
		{download.AllocateNone, false, 0, false}, {download.AllocateTry, false, 2 * mib, false},
		{download.AllocateMust, false, 2 * mib, false},
		{download.AllocateTry, true, 2 * mib, false}, {download.AllocateMust, true, 2 * mib, true},
	} {
		r := newRun(t, origin.URL)
		var asked int64
		r.client.Allocation, r.files = tt.how, reserving{fsys.OS, tt.stingy, &asked}
		if !tt.fails {
			r.right(origin.Content)
		} else if e := r.wrong(download.Local); e.Kept != 0 || errors.Is(e, fs.ErrExist) {
			t.Errorf("%+v: %v", tt, e)
		} else {
			r.empty()
		}
		if asked != tt.asked {
			t.Errorf("%+v: room for %d was taken", tt, asked)
		}
	}
}
