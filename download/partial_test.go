package download

import (
	"net/url"
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
)

// partOf returns a partial of a part file with size bytes, and its session.
func partOf(t *testing.T, size int) (*partial, *session) {
	t.Helper()
	part, err := partfile.OpenTemp(fsys.OS, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { part.Close() })
	if _, err := part.WriteAt(make([]byte, size), 0); err != nil {
		t.Fatal(err)
	}
	c := &call{req: &Request{Target: new(struct{ Target })}, carried: &carried{}, result: &Result{}}
	return &partial{call: c, part: part}, newSession(t.Context(), c, part)
}

// The bytes beyond an end are given up, and sources have not sent them any more.
func TestCutOff(t *testing.T) {
	for end, want := range map[int64]int64{-1: 0, 0: 0, 300: 300, 1000: 1000, 2000: 1000} {
		p, s := partOf(t, 1000)
		o := &origin{}
		o.brought.Add(byterange.Range{Start: 200, End: 1000})
		s.sources.all = []*origin{o}
		if reaches := p.reaches(end); end >= 0 && reaches != (end < 1000) {
			t.Errorf("it reaches %d: %v", end, reaches)
		}
		if err := p.cutOff(&s.sources, end); err != nil {
			t.Fatal(err)
		}
		if have := p.part.Have(); have.Len() != want || o.brought.Len() != max(0, want-200) {
			t.Errorf("%d bytes up to %d are left, of them %d of the source", have.Len(), end, o.brought.Len())
		}
	}
}

// An error states the kept bytes and what to do about them, or what was set aside.
func TestPartialExplains(t *testing.T) {
	budget := &NoSourceError{}
	for name, tt := range map[string]struct {
		p    partial
		err  error
		kind Kind
		want Error
	}{
		"nothing is kept": {partial{setAside: []string{"b"}, unproven: true}, errRefused, Network,
			Error{Aside: []string{"b"}}},
		"bytes are kept": {partial{kept: 9, keptAt: "p"}, errRefused, Network, Error{Kept: 9, Part: "p"}},
		"of a refuted file": {partial{kept: 9, keptAt: "p", refuted: true}, errRefused, Mismatch,
			Error{Kept: 9, Part: "p", Hint: "if you mistyped the digest, correct it and repeat the command, which then " +
				"uses the received file"}},
		"unproven ones": {partial{kept: 9, keptAt: "p", unproven: true}, budget, Network, Error{Kept: 9, Part: "p",
			Hint: HintUnproven}},
		"the disk is full": {partial{kept: 9, keptAt: "p", unproven: true}, errRefused, Local, Error{Kept: 9, Part: "p"}},
		"a list may be kept": {partial{kept: 9, keptAt: "p", unproven: true, listed: true}, errRefused, Network,
			Error{Kept: 9, Part: "p"}},
	} {
		p, _ := partOf(t, 9)
		tt.p.call, tt.p.part = p.call, p.part
		e := Error{Kind: tt.kind, Err: tt.err}
		tt.p.explain(&e, tt.err)
		if e.Kept != tt.want.Kept || e.Part != tt.want.Part || e.Hint != tt.want.Hint || len(e.Aside) != len(tt.want.Aside) {
			t.Errorf("%s: %+v, want %+v", name, e, tt.want)
		}
	}
}

// Of wrong bytes, those of the asked server and of an earlier run are not doubted before sources were compared.
func TestDoubtful(t *testing.T) {
	p, s := partOf(t, 1000)
	at := func(start, end int64, o *origin) *origin {
		o.brought.Add(byterange.Range{Start: start, End: end})
		return o
	}
	u := &url.URL{Host: "m"}
	s.sources.all = []*origin{at(0, 300, &origin{first: true, url: u}), at(300, 500, &origin{url: u}), {url: u}}
	m := &p.carried.damage
	doubtful, parties, earlier := m.doubtful(s)
	if doubtful.Len() != 200 || !doubtful.Contains(byterange.Range{Start: 300, End: 500}) || parties != 2 || !earlier {
		t.Errorf("%v of %d sources, earlier %v", doubtful, parties, earlier)
	}
	at(500, 1000, s.sources.all[2])
	if doubtful, parties, earlier = m.doubtful(s); doubtful.Len() != 700 || parties != 3 || earlier {
		t.Errorf("%v of %d sources, earlier %v", doubtful, parties, earlier)
	}
	m.forget() // nothing was compared, so nothing is put back and no source is banned
	if m.blame(s); m.restore(&known{}) != nil || s.sources.all[1].banned {
		t.Error("without a comparison a source is banned")
	}
}
