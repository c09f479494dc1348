package worlds

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/internal/test/oracle"
)

// fails reports whether the story of w has the violation, n times of n.
func fails(t *testing.T, w *World, v oracle.Violation, n int) bool {
	for range n {
		same := func(x oracle.Violation) bool { return class(x) == class(v) }
		if !slices.ContainsFunc(oracle.Judge(tell(t, w)), same) {
			return false
		}
	}
	return true
}

// shrink is the smallest story found in which v is still true. At most so many stories are told.
func shrink(t *testing.T, w *World, v oracle.Violation, most int) *World {
	told := 0
	for again := true; again; {
		again = false
		for _, smaller := range simpler(w) {
			if told++; told > most {
				return w
			}
			if fails(t, smaller, v, 2) {
				w, again = smaller, true
				break
			}
		}
	}
	return w
}

// halfStored reports whether some commands put the file into a store and others do not. These have not the same file, as
// the oracle assumes.
func (w *World) halfStored() bool {
	stores := func(c Command) bool { return c.Store }
	return slices.ContainsFunc(w.Commands, stores) && slices.ContainsFunc(w.Commands, func(c Command) bool { return !c.Store })
}

// simpler are worlds that are simpler by one step, the largest steps first.
func simpler(w *World) (all []*World) {
	try := func(change func(*World)) {
		c := w.clone()
		if change(c); c.String() != w.String() && !c.halfStored() {
			all = append(all, c)
		}
	}
	try(func(c *World) {
		for k := range c.Commands {
			c.Commands[k].Store = false
		}
	})
	for k := range w.Commands {
		try(func(c *World) { c.dropCommand(k) })
	}
	for i := 1; i < len(w.Parties); i++ {
		try(func(c *World) { c.dropParty(i) })
	}
	for i, p := range w.Parties {
		for n := range p.Faces {
			if len(p.Faces) > 1 {
				try(func(c *World) {
					f := c.Parties[i].Faces
					if f = slices.Delete(f, n, n+1); n == 0 {
						f[0].From, f[0].After = 0, 0
					}
					c.Parties[i].Faces = f
				})
			}
		}
	}
	for k := range w.Commands {
		zero(w.Commands[k], func(field int) {
			try(func(c *World) { reflect.ValueOf(&c.Commands[k]).Elem().Field(field).SetZero() })
		})
		try(func(c *World) { c.Commands[k].Do = "get" })
		try(func(c *World) {
			c.Commands[k].End = strings.Replace(c.Commands[k].End, "kill:bytes", "interrupt:bytes", 1)
		})
	}
	for i, p := range w.Parties {
		try(func(c *World) { c.Parties[i].HTTPS = false })
		for n := range p.Faces {
			zero(p.Faces[n], func(field int) {
				try(func(c *World) { reflect.ValueOf(&c.Parties[i].Faces[n]).Elem().Field(field).SetZero() })
			})
			try(func(c *World) { c.Parties[i].Faces[n].simplify() })
		}
	}
	try(func(c *World) { c.Sizes = c.Sizes[:1] })
	return all
}

// simplify replaces values by those that are easier to read.
func (f *Face) simplify() {
	if f.Dead != "" {
		f.Dead = "refused"
	}
	if f.Has != "" {
		f.Has = "1"
	}
	if f.Status != 0 {
		f.Status = 404
	}
}

// zero calls f for each field of x that is not zero, but for what a command does.
func zero(x any, f func(field int)) {
	v := reflect.ValueOf(x)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() && v.Type().Field(i).Name != "Do" {
			f(i)
		}
	}
}

func (w *World) dropCommand(k int) {
	if len(w.Commands) == 1 {
		return
	}
	w.Commands = slices.Delete(w.Commands, k, k+1)
	for i := range w.Parties {
		for n := range w.Parties[i].Faces {
			if f := &w.Parties[i].Faces[n]; f.From > k {
				f.From--
			}
		}
	}
}

func (w *World) dropParty(i int) {
	name := w.Parties[i].Name
	w.Parties = slices.Delete(w.Parties, i, i+1)
	without := func(names string) string {
		return strings.Join(slices.DeleteFunc(list(names), func(s string) bool { return s == name }), ",")
	}
	for k := range w.Commands {
		w.Commands[k].Mirrors = without(w.Commands[k].Mirrors)
		w.Commands[k].List = without(w.Commands[k].List)
		w.Commands[k].Mirror = without(w.Commands[k].Mirror)
	}
	for i := range w.Parties {
		for n := range w.Parties[i].Faces {
			f := &w.Parties[i].Faces[n]
			if f.Links = without(f.Links); f.To == name {
				f.To = ""
			}
			if f.ListBy == name {
				f.ListBy = ""
			}
		}
	}
}

// signature is what the stories of a family have in common: the violation, what the user does, and what is wrong with which
// party, without numbers.
func signature(w *World, v oracle.Violation) string {
	roles := map[string]string{"a": "A"}
	for _, c := range w.Commands {
		for _, m := range list(c.Mirrors) {
			roles[m] += "M"
		}
	}
	for _, p := range w.Parties {
		for _, f := range p.Faces {
			for _, m := range list(f.Links) {
				if !strings.Contains(roles[m], "L") {
					roles[m] += "L"
				}
			}
			if f.To != "" && !strings.Contains(roles[f.To], "T") {
				roles[f.To] += "T"
			}
		}
	}
	var parts []string
	for _, p := range w.Parties {
		var faces []string
		for _, f := range p.Faces {
			faces = append(faces, f.kind())
		}
		if p.Name != "a" {
			parts = append(parts, strings.ReplaceAll(roles[p.Name], "MM", "M")+"("+strings.Join(faces, "; ")+")")
		} else {
			parts = append(parts, "A("+strings.Join(faces, "; ")+")")
		}
	}
	slices.Sort(parts)
	for _, c := range w.Commands {
		how := parseMoment(c.End).how
		c.End = ""
		if c.Mirrors != "" {
			c.Mirrors = "M"
		}
		do := c.Do
		c.Do = ""
		parts = append(parts, strings.TrimSpace(do+fields(c)+" "+how))
	}
	return fmt.Sprintf("P%d %s: %s", v.P, v.What, strings.Join(parts, ", "))
}

// kind is a face without numbers and names.
func (f Face) kind() string {
	var words []string
	add := func(when bool, word string) {
		if when {
			words = append(words, word)
		}
	}
	add(f.Status != 0 || f.Dead != "", "down")
	add(f.To != "", "redirects")
	add(f.Has != "", "other")
	add(f.Digest != "", "digest")
	add(f.On != "" && f.Digest != "", "on "+f.On)
	add(f.Links != "", "links")
	add(f.Says != "", "says")
	add(f.Signs != "", "signs")
	add(f.List != "", "list "+f.ListBy)
	add(f.ListSig != "", "signed list")
	add(f.Index, "index")
	add(f.API != "", "api")
	add(f.Tag != "", "tag "+f.Tag)
	add(f.Date != "", "date "+f.Date)
	add(f.Length != "", "length "+f.Length)
	add(f.Head != "", "HEAD "+f.Head)
	add(f.NoRanges, "no ranges")
	add(f.Cut > 0, "cut")
	add(f.Stall > 0, "stall")
	add(f.Rate > 0, "slow")
	return strings.Join(words, ", ")
}
