package partfile

import (
	"os"
	"reflect"
	"testing"
)

// If a run is killed before its first byte was journaled, the next run begins without setting anything aside.
func TestResumeFromNothing_Rule6(t *testing.T) {
	for name, until := range map[string]func(f *File){
		"opened": func(*File) {},
		"begun":  func(f *File) { must(t, f.Begin(full(t))) },
		"written to": func(f *File) {
			must(t, f.Begin(full(t)))
			put(t, f, content(1000), 0)
		},
	} {
		dir := t.TempDir()
		f := open(t, dir)
		until(f)
		crash(f)
		f = open(t, dir)
		if _, prior := f.Prior(); prior || f.Aside() != "" {
			t.Errorf("%s: prior %v, aside %q", name, prior, f.Aside())
		}
		want := content(2000)
		must(t, f.Begin(full(t)))
		put(t, f, want, 0)
		must(t, f.Commit(proof(t, want), Final{}))
		wantContent(t, in(dir, "x"), want)
	}
}

// A new journal has its header with its first record, which Begin writes.
func TestNewJournal(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	journal := in(dir, "x.part.journal")
	if info, err := os.Stat(journal); err != nil || info.Size() != 0 {
		t.Errorf("opened: %v, %v", info, err)
	}
	must(t, f.Begin(full(t)))
	must(t, f.Begin(full(t)))
	put(t, f, content(10), 0)
	must(t, f.Close())
	file, err := os.Open(journal)
	must(t, err)
	defer file.Close()
	h, err := readHistory(file)
	if err != nil || !h.known || !reflect.DeepEqual(h.identity, full(t)) || len(h.runs) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}
