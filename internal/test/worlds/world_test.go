package worlds

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"braid/internal/test/oracle"
)

// A World is servers, and a story that happens there.
type World struct {
	Sizes    []int // of the versions of the file
	Parties  []Party
	Commands []Command
}

// A Party is a server. It has the last of its faces whose time has come.
type Party struct {
	Name  string
	HTTPS bool
	Faces []Face
}

// A Face is what a server is like. The zero value has version 0, says nothing of it, and is in order.
type Face struct {
	From   int    // the command, counted from 0, from which it is like that
	After  int    // ... and how many answers it gave in that command before
	Has    string // content: the number of a version, with ~ (a byte is wrong), - (shorter) or + (longer) after it
	Status int    // of each answer
	Dead   string // refused, silent, tls, reset
	To     string // the party to which it redirects

	Date   string // Last-Modified: that of the version, none, or other
	Tag    string // no, own (of the content), one (always the same, wherever), host (of the server), weak, new (each time)
	Digest string // none, right, bad (malformed), or the content that it is of; x is of none
	Field  string // Digest, repr, or both: Digest, and a Repr-Digest that contradicts it
	On     string // where digest is: everywhere, or get, head, 302
	Links  string // mirrors, with commas
	LinkOn string // where those are
	Says   string // the content whose digest a document and a list beside the file give; x is none's; "": they are missing
	Signs  string // the content of which a signature is beside the file, with x before it that of an unknown key; "": none

	Length   string // right, none, huge (2^62), more
	Head     string // the same as of GET, size, tag, date, 405
	NoRanges bool
	Rate     int // bytes a second; 0: 4 MiB
	Cut      int // after so many bytes of a body
	Stall    int // after so many bytes of a body

	List    string // the content whose digest the list with the file's name gives, or right; x is of none; "": no list
	ListBy  string // the party to which that list redirects, or its fault: page, junk, twice, slow, 503
	ListSig string // the content whose list is signed, with x before it by an unknown key; "": no signature
	Index   bool   // the folder has an index
	API     string // of a forge: the content whose digest it gives; null: it gives none; other: of another URL
}

// A Command is what the user does.
type Command struct {
	Do        string // get, resume, verify
	Require   string
	Doc       string // url: that beside the file; or the content of one on disk, with t before it of a torrent
	List      string // the server from which the user has a list of digests
	Key       bool   // that may sign
	Sha       string // content whose digest is given, with resume in a list; x is of none
	Mirrors   string // with commas
	Newer     bool
	Turn      bool // of a watch
	Overwrite bool
	Continue  bool
	Refresh   bool
	Rename    bool
	Pipe      bool
	LessProof bool
	Login     bool   // a password for the server
	Same      bool   // it is in the process of the command before, as a daemon tries again
	Slowly    bool   // each host gets a request in 20 seconds
	Lookup    bool   // it looks for digests beside the file
	Bare      bool   // the key is given without a signature
	Older     bool   // the watch allows an older file
	NoLinks   bool   // --no-metalink
	Feed      string // content whose digest a feed of the server gives
	Mirror    string // party that the feed names as a mirror
	Store     bool   // the file goes to an object store
	End       string // interrupt or kill, and when: kill:bytes:30000, interrupt:asked:7, kill:rename to:1, kill:put:2
	Damage    string // before: key, state, part, journal, final, remove, clock
}

func (w *World) party(name string) *Party {
	for i := range w.Parties {
		if w.Parties[i].Name == name {
			return &w.Parties[i]
		}
	}
	return nil
}

// face is that which a party has in command k after some answers, and whether it is the only one of this command.
func (p *Party) face(k, answers int) (f Face, only bool) {
	only = true
	for _, g := range p.Faces {
		switch {
		case g.From > k:
		case g.From < k || g.After <= answers:
			f = g
		}
		only = only && (g.From != k || g.After == 0)
	}
	return f, only
}

// ranges reports whether a party always has ranges in command k.
func (p *Party) ranges(k int) bool {
	f, _ := p.face(k, 0)
	return !f.NoRanges && !slices.ContainsFunc(p.Faces, func(g Face) bool { return g.From == k && g.NoRanges })
}

// clone is a deep copy.
func (w *World) clone() *World {
	c := *w
	c.Sizes = append([]int(nil), w.Sizes...)
	c.Commands = append([]Command(nil), w.Commands...)
	c.Parties = append([]Party(nil), w.Parties...)
	for i := range c.Parties {
		c.Parties[i].Faces = append([]Face(nil), c.Parties[i].Faces...)
	}
	return &c
}

const (
	versions = 3
	most     = 2700 << 10
)

type made struct {
	data []byte
	sum  string
}

var contents struct {
	sync.Mutex
	of map[[2]string]made
}

var bases = sync.OnceValue(func() (all [versions][]byte) {
	for v := range all {
		all[v] = make([]byte, most)
		rand.NewChaCha8(sha256.Sum256([]byte{byte(v)})).Read(all[v])
	}
	return all
})

// content is what has this name.
func (w *World) content(name string) made {
	if name == "" {
		name = "0"
	}
	v := int(name[0] - '0')
	size := w.Sizes[v%len(w.Sizes)]
	key := [2]string{name, string([]byte{byte(size), byte(size >> 8), byte(size >> 16)})}
	contents.Lock()
	defer contents.Unlock()
	if c, ok := contents.of[key]; ok {
		return c
	}
	var data []byte
	base := bases()[v%versions]
	switch {
	case strings.HasSuffix(name, "~"):
		data = bytes.Clone(base[:size])
		data[size*2/3] ^= 1
	case strings.HasSuffix(name, "-"):
		data = base[:size*3/4]
	case strings.HasSuffix(name, "+"):
		data = base[:size+size/8]
	default:
		data = base[:size]
	}
	if contents.of == nil {
		contents.of = map[[2]string]made{}
	}
	c := made{data, oracle.SHA256(data)}
	contents.of[key] = c
	return c
}

// digest is the sha-256 that a word of a world stands for, in hex; "" if none.
func (w *World) digest(word, has string) string {
	switch word {
	case "", "bad":
		return ""
	case "right":
		return w.content(has).sum
	case "x":
		return oracle.SHA256([]byte("no file has this"))
	}
	return w.content(word).sum
}

func list(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Split(names, ",")
}

// well reports whether a face does nothing that a good mirror would not.
func (f *Face) well(w *World) bool {
	fast := f.Cut == 0 && f.Stall == 0 && (f.Rate == 0 || f.Rate >= 1<<20)
	up := f.Status == 0 && f.Dead == "" && f.To == "" && !f.NoRanges && fast
	honest := f.Length == "" && f.Head == "" && !f.bad() && (f.Digest == "" || w.digest(f.Digest, f.Has) == w.content(f.Has).sum)
	return up && honest
}

// bad reports whether a field is malformed, or says nothing that could be relied on.
func (f *Face) bad() bool {
	return f.Digest == "bad" || f.Digest != "" && f.Field == "both" || f.Tag == "new" || f.Tag == "one"
}

// place is what the oracle is told of a party in command k.
func (w *World) place(p *Party, k int) oracle.Place {
	f, only := p.face(k, 0)
	at := oracle.Place{
		Date: f.Date, Steady: only, Well: only && f.well(w), Ranges: p.ranges(k) && f.Length != "huge",
		Digest: w.digest(f.Digest, f.Has), Bad: f.bad() || f.Length != "" || f.Head != "",
	}
	up := f.Dead == "" && f.Status == 0
	if up && f.To == "" {
		at.Content = f.has()
	}
	if states := f.On == "" || (f.On == "302") == (f.To != ""); !up || !states {
		at.Digest = ""
	}
	if at.Digest != "" && (f.LinkOn == "" || f.LinkOn == f.On) {
		at.Links = list(f.Links)
	}
	return at
}

func (f *Face) has() string {
	if f.Has == "" {
		return "0"
	}
	return f.Has
}
