package rpc

import (
	"bytes"
	"cmp"
	"path"
	"sync"
	"time"

	"braid/daemon/queue"
	"braid/metalink"
	"braid/metalink/metainfo"
)

// An about is the content of an entry's document or magnet link, as clients receive it.
type about struct {
	hash       string // info hash of a torrent; empty if the document is not a torrent
	name       string
	bittorrent map[string]any
	files      []described // empty for a magnet link
	uris       []string    // URIs of the file that a Metalink document describes
}

type described struct {
	path string
	size int64
}

// A documents caches the parsed documents of entries, because clients ask for them several times per second.
type documents struct {
	mu    sync.Mutex
	known map[document]*about
	files int // total number of files in the cached documents
}

// A document is a key of the cache. A GID alone is not enough: the entry may get another link, and the GID may be used
// again for another entry.
type document struct {
	gid   queue.GID
	added time.Time
	link  string
	size  int
}

// mostFiles limits the number of files of the cached documents.
const mostFiles = 20_000

// about returns the content of the document or magnet link of e. It is empty if e has none that can be parsed.
func (d *documents) about(e *queue.Entry) *about {
	of := document{gid: e.GID, added: e.Added, size: len(e.Document)}
	if len(e.URIs) == 1 && metainfo.IsMagnet(e.URIs[0]) {
		of.link = e.URIs[0]
	}
	if of.link == "" && of.size == 0 {
		return &about{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.known[of]
	if a != nil {
		return a
	}
	switch {
	case of.link != "":
		a = ofMagnet(of.link, e.GID)
	case metainfo.Looks(e.Document):
		a = ofTorrent(e.Document, e.GID)
	default:
		a = ofMetalink(e.Document)
	}
	if d.files += len(a.files) + 1; d.known == nil || d.files > mostFiles {
		d.known, d.files = map[document]*about{}, len(a.files)+1
	}
	d.known[of] = a
	return a
}

func ofMagnet(link string, g queue.GID) *about {
	m, err := metainfo.ParseMagnet(link)
	if err != nil {
		return &about{}
	}
	tiers := [][]string{}
	for _, tracker := range m.Trackers {
		tiers = append(tiers, []string{masked(tracker, g)})
	}
	return &about{hash: m.InfoHash.String(), name: cmp.Or(m.Name, m.InfoHash.String()),
		bittorrent: map[string]any{"announceList": tiers}}
}

func ofTorrent(document []byte, g queue.GID) *about {
	t, err := metainfo.Parse(bytes.NewReader(document))
	if err != nil {
		return &about{}
	}
	a, mode := &about{hash: t.InfoHash.String(), name: t.Name}, "multi"
	for _, f := range t.Files {
		a.files = append(a.files, described{f.Name, f.Size})
	}
	if len(t.Files) == 1 && t.Files[0].Path() == path.Base(t.Files[0].Name) && t.Files[0].Name == t.Name {
		mode = "single"
	}
	tiers := [][]string{}
	for _, tier := range t.Trackers {
		told := make([]string, len(tier))
		for i, tracker := range tier {
			told[i] = masked(tracker, g)
		}
		tiers = append(tiers, told)
	}
	a.bittorrent = map[string]any{"announceList": tiers, "mode": mode, "info": map[string]any{"name": t.Name}}
	return a
}

func ofMetalink(document []byte) *about {
	d, err := metalink.Read(bytes.NewReader(document))
	if err != nil || len(d.Files) == 0 {
		return &about{}
	}
	f := d.Files[0]
	a := &about{files: []described{{f.Name, max(0, f.Size)}}}
	for _, m := range f.Mirrors {
		a.uris = append(a.uris, m.URL.String())
	}
	return a
}
