package rpc

import (
	"fmt"
	"strings"
	"testing"

	"braid/daemon/queue"
)

// TestDotNames_Rule10 checks that a client cannot name a file or folder that begins with a dot, in any option. The user
// may have configured one.
func TestDotNames_Rule10(t *testing.T) {
	for _, given := range []string{"", "/srv/files/.incoming"} {
		e := newEngine()
		h := New(e, Options{Root: "/srv/files", Given: map[string]string{"dir": given},
			SaveSession: func(string, []byte) error { return nil }})
		for options, want := range map[string]bool{
			`{"out":".bashrc"}`:                               false,
			`{"out":"a/.ssh/authorized_keys"}`:                false,
			`{"out":"a/../.bashrc"}`:                          false,
			`{"out":"./.bashrc"}`:                             false,
			`{"out":"\u200c.bashrc"}`:                         false,
			`{"out":"\ufe0f.bashrc"}`:                         false,
			`{"out":" .bashrc"}`:                              false,
			`{"out":"\u00a0.bashrc"}`:                         false,
			`{"out":"a\n.bashrc"}`:                            false, // in a list, two values: the last counts
			`{"out":["a",".bashrc"]}`:                         false,
			`{"out":"a.b/c.d"}`:                               true,
			`{"dir":"/srv/files/.config/braid"}`:              false,
			`{"dir":"/srv/files/a/.x"}`:                       false,
			`{"dir":".config/braid"}`:                         false,
			`{"dir":"/srv/files/a"}`:                          true,
			`{"dir":"/srv/files/.incoming"}`:                  given != "",
			`{"dir":"/srv/files/.incoming/x"}`:                given != "",
			`{"dir":"/srv/files/.incoming/x/.y"}`:             false,
			`{"save-session":".bashrc"}`:                      false,
			`{"save-session":"/srv/files/a/.config/session"}`: false,
			`{"save-session":"a/session"}`:                    true,
		} {
			for method, request := range map[string]string{"addUri": `["http://h/x"],` + options, "changeGlobalOption": options} {
				answer := say(h, fmt.Sprintf(`{"id":1,"method":"aria2.%s","params":[%s]}`, method, request)).Body.String()
				dot, form := strings.Contains(answer, "begins with a dot"), strings.Contains(answer, "the option '--out'")
				if strings.Contains(answer, `"result"`) != want || !want && !dot && !form {
					t.Errorf("%q: %s %s: %s", given, method, options, answer)
				}
			}
			e.Do(t.Context(), func(q *queue.Queue) error { q.ChangeGlobal(map[string]string{"dir": "", "out": ""}); return nil })
		}
	}
}
