package worlds

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/oracle"
)

var (
	stories  = flag.Int("stories", 0, "look for violations in so many `stories`")
	lasting  = flag.Duration("lasting", 0, "look for violations for so `long`")
	seed     = flag.Uint64("seed", 1, "the first `seed`")
	nearby   = flag.Bool("near", false, "tell stories that differ little from kept ones")
	foundAll = flag.Bool("found", false, "tell stories with lists beside the file")
	statePut = flag.String("state", "", "the `file` of what was found so far")
	story    = flag.String("story", "", "tell the story in this `file`")
)

// TestSearch looks for violations; see scripts/worlds.
func TestSearch(t *testing.T) {
	if *stories == 0 && *lasting == 0 {
		return
	}
	s, err := load(*statePut, *seed)
	if err != nil {
		t.Fatal(err)
	}
	if *foundAll {
		s.world = func(seed uint64) *World { return makeWorld(seed, true) }
	}
	if *nearby {
		all := kept(t)
		var texts []string
		for _, name := range sortedKeys(all) {
			texts = append(texts, all[name])
		}
		s.world = func(seed uint64) *World {
			w, err := near(seed, texts)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
	}
	began, first, saved := time.Now(), s.Told, time.Now()
	for (*stories == 0 || s.Told-first < *stories) && (*lasting == 0 || time.Since(began) < *lasting) {
		s.next(t)
		if time.Since(saved) > 10*time.Second {
			if err := s.save(*statePut); err != nil {
				t.Fatal(err)
			}
			saved = time.Now()
		}
	}
	if err := s.save(*statePut); err != nil {
		t.Fatal(err)
	}
	fmt.Print(s.table())
	if len(s.Families) > 0 {
		t.Errorf("%d families of violations", len(s.Families))
	}
}

// TestStory tells one story, and what happened in it.
func TestStory(t *testing.T) {
	if *story == "" {
		return
	}
	text, err := os.ReadFile(*story)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parseWorld(string(text))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Print(report(w, tell(t, w)))
}

// show prints what a download said on its way.
func show(ev download.Event) {
	switch ev.(type) {
	case download.Note, download.Restarted, download.SourceDown:
		fmt.Printf("     %T %+v\n", ev, ev)
	}
}

func report(w *World, s oracle.Story) (text string) {
	for k, c := range s.Commands {
		do := strings.TrimSpace(fields(w.Commands[k]))
		text += fmt.Sprintf("%d %s: code %d, rank %d %.8s, ", k, do, c.Code, c.Rank, c.Digest)
		text += fmt.Sprintf("cut %q, unchanged %v, after %v, ", c.Cut, c.Unchanged, c.Took)
		text += fmt.Sprintf("final %d, part %d bytes %s %s\n", len(c.After.Final), len(c.After.Part), c.Stopped, c.After.Strange)
		for i, a := range c.Answers {
			if i == 40 {
				text += fmt.Sprintf("   ... %d answers\n", len(c.Answers))
				break
			}
			text += fmt.Sprintf("   %v %s %s %d from %d to %q digest %.8s links %v tag %s content %s: %d bytes\n",
				a.At, a.Party, a.Method, a.Status, a.From, a.To, a.Digest, a.Links, a.Tag, a.Content, a.Sent)
		}
		for _, a := range c.Lookups {
			text += fmt.Sprintf("   %v %s looked up %s: %d to %q digest %.8s\n", a.At, a.Party, a.File, a.Status, a.To, a.Digest)
		}
	}
	var codes []int
	for _, c := range s.Commands {
		codes = append(codes, c.Code)
	}
	if script, err := w.script(codes); err != nil {
		text += fmt.Sprintf("no script: %v\n", err)
	} else {
		text += "\n" + script + "\n"
	}
	for _, v := range oracle.Judge(s) {
		text += fmt.Sprintf("P%d in command %d: %s\n", v.P, v.Command, v.What)
	}
	return text
}
