package watch

import "testing"

// TestReach: a machine is offline if three polls in a row fail, of three feeds if there are as many.
func TestReach(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		polls string // names of failed feeds; a dot is a feed that was reached
		feeds int
		want  string // result of each poll
	}{
		{"aaa", 1, "..!"},
		{"aaaa", 2, "...."},
		{"aab", 2, "..!"},
		{"abab", 9, "...."},
		{"abc", 9, "..!"},
		{"ab.abc", 9, ".....!"},
		{"aaa.a", 1, "..!.."},
		{"xxx", 0, "..!"}, // own checks only
	} {
		var r Reach
		got := ""
		for _, c := range tt.polls {
			is := "."
			if c == '.' {
				r.Reached()
			} else if r.Failed(string(c), tt.feeds) {
				is = "!"
			}
			got += is
		}
		if got != tt.want {
			t.Errorf("%s of %d feeds: %s, want %s", tt.polls, tt.feeds, got, tt.want)
		}
	}
}
