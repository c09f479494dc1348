package fsystest

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"time"
)

// sector is the unit that a disk writes atomically.
const sector = 512

// change is an entry of the log.
type change struct {
	kind     kind
	n        *inode
	off      int64 // offset of data; or the new length
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

// binding binds a name to an inode; nil removes the name.
type binding struct {
	name string
	n    *inode
}

// note appends to the log. The caller holds mu.
func (d *Disk) note(c change) { d.log = append(d.log, c) }

// Changes returns the length of the log. The number can be passed to Crash later.
func (d *Disk) Changes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// Fate decides which unsynced changes survive a loss of power.
type Fate struct {
	// Name identifies the fate in messages.
	Name string
	// keeps decides about changes other than data. part decides which sectors of a write are kept and whether the
	// length grows.
	keeps func(k kind) bool
	part  func(sectors int) (kept func(i int) bool, grows bool)
}

func (f Fate) String() string { return f.Name }

func all(int) bool  { return true }
func none(int) bool { return false }

// The fates that are not random.
var (
	// Lost drops all unsynced changes.
	Lost = Fate{"lost", func(kind) bool { return false }, func(int) (func(int) bool, bool) { return none, false }}
	// Kept keeps all changes, as after a kill.
	Kept = Fate{"kept", func(kind) bool { return true }, func(int) (func(int) bool, bool) { return all, true }}
	// Names keeps names but no content. Files have the length of the last sync.
	Names = Fate{"names only", func(k kind) bool { return k == entries }, func(int) (func(int) bool, bool) { return none, false }}
	// Zeroes keeps names and lengths, with zeros instead of the content.
	Zeroes = Fate{"zeroes", func(kind) bool { return true }, func(int) (func(int) bool, bool) { return none, true }}
	// Nameless keeps content but no names.
	Nameless = Fate{"nameless", func(k kind) bool { return k != entries }, func(int) (func(int) bool, bool) { return all, true }}
)

// Torn returns a random fate that decides about each name and each sector independently.
func Torn(seed uint64) Fate {
	r := rand.New(rand.NewPCG(seed, 1))
	share := 1 + r.IntN(3) // of four
	coin := func() bool { return r.IntN(4) < share }
	page := 1 << r.IntN(4) // number of sectors with the same fate: 512 bytes to 4 KiB
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

// Fates returns all fates that are not random, and n torn ones.
func Fates(seed uint64, n int) []Fate {
	list := []Fate{Lost, Kept, Names, Zeroes, Nameless}
	for i := range n {
		list = append(list, Torn(seed+uint64(i)))
	}
	return list
}

// Crash returns the disk after a loss of power that followed the first n changes, with the given fate for unsynced
// changes.
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

// empty returns n in the state after its creation.
func (n *inode) empty() *inode {
	return &inode{id: n.id, dir: n.dir, born: n.born, mode: n.born, entries: map[string]*inode{}}
}

// safe reports for each of the first n changes whether it was synced. The caller holds mu.
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

// apply repeats a change.
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

// tear repeats a write for some of its sectors.
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

// resolve replaces the entries by the inodes that survived. A file of which nothing survived is empty.
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
