package fsystest

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"time"
)

// sector is what a disk writes whole or not at all.
const sector = 512

// A change is a line of the log.
type change struct {
	kind     kind
	n        *inode
	off      int64 // of data; or the new length
	data     []byte
	mode     fs.FileMode
	time     time.Time
	bindings []binding
}

type kind uint8

const (
	data kind = iota
	length
	meta    // mode and time
	entries // of a folder
	syncData
	syncAll
	syncEntries
	lostSync
)

// A binding is what a name stands for from now on; nil: nothing.
type binding struct {
	name string
	n    *inode
}

// note adds to the log. The caller holds mu.
func (d *Disk) note(c change) { d.log = append(d.log, c) }

// Changes is how long the log is. Who remembers it knows afterwards what was done before.
func (d *Disk) Changes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// A Fate decides what becomes, in a loss of power, of what no sync had put on disk.
type Fate struct {
	// Name says which one it is.
	Name string
	// keeps decides about changes other than of data, and part which sectors of data are kept and whether the length grows.
	keeps func(k kind) bool
	part  func(sectors int) (kept func(i int) bool, grows bool)
}

func (f Fate) String() string { return f.Name }

func all(int) bool  { return true }
func none(int) bool { return false }

// The fates that need no chance.
var (
	// Lost: nothing of it is there.
	Lost = Fate{"lost", func(kind) bool { return false }, func(int) (func(int) bool, bool) { return none, false }}
	// Kept: all of it is. It is also what a kill leaves.
	Kept = Fate{"kept", func(kind) bool { return true }, func(int) (func(int) bool, bool) { return all, true }}
	// Names: names are, and no content; the files are as long as they were at the last sync.
	Names = Fate{"names only", func(k kind) bool { return k == entries }, func(int) (func(int) bool, bool) { return none, false }}
	// Zeroes: names and lengths are, and zeroes in place of the content.
	Zeroes = Fate{"zeroes", func(kind) bool { return true }, func(int) (func(int) bool, bool) { return none, true }}
	// Nameless: contents are, and no names.
	Nameless = Fate{"nameless", func(k kind) bool { return k != entries }, func(int) (func(int) bool, bool) { return all, true }}
)

// Torn is a fate by chance: each name and each sector for itself.
func Torn(seed uint64) Fate {
	r := rand.New(rand.NewPCG(seed, 1))
	share := 1 + r.IntN(3) // of four
	coin := func() bool { return r.IntN(4) < share }
	page := 1 << r.IntN(4) // sectors that have the same fate: 512 bytes to 4 KiB
	return Fate{
		Name:  fmt.Sprintf("torn %d", seed),
		keeps: func(kind) bool { return coin() },
		part: func(sectors int) (func(int) bool, bool) {
			kept := make([]bool, sectors/page+1)
			for i := range kept {
				kept[i] = coin()
			}
			return func(i int) bool { return kept[i/page] }, coin()
		},
	}
}

// Fates are all that need no chance, and n torn ones.
func Fates(seed uint64, n int) []Fate {
	list := []Fate{Lost, Kept, Names, Zeroes, Nameless}
	for i := range n {
		list = append(list, Torn(seed+uint64(i)))
	}
	return list
}

// Crash is the disk as it is found when power was lost after the first n changes, and what no sync had put on disk has that fate.
func (d *Disk) Crash(n int, fate Fate) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	safe := d.safe(n)
	found := make(map[uint64]*inode, len(d.base))
	for id, n := range d.base {
		found[id] = n.copied()
		found[id].names = 0
	}
	for i, c := range d.log[:n] {
		at := found[c.n.id]
		if at == nil {
			at = c.n.empty()
			found[c.n.id] = at
		}
		switch {
		case c.kind == data && !safe[i]:
			at.tear(c, fate)
		case safe[i] || c.kind < syncData && fate.keeps(c.kind):
			at.apply(c)
		}
	}
	after := &Disk{last: d.last, root: found[d.root.id]}
	after.root.resolve(found)
	after.root.names = 1
	after.Settle()
	return after
}

// empty is n as it was made.
func (n *inode) empty() *inode {
	return &inode{id: n.id, dir: n.dir, born: n.born, mode: n.born, entries: map[string]*inode{}}
}

// safe says which of the first n changes a sync has put on disk. The caller holds mu.
func (d *Disk) safe(n int) []bool {
	safe := make([]bool, n)
	synced := map[kind]map[*inode]bool{syncData: {}, syncAll: {}, syncEntries: {}}
	for i := n - 1; i >= 0; i-- {
		switch c := d.log[i]; c.kind {
		case syncData, syncAll, syncEntries:
			synced[c.kind][c.n] = true
		case lostSync:
			synced[syncData][c.n], synced[syncAll][c.n] = false, false
		case data, length:
			safe[i] = synced[syncData][c.n] || synced[syncAll][c.n]
		case meta:
			safe[i] = synced[syncAll][c.n]
		case entries:
			safe[i] = synced[syncEntries][c.n]
		}
	}
	return safe
}

// apply does a change again.
func (n *inode) apply(c change) {
	switch c.kind {
	case data:
		n.data.write(c.data, c.off)
	case length:
		n.data.resize(c.off)
	case meta:
		n.mode, n.time = c.mode, c.time
	case entries:
		for _, b := range c.bindings {
			if b.n == nil {
				delete(n.entries, b.name)
			} else {
				n.entries[b.name] = b.n
			}
		}
	}
}

// tear writes some sectors of what was written.
func (n *inode) tear(c change, fate Fate) {
	end := c.off + int64(len(c.data))
	first := c.off / sector
	kept, grows := fate.part(int((end-1)/sector-first) + 1)
	if grows {
		n.data.resize(max(n.data.size, end))
	}
	for at := c.off; at < end; {
		next := min((at/sector+1)*sector, end)
		if kept(int(at/sector - first)) {
			n.data.write(c.data[at-c.off:next-c.off], at)
		}
		at = next
	}
}

// resolve makes the entries those that were found. A file that nothing was found of is empty.
func (n *inode) resolve(found map[uint64]*inode) {
	n.entries = maps.Clone(n.entries)
	for name, e := range n.entries {
		at := found[e.id]
		if at == nil {
			at = e.empty()
			found[e.id] = at
		}
		n.entries[name] = at
		if at.names++; at.dir {
			at.resolve(found)
		}
	}
}
