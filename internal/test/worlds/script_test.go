package worlds

import (
	"errors"
	"fmt"
	"strings"
)

// script writes a world in the language of testdata/script, with the exit codes that its commands had: what the servers are like,
// and what is to be typed. Not each world can be written so: there are no kills, and servers change between commands only.
func (w *World) script(codes []int) (string, error) {
	var b strings.Builder
	made := map[string]bool{}
	for _, p := range w.Parties {
		for _, f := range p.Faces {
			odd := f.Length+f.Head+f.LinkOn+f.List+f.API != "" || f.Field == "both" || strings.ContainsAny(f.Has, "~-+")
			if odd || f.Index || p.HTTPS || f.After > 0 || f.Stall > 0 {
				return "", errors.New("a server that scripts have no words for")
			}
			if name := f.has(); !made[name] {
				made[name] = true
				fmt.Fprintf(&b, "randfile %s/f.bin %d\n", name, len(w.content(name).data))
			}
		}
	}
	for _, p := range w.byUse() {
		fmt.Fprintf(&b, "mirror %s %s/f.bin %s\n", p.Name, p.Faces[0].has(), w.words(&p.Faces[0]))
	}
	for k, c := range w.Commands {
		for _, p := range w.Parties {
			for i, f := range p.Faces {
				if i > 0 && f.From == k && k > 0 {
					if f.has() != p.Faces[0].has() {
						return "", errors.New("a server whose file is another one later")
					}
					fmt.Fprintf(&b, "mirror %s %s\n", p.Name, w.words(&p.Faces[i]))
				}
			}
		}
		line, err := w.line(c, codes[k])
		if err != nil {
			return "", err
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// byUse are the parties, those before others that name them.
func (w *World) byUse() (all []*Party) {
	done := map[string]bool{}
	var add func(p *Party)
	add = func(p *Party) {
		if p == nil || done[p.Name] {
			return
		}
		done[p.Name] = true
		for _, f := range p.Faces {
			for _, m := range append(list(f.Links), f.To) {
				add(w.party(m))
			}
		}
		all = append(all, p)
	}
	for i := range w.Parties {
		add(&w.Parties[i])
	}
	return all
}

// words are those of mirror in a script.
func (w *World) words(f *Face) string {
	var words []string
	add := func(when bool, word string) {
		if when {
			words = append(words, word)
		}
	}
	add(f.Dead != "", "status=503")
	add(f.Status != 0, fmt.Sprint("status=", f.Status))
	add(f.To != "", "redirect=$"+f.To)
	add(f.Tag == "own" || f.Tag == "host", `etag="`+f.has()+`"`)
	add(f.Tag == "one", `etag="one"`)
	add(f.Tag == "weak", `etag=W/"w"`)
	add(f.Digest == "right", "digest")
	add(f.Digest != "" && f.Digest != "right", "digest="+f.Digest+"/f.bin")
	add(f.NoRanges, "ignore-range")
	add(f.Cut > 0, fmt.Sprint("cut=", f.Cut))
	for i, m := range list(f.Links) {
		add(true, fmt.Sprintf("link=$%s;pri=%d", m, i+1))
	}
	return strings.Join(append(words, "rate=64K"), " ")
}

// line is a command of a script.
func (w *World) line(c Command, code int) (string, error) {
	m := parseMoment(c.End)
	odd := c.Pipe || c.Doc+c.List+c.Feed != "" || c.Key || c.Same || c.Turn || c.Lookup || c.Store
	if odd || c.Damage != "" && c.Damage != "remove" || m.how != "" && (m.how != "interrupt" || m.event != "bytes") {
		return "", errors.New("a command that scripts have no words for")
	}
	words := []string{"braid", "get"}
	if c.Do == "resume" {
		words = []string{"braid", "parts", "resume"}
	} else if c.Do != "get" {
		return "", errors.New("a command that scripts have no words for")
	}
	for _, o := range []struct {
		when bool
		word string
	}{
		{c.Newer, "-N"}, {c.Overwrite, "--overwrite"}, {c.Continue, "-c"}, {c.Rename, "--rename"},
		{c.LessProof, "--allow-less-proof"},
		{c.NoLinks, "--no-metalink"},
	} {
		if o.when {
			words = append(words, o.word)
		}
	}
	if c.Require != "" {
		words = append(words, "--require", c.Require)
	}
	if c.Sha != "" {
		words = append(words, "--sha256", w.digest(c.Sha, ""))
	}
	for _, m := range list(c.Mirrors) {
		words = append(words, "--mirror", "$"+m)
	}
	how := fmt.Sprint("exits ", code)
	if m.how != "" {
		how = fmt.Sprintf("interrupt %d 130", m.n)
		words = append(words, "--json")
	}
	line := how + " " + strings.Join(words, " ")
	if c.Do == "get" {
		line += " $a"
	}
	if c.Damage == "remove" {
		line = "rm f.bin\n" + line
	}
	return line + "\n", nil
}
