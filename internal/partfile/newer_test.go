package partfile

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"braid/internal/fsys"
)

// laterVersion returns the journal as if a newer braid had written it.
func laterVersion(journal []byte) []byte {
	later := slices.Clone(journal)
	binary.LittleEndian.PutUint32(later[8:], version+1)
	binary.LittleEndian.PutUint32(later[12:], checksum(later[:12]))
	return later
}

// The journal of a newer braid and its part file are refused and kept. The lists do not have them.
func TestNewerJournal_Rule8(t *testing.T) {
	dir := t.TempDir()
	must(t, begun(t, dir, []byte("abc"), 0).Close())
	journal := laterVersion(read(t, in(dir, "x.part.journal")))
	write(t, in(dir, "x.part.journal"), journal)
	_, err := Open(fsys.OS, dir, "x")
	if e, ok := errors.AsType[*NewerError](err); !ok || e.Format != version+1 || !strings.Contains(err.Error(), "a newer braid") {
		t.Errorf("the error is %v", err)
	}
	if left, _ := list(t, dir); len(left) > 0 {
		t.Errorf("listed are %v", left)
	}
	wantContent(t, in(dir, "x.part"), []byte("abc"))
	wantContent(t, in(dir, "x.part.journal"), journal)
	files, err := os.ReadDir(dir)
	if len(files) != 2 || err != nil {
		t.Errorf("there are %v, %v", files, err)
	}
}
