package mask

import "testing"

// Secrets are hidden however short they are (rule 62): where they stand alone if they are part of many words.
func TestHider_Rule62(t *testing.T) {
	h := NewHider([]string{"abc", "abcdef", "x", "a!", "Bearer abcdef", "é1"})
	for in, want := range map[string]string{
		"the password abc is wrong":     "the password *** is wrong",
		"abc":                           "***",
		"token=abc&y":                   "token=***&y",
		"abc abc,abc":                   "*** ***,***",
		"fabcs and 1abc stay":           "fabcs and 1abc stay",
		"http://me:x@h/x.iso":           "http://me:***@h/***.iso",
		"Bearer abcdef":                 "***",
		"yabcdefy":                      "y***y",
		"a! and ba!":                    "*** and ba!",
		"é1-é12":                        "***-é12",
		"nothing to see":                "nothing to see",
		`{"user":"abc","other":"abcd"}`: `{"user":"***","other":"abcd"}`,
	} {
		if got := h.Replace(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := NewHider(nil).Replace("as it is"); got != "as it is" {
		t.Error(got)
	}
}
