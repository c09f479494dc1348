package download

import (
	"cmp"
	"net/url"
	"slices"
	"sync"

	"braid/metalink"
)

// mirrorTrees are the folders that mirrors share with the Metalink server (depth; RFC 6249, section 3.4). The
// downloads of a batch share them. They add mirrors and never evidence: a mirror of another file is refused
// like any other.
//
// A nil value has no trees. The methods may be called by several goroutines.
type mirrorTrees struct {
	mu    sync.Mutex
	trees []*mirrorTree
}

// A mirrorTree is one mirror's copy of a folder.
type mirrorTree struct {
	metalink.Tree
	mirror metalink.Mirror // with its attributes; URL is that of the file that it was named for
	misses int             // files in a row that it did not have, or had another version of
}

const (
	// mostTrees is the number of mirrors that one server may name.
	mostTrees = metalink.MaxMirrors
	// mostMisses is how many files in a row a mirror may lack before it is not asked for others.
	mostMisses = 3
)

// add adds the folders of the mirrors that a Metalink server named.
func (a *mirrorTrees) add(f metalink.File) {
	if a == nil || f.Server == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range f.Mirrors {
		t, ok := m.Tree(f.Server)
		known := func(o *mirrorTree) bool { return o.From.String() == t.From.String() && o.To.String() == t.To.String() }
		if ok && len(a.trees) < mostTrees && !slices.ContainsFunc(a.trees, known) {
			a.trees = append(a.trees, &mirrorTree{Tree: t, mirror: m})
		}
	}
}

// A treeMirror is a mirror of a file, found by the answer for another file of the batch.
type treeMirror struct {
	metalink.Mirror
	tree *mirrorTree
}

// mirrorsOf returns the places where the file at u may lie, too, by their priority. ETags that a mirror
// shares for one file mean nothing for another (RFC 6249, section 3.3).
func (a *mirrorTrees) mirrorsOf(u *url.URL) (found []treeMirror) {
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
		found = append(found, treeMirror{m, t})
	}
	slices.SortStableFunc(found, func(a, b treeMirror) int {
		return cmp.Compare(cmp.Or(a.Pri, metalink.NoPriority), cmp.Or(b.Pri, metalink.NoPriority))
	})
	return found
}

// record counts whether a mirror had the file that it was asked for.
func (a *mirrorTrees) record(t *mirrorTree, has bool) {
	if a == nil || t == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.misses++; has {
		t.misses = 0
	}
}
