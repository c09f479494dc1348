package option

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"out", "overwrite", "max-size", "quiet", "timeout", "connect-timeout", "tries", "sha256"}
	for word, want := range map[string]string{
		"output": "out", "outt": "out", "ouptut": "", "oevrwrite": "overwrite", "maxsize": "max-size", "quite": "quiet",
		"sha-256": "sha256", "sha": "sha256", "timeuot": "timeout", "bogus": "", "": "", "x": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) is %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"get", "get", 0}, {"get", "gte", 1}, {"probe", "prob", 1},
		{"serve", "server", 1}, {"kitten", "sitting", 3}, {"abcd", "badc", 2},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) is %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := distance(tt.b, tt.a); got != tt.want {
			t.Errorf("distance(%q, %q) is %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
