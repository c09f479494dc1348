package worlds

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/internal/test/oracle"
)

// Limits of what is shrunk: it takes longer than to tell the stories.
const (
	mostShrunk = 80  // of a class
	mostTold   = 300 // stories for one
)

// A family is violations whose shrunk stories have the same signature.
type family struct {
	Signature string
	Count     int    // stories
	Seed      uint64 // of the first
	Nth       int    // how many stories had been told then
	Story     string // shrunk
}

// A search is what was found so far. It is kept in a file.
type search struct {
	Next     uint64 // seed
	Told     int
	Took     time.Duration
	Codes    map[string]int     // commands by exit code
	Evidence map[string]int     // ... with code 0 by evidence
	Classes  map[string]int     // stories by violation
	Quick    map[string]string  // families of violations that look alike before they are shrunk
	Shrunk   map[string]int     // how often a class was shrunk
	Families map[string]*family // by signature

	world func(seed uint64) *World
}

func newSearch(seed uint64) *search {
	return &search{
		Next: seed, Codes: map[string]int{}, Evidence: map[string]int{}, Classes: map[string]int{}, Quick: map[string]string{},
		Families: map[string]*family{}, Shrunk: map[string]int{}, world: generate,
	}
}

// load goes on with what is in a file, if there is one.
func load(path string, seed uint64) (*search, error) {
	s := newSearch(seed)
	data, err := os.ReadFile(path)
	if err != nil {
		return s, nil
	}
	return s, json.Unmarshal(data, s)
}

func (s *search) save(path string) error {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil || path == "" {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

var ranks = map[int]string{
	0: "unverified", oracle.HTTP: "http", oracle.HTTPS: "https", oracle.Signed: "signed", oracle.User: "user",
}

// next tells a story.
func (s *search) next(t *testing.T) {
	seed := s.Next
	s.Next++
	s.Told++
	w := s.world(seed)
	began := time.Now()
	story := tell(t, w)
	s.Took += time.Since(began)
	for _, c := range story.Commands {
		code := fmt.Sprint(c.Code)
		if c.Cut != "" {
			code = c.Cut
		}
		if s.Codes[code]++; c.Code == 0 && c.Cut == "" {
			s.Evidence[ranks[c.Rank]]++
		}
	}
	seen := map[string]bool{}
	for _, v := range oracle.Judge(story) {
		class := class(v)
		if !seen[class] { // what follows from it is no other fault
			seen[class] = true
			s.Classes[class]++
			s.file(t, w, v, seed)
		}
	}
}

// file finds the family of a violation.
func (s *search) file(t *testing.T, w *World, v oracle.Violation, seed uint64) {
	quick := look(w, v)
	sig, ok := s.Quick[quick]
	if class := class(v); !ok {
		small := w
		switch {
		case s.Shrunk[class] >= mostShrunk:
			sig = class + ": (not shrunk)"
		case !fails(t, w, v, 2):
			sig = class + ": (not each time)"
		default:
			s.Shrunk[class]++
			small = shrink(t, w, v, mostTold)
			sig = signature(small, v)
		}
		s.Quick[quick] = sig
		if s.Families[sig] == nil {
			s.Families[sig] = &family{Signature: sig, Seed: seed, Nth: s.Told, Story: small.String()}
		}
	}
	s.Families[sig].Count++
}

// look is a violation as it looks before it is shrunk.
func look(w *World, v oracle.Violation) string {
	c := w.Commands[v.Command]
	var b strings.Builder
	c.End, c.Damage, c.Rename, c.LessProof, c.Login = "", "", false, false, false
	if c.Mirrors != "" {
		c.Mirrors = "some"
	}
	fmt.Fprintf(&b, "%s%s", class(v), fields(c))
	f, only := w.Parties[0].face(v.Command, 0)
	down := f.Dead != "" || f.Status != 0
	fmt.Fprintf(&b, " a=%v,%v,%v,%v,%v,%v,%v,%v", down, f.To != "", f.Has != "", f.Digest, f.On, f.Tag, f.Length, only)
	fmt.Fprintf(&b, " first=%v", v.Command == 0)
	if c.Lookup {
		fmt.Fprintf(&b, " list=%v,%v,%v,%v", f.List, f.ListBy, f.Says, f.ListSig)
	}
	return b.String()
}

// table is what was found, the most frequent of each property first.
func (s *search) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d stories, %.0f a second; next seed %d\n", s.Told, float64(s.Told)/s.Took.Seconds(), s.Next)
	fmt.Fprintf(&b, "commands by code:%s\n", shares(s.Codes))
	fmt.Fprintf(&b, "code 0 by evidence:%s\n", shares(s.Evidence))
	fmt.Fprintf(&b, "stories by violation:\n")
	for _, class := range sortedKeys(s.Classes) {
		fmt.Fprintf(&b, "  %6d %s\n", s.Classes[class], class)
	}
	var all []*family
	for _, f := range s.Families {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *family) int {
		property := cmp.Compare(a.Signature[:2], b.Signature[:2])
		return cmp.Or(property, cmp.Compare(b.Count, a.Count), cmp.Compare(a.Signature, b.Signature))
	})
	for _, f := range all {
		fmt.Fprintf(&b, "\n%d stories, first seed %d (the %d.): %s\n%s", f.Count, f.Seed, f.Nth, f.Signature, f.Story)
	}
	return b.String()
}

func sortedKeys[T any](m map[string]T) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func shares(m map[string]int) string {
	sum := 0
	for _, n := range m {
		sum += n
	}
	var b strings.Builder
	for _, k := range sortedKeys(m) {
		fmt.Fprintf(&b, "  %s %.1f %%", k, 100*float64(m[k])/float64(sum))
	}
	return b.String()
}
