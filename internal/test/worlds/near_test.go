package worlds

import (
	"fmt"
	"math/rand/v2"
)

// near is a kept story of which one to three things are different. Faults are found there some ten times as often as in
// worlds that are made by chance alone: what was mended once has neighbours.
func near(seed uint64, texts []string) (*World, error) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0x6e656172))}
	w, err := parseWorld(texts[m.IntN(len(texts))])
	if err != nil {
		return nil, err
	}
	m.w = w
	for _, p := range w.Parties {
		if p.Name != "a" {
			m.names = append(m.names, p.Name)
		}
	}
	if len(m.names) == 0 || m.one(4) {
		m.addMirror()
	}
	for range 1 + m.IntN(3) {
		if m.one(2) {
			m.changeParty()
		} else {
			m.changeCommand()
		}
	}
	if m := newMaker(seed, 0x666f756e64, w, m.names); m.one(4) {
		m.founds()
	}
	newMaker(seed, 0x6f7074696f6e73, w, m.names).options()
	newMaker(seed, 0x75706c6f6164, w, m.names).uploads()
	newMaker(seed, 0x6c61726765, w, m.names).enlarges()
	return w, nil
}

// addMirror adds a server, if there are not all yet.
func (m *maker) addMirror() {
	for _, name := range []string{"m", "n", "t"} {
		if m.w.party(name) == nil {
			m.names = append(m.names, name)
			m.w.Parties = append(m.w.Parties, Party{Name: name, HTTPS: m.one(2), Faces: []Face{m.mirror(name)}})
			return
		}
	}
}

// changeParty changes a face of a server, or gives it another one later.
func (m *maker) changeParty() {
	p := &m.w.Parties[m.IntN(len(m.w.Parties))]
	if !m.one(3) || len(p.Faces) > 3 {
		m.change(p.Name, &p.Faces[m.IntN(len(p.Faces))])
		return
	}
	f := p.Faces[len(p.Faces)-1]
	if k := m.IntN(len(m.w.Commands)); k > f.From {
		f.From, f.After = k, 0
	} else {
		f.After += 1 + m.IntN(4)
	}
	m.change(p.Name, &f)
	p.Faces = append(p.Faces, f)
}

// changeCommand changes what the user does, or has it done again.
func (m *maker) changeCommand() {
	w := m.w
	c := &w.Commands[m.IntN(len(w.Commands))]
	switch m.IntN(12) {
	case 0:
		c.Sha, c.Doc = pick(m, "", "0", "1", "x"), ""
	case 1:
		c.Mirrors = m.some(m.names)
	case 2:
		if c.Do == "get" {
			c.Newer, c.Refresh, c.Pipe = !c.Newer, false, false
		}
	case 3:
		c.Require = pick(m, "", "digest")
	case 4:
		c.Damage = pick(m, "", "key", "state", "journal", "final", "remove", "clock")
	case 5:
		if len(w.Commands) < 5 {
			w.Commands = append(w.Commands, *c)
		}
	case 7:
		m.sayAndSign()
		if c.Do == "get" {
			c.List = pick(m, append([]string{"", "a"}, m.names...)...)
		}
	case 8:
		m.sayAndSign()
		if c.Do == "get" && !c.Turn { // a watch has no document on disk
			c.Doc, c.Sha = pick(m, "", "0", "1", "t0", "t1"), ""
		}
	case 9:
		m.sayAndSign()
		if c.Do == "get" {
			c.Key = !c.Key
		}
	case 10:
		c.Same = !c.Same
	case 11:
		m.turns()
	case 6:
		how := pick(m, "interrupt", "kill")
		c.End = pick(m, "", fmt.Sprintf("%s:bytes:%d", how, 1+m.IntN(w.Sizes[0])), fmt.Sprintf("%s:asked:%d", how, 1+m.IntN(8)),
			fmt.Sprintf("%s:write:%d", how, 1+m.IntN(6)))
	}
}

// sayAndSign puts a document, a list and a signature beside the file of a server.
func (m *maker) sayAndSign() {
	p := &m.w.Parties[m.IntN(len(m.w.Parties))]
	f := &p.Faces[m.IntN(len(p.Faces))]
	f.Says = pick(m, f.has(), "0", "1", "")
	f.Signs = pick(m, f.has(), "0", "1", "x0", "")
}

// turns makes what replaces an older file turns of a watch.
func (m *maker) turns() {
	for k := range m.w.Commands {
		if c := &m.w.Commands[k]; c.Do == "get" && c.Doc == "" && !c.Refresh && !c.Pipe && !c.Rename {
			c.Turn, c.Newer, c.Overwrite, c.Continue = true, false, false, false
		}
	}
}
