package render

import "testing"

func TestColumns(t *testing.T) {
	got := Columns([][]string{{"a", "bcd", "e"}, {"äöü", "", "f"}, {"g"}})
	for i, want := range []string{"a    bcd  e", "äöü       f", "g"} {
		if got[i] != want {
			t.Errorf("line %d is %q, want %q", i, got[i], want)
		}
	}
}
