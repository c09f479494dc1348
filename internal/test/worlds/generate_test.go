package worlds

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// A maker makes worlds by chance. What is in order is more frequent than what is not: a story in which all is wrong ends soon.
type maker struct {
	*rand.Rand
	w     *World
	names []string // of parties but a
}

// newMaker returns a maker that changes w with random numbers of its own.
func newMaker(seed, stream uint64, w *World, names []string) *maker {
	return &maker{Rand: rand.New(rand.NewPCG(seed, stream)), w: w, names: names}
}

// generate returns the world of a seed.
func generate(seed uint64) *World { return makeWorld(seed, false) }

// makeWorld returns the world of a seed. In a quarter of them, or if found is true, there is something beside the
// file.
func makeWorld(seed uint64, found bool) *World {
	m := newMaker(seed, 0x776f726c6473, &World{}, nil)
	w := m.world()
	of := func(stream uint64) *maker { return newMaker(seed, stream, w, m.names) }
	of(0x70726f6f6673).proofs()
	of(0x6461656d6f6e).daemons()
	of(0x7761746368).watches()
	of(0x6f7074696f6e73).options()
	of(0x75706c6f6164).uploads()
	of(0x6c61726765).enlarges()
	if m := of(0x666f756e64); m.one(4) || found {
		m.founds()
	}
	return w
}

// enlarges makes the files of some worlds eight times as large, and with them the offsets at which something happens:
// files of more than a MiB are hashed while they come, and resumed from their middle.
func (m *maker) enlarges() {
	const times = 8
	if m.w.Sizes[0] < 150000 || m.w.Sizes[0] > 1<<20 || !m.one(16) {
		return
	}
	for k := range m.w.Sizes {
		m.w.Sizes[k] *= times
	}
	for i := range m.w.Parties {
		for n := range m.w.Parties[i].Faces {
			f := &m.w.Parties[i].Faces[n]
			f.Cut, f.Stall, f.Rate = f.Cut*times, f.Stall*times, f.Rate*times
		}
	}
	for k := range m.w.Commands {
		if end := parseMoment(m.w.Commands[k].End); end.event == "bytes" {
			m.w.Commands[k].End = end.how + ":bytes:" + strconv.Itoa(end.n*times)
		}
	}
}

// one reports true once in n times.
func (m *maker) one(n int) bool { return m.IntN(n) == 0 }

func pick[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

func (m *maker) world() *World {
	w := m.w
	size := pick(m, 9000, 60000, 150000, 250000)
	w.Sizes = []int{size, pick(m, size, size, 60000, 200000), pick(m, size, 150000)}
	m.names = []string{"m", "n", "t"}[:m.IntN(4)]
	w.Parties = append(w.Parties, Party{Name: "a", HTTPS: m.one(2), Faces: []Face{m.asked()}})
	for _, name := range m.names {
		w.Parties = append(w.Parties, Party{Name: name, HTTPS: m.one(2), Faces: []Face{m.mirror(name)}})
	}
	mirrors := m.some(m.names)
	for range pick(m, 1, 1, 2, 2, 2, 3, 3, 4) {
		w.Commands = append(w.Commands, m.command(mirrors))
	}
	m.ends()
	m.underWay()
	defer m.rare()
	defer m.sameDates()
	for i := range w.Parties {
		p := &w.Parties[i]
		for m.one(2) && len(p.Faces) < 3 {
			f := p.Faces[len(p.Faces)-1]
			k := m.IntN(len(w.Commands))
			if k < f.From {
				continue
			}
			if f.From, f.After = k, 0; m.one(3) {
				f.After = 1 + m.IntN(6)
			}
			m.change(p.Name, &f)
			p.Faces = append(p.Faces, f)
		}
	}
	return w
}

// underWay lets the asked server break off and be gone, and the servers of a mirror network lead elsewhere each time,
// as users meet it.
func (m *maker) underWay() {
	for i := range m.w.Parties {
		p := &m.w.Parties[i]
		f := p.Faces[0]
		f.After = 1 + m.IntN(3)
		switch {
		case p.Name == "a" && m.one(6):
			p.Faces[0].Cut, f.Dead = leastCut+m.IntN(m.w.Sizes[0]), "refused"
		case p.Name != "a" && f.To != "" && m.one(2):
			f.To = pick(m, m.names...)
		default:
			continue
		}
		p.Faces = append(p.Faces, f)
	}
}

// rare has the asked server contradict itself, or fail at TLS: by chance alone fewer than one command in a hundred would end for
// that.
func (m *maker) rare() {
	faces := m.w.Parties[0].Faces
	f := &faces[m.IntN(len(faces))]
	switch m.IntN(48) {
	case 0, 1:
		f.Digest, f.On = "bad", ""
	case 2:
		f.Digest, f.On, f.Field = "right", "", "both"
	case 3:
		f.Dead = "tls"
	}
}

// sameDates takes the dates from all servers of some worlds: they would tell versions apart.
func (m *maker) sameDates() {
	if !m.one(3) {
		return
	}
	for _, p := range m.w.Parties {
		for i := range p.Faces {
			p.Faces[i].Date = "none"
		}
	}
}

// some are some of the names, with commas.
func (m *maker) some(names []string) string {
	var all []string
	for _, name := range names {
		if m.one(2) {
			all = append(all, name)
		}
	}
	return strings.Join(all, ",")
}

// asked is what the asked server is like at first.
func (m *maker) asked() Face {
	f := Face{Tag: pick(m, "", "own", "own", "own", "weak", "one")}
	if !m.one(3) {
		f.Digest, f.Field, f.On = "right", pick(m, "", "", "repr"), pick(m, "", "", "", "head", "get")
	}
	if m.one(2) {
		f.Links = m.some(m.names)
	}
	if len(m.names) > 0 && m.one(4) {
		f.To, f.On = pick(m, m.names...), pick(m, "", "302", "get")
	}
	f.Rate = pick(m, 0, 0, 0, 100<<10, 400<<10)
	for m.one(4) {
		m.change("a", &f)
	}
	return f
}

func (m *maker) mirror(name string) Face {
	f := Face{Tag: pick(m, "", "own", "own", "host", "one")}
	if m.one(3) {
		f.Digest = "right"
	}
	f.Rate = pick(m, 0, 0, 0, 100<<10, 400<<10)
	if m.one(3) {
		f.Has = pick(m, "1", "0~", "0-", "0+", "2")
	}
	if m.one(6) { // it answers as the server of a mirror network does
		f.To, f.Tag, f.Links = pick(m, m.names...), pick(m, "own", "one"), m.some(m.names)
		f.Digest, f.On = pick(m, "right", "1"), pick(m, "", "302")
	}
	for m.one(3) {
		m.change(name, &f)
	}
	return f
}

// leastCut is how much comes before an answer breaks off: where a few bytes come each time, a file takes very many requests.
const leastCut = 6000

// change changes something of a face.
func (m *maker) change(name string, f *Face) {
	switch m.IntN(14) {
	case 0, 1:
		f.Has = pick(m, "", "1", "1", "2", "0~", "1~", "0-", "0+")
	case 2:
		f.Status = pick(m, 0, 403, 404, 404, 410, 416, 429, 500, 503, 503)
	case 3, 4:
		f.Dead = pick(m, "", "refused", "refused", "silent", "tls", "reset")
	case 5:
		f.Date = pick(m, "", "none", "other")
	case 6:
		f.Tag = pick(m, "", "own", "one", "host", "weak", "new")
	case 7:
		f.Digest, f.On = pick(m, "", "right", "right", "0", "1", "x", "bad"), pick(m, "", "", "get", "head", "302")
	case 8:
		f.Links, f.LinkOn = m.some(m.names), pick(m, "", "", "get", "head", "302")
	case 9:
		f.Length = pick(m, "", "none", "huge", "more")
	case 10:
		f.Head = pick(m, "", "size", "tag", "date", "405")
	case 11:
		f.Rate, f.NoRanges = pick(m, 0, 2<<10, 20<<10, 100<<10), m.one(3)
	case 12:
		f.Cut, f.Stall = 0, 0
		if m.one(2) {
			f.Cut = leastCut + m.IntN(m.w.Sizes[0])
		} else {
			f.Stall = leastCut + m.IntN(m.w.Sizes[0])
		}
	case 13:
		if f.To = ""; m.one(2) && len(m.names) > 0 {
			f.To = pick(m, m.names...)
		}
	}
	if f.To != "" && m.one(3) { // a server of a mirror network leads elsewhere each time
		f.To = pick(m, m.names...)
	}
}

// command is one of a user who mostly says the same again.
func (m *maker) command(mirrors string) Command {
	c := Command{Do: "get", Mirrors: mirrors}
	switch m.IntN(12) {
	case 0:
		c.Do = "resume"
		c.Mirrors = ""
	case 1:
		c.Do = pick(m, "verify", "repair")
		c.Mirrors = ""
	}
	if m.one(6) {
		c.Mirrors = m.some(m.names)
	}
	if m.one(4) {
		c.Require = "digest"
	}
	if m.one(4) {
		c.Sha = pick(m, "0", "0", "0", "1", "x")
	}
	flags := []*bool{&c.Newer, &c.Newer, &c.Overwrite, &c.Continue, &c.Refresh, &c.Rename, &c.Pipe, &c.LessProof,
		&c.Login, &c.Slowly}
	for _, flag := range flags {
		*flag = *flag || m.one(14)
	}
	if m.one(3) {
		c.Newer, c.Continue, c.Refresh, c.Rename, c.Pipe = false, false, false, false, false
	}
	if c.Do != "get" { // which have no such options
		c.Newer, c.Refresh, c.Rename, c.Pipe = false, false, false, false
	}
	if c.Refresh {
		c.Pipe = false
	}
	if c.Pipe {
		c.Newer = false
	}
	return c
}

// ends decides how commands end, and what happens between them.
func (m *maker) ends() {
	w := m.w
	for k := range w.Commands {
		c := &w.Commands[k]
		if k > 0 && strings.HasPrefix(w.Commands[k-1].End, "kill") && m.one(3) { // the user looks what is left
			*c = Command{Do: "resume", Require: c.Require}
			if m.one(3) {
				c.Damage = "final"
			}
		} else if k > 0 && m.one(6) {
			c.Damage = pick(m, "key", "state", "part", "journal", "final", "final", "remove", "remove", "clock")
		}
		if k == len(w.Commands)-1 && !m.one(8) || m.one(3) {
			continue
		}
		how := pick(m, "interrupt", "interrupt", "kill")
		switch m.IntN(3) {
		case 0, 1:
			c.End = how + ":bytes:" + strconv.Itoa(1+m.IntN(w.Sizes[0]))
		case 2:
			event := pick(m, "asked", "write", "sync", "rename to", "remove", "create", "sync folder", "fdatasync")
			c.End = how + ":" + event + ":" + strconv.Itoa(1+m.IntN(pick(m, 1, 2, 4, 20)))
		}
	}
}

// daemons runs the gets of an eighth of the worlds in one process, as a daemon does, which tries again what failed or was
// held back, as with -c. It uses random numbers of its own, so that the other worlds do not change.
func (m *maker) daemons() {
	if !m.one(8) {
		return
	}
	w := m.w
	for k := range w.Commands[1:] {
		before, c := w.Commands[k], &w.Commands[k+1]
		if c.Same = before.Do == "get" && c.Damage == ""; c.Same && !m.one(3) {
			end := c.End
			*c = before
			c.Same, c.End, c.Damage, c.Continue = true, end, "", !before.Refresh && m.one(2)
		}
	}
}

// watches makes the commands of a twelfth of the worlds turns of a watch, which demand the same each time.
func (m *maker) watches() {
	if !m.one(12) {
		return
	}
	first := m.w.Commands[0]
	for k := range m.w.Commands {
		if c := &m.w.Commands[k]; c.Do == "get" {
			*c = Command{
				Do: "get", Turn: true, Require: first.Require, Mirrors: first.Mirrors, List: first.List, Key: first.Key,
				Same: c.Same, Slowly: c.Slowly, End: c.End, Damage: c.Damage,
			}
		}
	}
}

// options gives the commands of an eighth of the worlds rarer options.
func (m *maker) options() {
	if !m.one(8) {
		return
	}
	for k := range m.w.Commands {
		c := &m.w.Commands[k]
		c.Older = c.Turn && m.one(2)
		if c.Do == "get" && c.Doc == "" {
			c.NoLinks = m.one(3)
			c.Feed = pick(m, "", "0", "0", "1", "x")
			if c.Feed != "" && len(m.names) > 0 && m.one(3) {
				c.Mirror = pick(m, m.names...)
			}
		}
	}
}
