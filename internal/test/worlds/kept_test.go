package worlds

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"braid/internal/test/oracle"
)

const (
	attempts   = 20  // that a kept story has to show what it is kept for, as goroutines take turns in another order each time
	fixedSeeds = 900 // stories that are always told
	firstFixed = 1_000_000
)

// wantOf is what a kept story begins with: "# want: none", or "# want: violation P1 the digest is that of a
// stranger", which is known and not mended yet.
func wantOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(strings.TrimPrefix(line, "# want: "), "violation ")
}

func class(v oracle.Violation) string { return fmt.Sprintf("P%d %s", v.P, v.What) }

// fits reports whether one of the violations is wanted; a want may be the property alone.
func fits(found []string, want string) bool {
	return slices.ContainsFunc(found, func(class string) bool { return strings.HasPrefix(class, want) })
}

// kept are the stories of testdata, by file.
func kept(t *testing.T) map[string]string {
	names, err := filepath.Glob("testdata/*.world")
	if err != nil || len(names) == 0 {
		t.Fatal("no kept stories", err)
	}
	all := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// TestMain has goroutines take turns in nearly the same order each time.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// TestKept tells the stories that once ended wrong. Those that are mended must not have any violation; those that are not must
// still have theirs, so that nobody forgets to say that they are.
func TestKept(t *testing.T) {
	for _, name := range sortedKeys(kept(t)) {
		text := kept(t)[name]
		w, err := parseWorld(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := wantOf(text)
		var found []string
		for range attempts {
			for _, v := range oracle.Judge(tell(t, w)) {
				found = append(found, class(v))
			}
			if want == "none" || fits(found, want) {
				break
			}
		}
		switch {
		case want == "none" && len(found) > 0:
			t.Errorf("%s: %s", name, strings.Join(found, "; "))
		case want != "none" && !fits(found, want):
			t.Errorf("%s: it is mended: begin it with \"# want: none\" (found %q)", name, found)
		}
	}
}

// TestFixedSeeds tells stories by chance, always the same. What they find must be known: a kept story is of that class.
func TestFixedSeeds(t *testing.T) {
	var known []string
	for _, text := range kept(t) {
		known = append(known, wantOf(text))
	}
	for seed := range uint64(fixedSeeds) {
		w := generate(firstFixed + seed)
		for _, v := range oracle.Judge(tell(t, w)) {
			if !slices.ContainsFunc(known, func(want string) bool { return strings.HasPrefix(class(v), want) }) {
				t.Errorf("seed %d: %s in command %d\n%s", firstFixed+seed, class(v), v.Command, w)
			}
		}
	}
}

// TestText: what is written of a world makes the same world.
func TestText(t *testing.T) {
	for seed := range uint64(200) {
		w := generate(seed)
		again, err := parseWorld(w.String())
		if err != nil || again.String() != w.String() {
			t.Fatalf("%v\n%s\n%s", err, w, again)
		}
	}
	for _, bad := range []string{
		"", "sizes 0\nparty a\n", "sizes 5\nface\n", "sizes 5\nparty\n", "sizes 5\nparty a\nget nothing=1\n",
		"sizes 5\nparty a\nface after=x\n",
	} {
		if _, err := parseWorld(bad); err == nil {
			t.Errorf("%q is a world", bad)
		}
	}
}

// TestScript: what can be written as a script is, and what cannot be is refused.
func TestScript(t *testing.T) {
	all := kept(t)
	script := func(name string) (string, error) {
		w, err := parseWorld(all["testdata/"+name+".world"])
		if err != nil {
			t.Fatal(err)
		}
		return w.script(make([]int, len(w.Commands)))
	}
	got, err := script("standin-redirect")
	want := `randfile 0/f.bin 9000
randfile 1/f.bin 9000
mirror t 0/f.bin status=404 rate=64K
mirror a 0/f.bin redirect=$t digest rate=64K
mirror m 1/f.bin rate=64K
exits 0 braid get --mirror $m $a
`
	if got != want || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := script("resume-date"); err == nil {
		t.Errorf("a kill is written as\n%s", got)
	}
}
