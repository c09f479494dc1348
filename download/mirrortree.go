package download

import (
	"cmp"
	"net/url"
	"slices"
	"sync"

	"braid/metalink"
)

// mirrorTrees are the folders that mirrors share with the Metalink server (depth; RFC 6249, section 3.4). The downloads
// of a batch share these folders, to find more mirrors. A folder is no evidence: a mirror with another file is refused.
//
// A nil value has no trees. The methods may be called by several goroutines.
type mirrorTrees struct {
	mu    sync.Mutex
	trees []*mirrorTree
}

// A mirrorTree is one mirror's copy of a folder.
type mirrorTree struct {
	metalink.Tree
	mirror metalink.Mirror // as named for one file; URL is that of this file
	misses int             // consecutive files that the mirror lacked, or had in another version
}

const (
	// mostTrees limits the number of folders.
	mostTrees = metalink.MaxMirrors
	// mostMisses is the number of consecutive files that a mirror may lack before it is not asked for other files.
	mostMisses = 3
)

// add adds the folders of the mirrors in f, which a Metalink server named.
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

// mirrorsOf returns the mirrors that may have the file at u, by priority. A mirror that shares the ETag of one file
// need not share the ETag of another file (RFC 6249, section 3.3).
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

// record records whether the mirror of t had the requested file.
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
