package download

import (
	"cmp"
	"net/url"
	"slices"
	"sync"

	"braid/metalink"
)

// An atlas is what the files of a batch tell each other: the folders that mirrors have beside a file (RFC 6249,
// section 3.4). It adds mirrors and never evidence: what a sibling is, its own server or the user says, and a
// mirror that has something else is refused like any other (C5, C8).
//
// A nil atlas knows nothing. Its methods may be called by several goroutines.
type atlas struct {
	mu    sync.Mutex
	trees []*mapped
}

// A mapped tree is one mirror's copy of a folder.
type mapped struct {
	metalink.Tree
	mirror metalink.Mirror // with its attributes; the URL is that of the file that told of it
	misses int             // siblings in a row that were not there, or something else
}

const (
	// mostTrees is as many as one server may name mirrors.
	mostTrees = metalink.MaxMirrors
	// mostMisses is how often a mirror may lack siblings before nobody looks there any more.
	mostMisses = 3
)

// learn takes what the Metalink server says about the folders of its mirrors.
func (a *atlas) learn(f metalink.File) {
	if a == nil || f.Server == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range f.Mirrors {
		t, ok := m.Tree(f.Server)
		known := func(o *mapped) bool { return o.From.String() == t.From.String() && o.To.String() == t.To.String() }
		if ok && len(a.trees) < mostTrees && !slices.ContainsFunc(a.trees, known) {
			a.trees = append(a.trees, &mapped{Tree: t, mirror: m})
		}
	}
}

// A sibling is a mirror of a file that another file of the batch told of.
type sibling struct {
	metalink.Mirror
	tree *mapped
}

// siblings are where the file at u may lie as well, in the order in which mirrors are tried (S5). That a mirror of
// one file shares its server's ETags says nothing about another (section 3.3).
func (a *atlas) siblings(u *url.URL) (found []sibling) {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.trees {
		at, ok := t.Find(u)
		if !ok || t.misses >= mostMisses {
			continue
		}
		m := t.mirror
		m.URL, m.Pref = at, false
		found = append(found, sibling{m, t})
	}
	slices.SortStableFunc(found, func(a, b sibling) int {
		return cmp.Compare(cmp.Or(a.Pri, metalink.NoPriority), cmp.Or(b.Pri, metalink.NoPriority))
	})
	return found
}

// tell remembers whether a mirror had what it was asked for.
func (a *atlas) tell(t *mapped, has bool) {
	if a == nil || t == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.misses++; has {
		t.misses = 0
	}
}
