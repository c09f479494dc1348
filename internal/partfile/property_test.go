package partfile

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"

	"braid/byterange"
	"braid/internal/fsys"
)

const modelSize = 4 << 10

// model is a part file and its expected state, byte by byte.
type model struct {
	dir  string
	f    *File
	rnd  *rand.Rand
	want [modelSize]byte // the last written bytes
	have [modelSize]bool
	// lost bytes are missing because of damage. They may return if the damage is undone.
	lost [modelSize]bool
	// recorded is set if the journal lists all of have.
	recorded bool
	// synced is the length of the journal that is certainly on disk.
	synced int64
}

func (m *model) open(t *rapid.T) {
	f, err := Open(fsys.OS, m.dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	m.f = f
	if err := f.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.Aside() != "" {
		t.Fatalf("set aside: %s", f.Aside())
	}
	if err := f.Begin(Identity{URL: "u", Size: -1}); err != nil {
		t.Fatal(err)
	}
	m.synced = f.store.journal.size
}

// reopen continues after damage: all bytes still in the journal must be right, and become the present state.
func (m *model) reopen(t *rapid.T) {
	m.open(t)
	m.recorded = true
	have := m.f.Have()
	for i := range int64(modelSize) {
		has := have.Contains(span(i, i+1))
		if has && !m.have[i] && !m.lost[i] {
			t.Fatalf("byte %d is claimed and was never there, or void", i)
		}
		m.lost[i] = !has && (m.have[i] || m.lost[i])
		m.have[i] = has
	}
}

func drawRange(t *rapid.T) byterange.Range {
	start := rapid.IntRange(0, modelSize-1).Draw(t, "start")
	return span(int64(start), int64(rapid.IntRange(start, min(start+700, modelSize)).Draw(t, "end")))
}

func (m *model) Write(t *rapid.T) {
	r := drawRange(t)
	p := make([]byte, r.Len())
	for i := range p {
		// Lost bytes are written with their old values. Otherwise a flipped byte may happen to match an old record.
		if p[i] = byte(m.rnd.Uint32()); m.lost[r.Start+int64(i)] {
			p[i] = m.want[r.Start+int64(i)]
		}
	}
	want := 0
	for i, b := range p {
		if at := r.Start + int64(i); !m.have[at] {
			m.have[at], m.lost[at], m.want[at] = true, false, b
			want++
		}
	}
	m.recorded = m.recorded && want == 0
	if n, err := m.f.WriteAt(p, r.Start); n != want || err != nil {
		t.Fatalf("%d fresh, %v; want %d", n, err, want)
	}
}

func (m *model) Void(t *rapid.T) {
	r := drawRange(t)
	if err := voided(m.f, r); err != nil {
		t.Fatal(err)
	}
	for i := r.Start; i < r.End; i++ {
		m.have[i], m.lost[i] = false, false
	}
	if !r.Empty() {
		m.recorded = true
		m.synced = m.f.store.journal.size
	}
}

func (m *model) Flush(t *rapid.T) {
	if err := m.f.Flush(); err != nil {
		t.Fatal(err)
	}
	m.recorded = true
}

// Kill loses exactly the bytes that are not recorded.
func (m *model) Kill(t *rapid.T) {
	before, recorded := m.have, m.recorded
	crash(m.f)
	m.reopen(t)
	if recorded && !m.covers(before) {
		t.Fatal("something was lost that was recorded")
	}
}

func (m *model) Close(t *rapid.T) {
	before := m.have
	if err := m.f.Close(); err != nil {
		t.Fatal(err)
	}
	m.reopen(t)
	if !m.covers(before) {
		t.Fatal("Close lost something")
	}
}

// covers reports whether all bytes of before are present. More may be present, because damage is undone if the damaged
// bytes are written again.
func (m *model) covers(before [modelSize]bool) bool {
	for i, had := range before {
		if had && !m.have[i] {
			return false
		}
	}
	return true
}

// PowerLoss truncates or damages the journal beyond its synced part.
func (m *model) PowerLoss(t *rapid.T) {
	crash(m.f)
	path := in(m.dir, "x.part.journal")
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at := m.synced + int64(rapid.IntRange(0, 200).Draw(t, "behind")); at < int64(len(journal)) {
		if rapid.Bool().Draw(t, "tear") {
			journal = journal[:at]
		} else {
			journal[at] ^= rapid.ByteRange(1, 255).Draw(t, "flip")
		}
	}
	if err := os.WriteFile(path, journal, 0o600); err != nil {
		t.Fatal(err)
	}
	m.reopen(t)
}

// FlipByte damages the part file. check fails if that byte is still present.
func (m *model) FlipByte(t *rapid.T) {
	crash(m.f)
	path := in(m.dir, "x.part")
	part, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at := rapid.IntRange(0, modelSize-1).Draw(t, "at"); at < len(part) {
		part[at] ^= rapid.ByteRange(1, 255).Draw(t, "flip")
	}
	if err := os.WriteFile(path, part, 0o600); err != nil {
		t.Fatal(err)
	}
	m.reopen(t)
}

// check compares the methods of f with the model.
func (m *model) check(t *rapid.T) {
	have := m.f.Have()
	var want byterange.Set
	for i, has := range m.have {
		if has {
			want.Add(span(int64(i), int64(i)+1))
		}
	}
	if have.String() != want.String() {
		t.Fatalf("have %v, want %v", &have, &want)
	}
	if front := m.f.Front(); front != want.FirstGap(0) {
		t.Fatalf("front is %d, want %d", front, want.FirstGap(0))
	}
	for r := range have.All() {
		got := make([]byte, r.Len())
		if _, err := m.f.ReadAt(got, r.Start); err != nil || !bytes.Equal(got, m.want[r.Start:r.End]) {
			t.Fatalf("%v is claimed and wrong (%v)", r, err)
		}
	}
}

// After any sequence of operations, the part file has all bytes that it claims to have (rules 6 and 8).
func TestProperty_Rule8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := memory()
		defer os.RemoveAll(dir)
		m := &model{dir: dir, rnd: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), recorded: true}
		m.open(t)
		defer func() { m.f.Discard() }()
		t.Repeat(map[string]func(*rapid.T){
			"write": m.Write, "write again": m.Write, "void": m.Void, "flush": m.Flush,
			"kill": m.Kill, "close": m.Close, "power loss": m.PowerLoss, "flip": m.FlipByte,
			"": m.check,
		})
	})
}
