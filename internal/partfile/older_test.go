package partfile

import (
	"testing"

	"braid/internal/test/fsystest"
)

// A download continues from a part file and journal that revision 696ef86 left when it was stopped.
func TestOlderJournal_Rule8(t *testing.T) {
	dir := t.TempDir()
	part := fsystest.Unpacked(t, "testdata/696ef86.part.gz")
	write(t, in(dir, "x.part"), part)
	write(t, in(dir, "x.part.journal"), fsystest.Unpacked(t, "testdata/696ef86.journal.gz"))
	f := open(t, dir)
	if id, ok := f.Prior(); !ok || id.URL != "http://127.0.0.1:18931/y.bin" || id.Size != 3_000_000 || f.Aside() != "" {
		t.Errorf("%v, %t, aside %q", id, ok, f.Aside())
	}
	must(t, f.Recover(t.Context()))
	wantHave(t, f, span(0, int64(len(part))))
}
