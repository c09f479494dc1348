package watch

import (
	"errors"
	"path/filepath"
	"testing"
)

// TestReleaseFailedInPlace_Rule80: the outcome of a failed update has the path of a file that is in place, so that no
// older version follows it.
func TestReleaseFailedInPlace_Rule80(t *testing.T) {
	for name, more := range map[string]string{"tool_1.1": "link = 'latest'\n", "tool": "name = 'tool'\n"} {
		w, s := following(t, more+"run = ['program']")
		s.put("1.0", "one")
		if _, err := w.next("1.0"); err != nil {
			t.Fatal(err)
		}
		if o, err := w.next("1.1"); err == nil || o.Path != "" {
			t.Errorf("%s: a missing file: %+v, %v", more, o, err)
		}
		s.put("1.1", "two")
		w.fail = errors.New("it fails")
		o, err := w.next("1.1")
		if err == nil || o.Path != filepath.Join(w.rule.Dir, name) {
			t.Errorf("%s: a failed program: %+v, %v", more, o, err)
		}
		s.Close()
		if again, err := w.next("1.1"); err == nil || again.Path != o.Path {
			t.Errorf("%s: then no server: %+v, %v", more, again, err)
		}
	}
}
