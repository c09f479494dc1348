package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoKeyWithoutAnEffect: each key is used in everything, so that TestEverything has checked its effect.
func TestNoKeyWithoutAnEffect(t *testing.T) {
	for _, table := range [][]string{{""}, {"feed", "x", ""}, {"feed", "x", "limits", ""}, {"watch", "x", ""}} {
		for _, name := range namesIn(tableOf(table)) {
			switch {
			case name == "user-file", name == "publish": // like user-env; see TestPublish
			case !strings.Contains(everything, "\n"+name+" =") && !strings.Contains(everything, "["+name+".") &&
				!strings.Contains(everything, "."+name+"]"):
				t.Errorf("no test knows %q in %q", name, table)
			}
		}
	}
}

// TestExample: the example is valid and describes each key.
func TestExample(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "doc", "braid-watch.toml"))
	if err != nil {
		t.Fatal(err)
	}
	o := options
	o.Environment = func(name string) (string, bool) { return "me:s3cret", true }
	o.ReadFile = func(path string) ([]byte, error) { return []byte("s3cret"), nil }
	if _, err := ParseConfig(data, o); err != nil {
		t.Errorf("the example: %v", err)
	}
	live := strings.ReplaceAll(string(data), "\n#", "\n") // including the lines that are commented out
	for _, table := range [][]string{{""}, {"feed", "x", ""}, {"feed", "x", "limits", ""}, {"watch", "x", ""}, {"publish", ""}} {
		for _, name := range namesIn(tableOf(table)) {
			if !strings.Contains(live, "\n"+name+" =") && !strings.Contains(live, "["+name) &&
				!strings.Contains(live, "."+name+"]") {
				t.Errorf("the example has no %s", name)
			}
		}
	}
}
