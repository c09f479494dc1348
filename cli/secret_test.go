package cli

import (
	"slices"
	"testing"
)

// Proves rule 62 for the title of the process; TestProcessTitle_Rule62 looks at a real one.
func TestSecretsOf_Rule62(t *testing.T) {
	for _, tt := range []struct{ before, word, want string }{
		{"", "http://h/a.iso", "http://h/a.iso"},
		{"", "http://me:pw@h/a?token=x&y=z#f", "http://*****@h/a?*************"},
		{"", "--mirror=http://me@h/a?q", "--mirror=http://**@h/a?*"},
		{"", "http://me:p@w@h/@a", "http://******@h/@a"},
		{"", "http://h/a@b:c", "http://h/a@b:c"},
		{"", "h/a?token=x", "h/a?*******"},
		{"--proxy", "me:pw@h:3128", "*****@h:3128"},
		{"", "--proxy=me:pw@h:3128", "--proxy=*****@h:3128"},
		{"", "h/a:b@c", "h/a:b@c"},
		{"", "http://h#a@b", "http://h#***"},
		{"-u", "me:pw", "me:**"},
		{"-u", "me", "me"},
		{"--user", "me:p:w", "me:***"},
		{"-qu", "me:pw", "me:**"},
		{"", "-ume:pw", "-ume:**"},
		{"", "--user=me:pw", "--user=me:**"},
		{"-H", "Authorization: Bearer x", "Authorization:*********"},
		{"", "--header=Cookie: a=b", "--header=Cookie:****"},
		{"", "-HCookie: a=b", "-HCookie:****"},
		{"--out", "a:b", "a:b"},
		{"", "", ""},
		{"", "?", "?"},
		{"", "://@", "://@"},
	} {
		got := []byte(tt.word)
		for _, p := range secretsOf(tt.before, tt.word) {
			for i := p[0]; i < p[1]; i++ {
				got[i] = '*'
			}
		}
		if string(got) != tt.want {
			t.Errorf("%q %q: %q, want %q", tt.before, tt.word, got, tt.want)
		}
	}
}

func FuzzSecretsOf(f *testing.F) {
	f.Add("-u", "http://a:b@c/?d#e")
	f.Fuzz(func(t *testing.T, before, word string) {
		end := 0
		for _, p := range secretsOf(before, word) {
			if p[0] < end || p[1] < p[0] || p[1] > len(word) {
				t.Fatalf("%v of %q", p, word)
			}
			end = p[1]
		}
	})
}

// TestForgetArgumentsOfOthers: arguments that are not the process's own are only copied.
func TestForgetArgumentsOfOthers(t *testing.T) {
	args := []string{"braid", "-u", "me:pw"} // writing to these would end the process
	if got := forgetArguments(args); !slices.Equal(got, args) {
		t.Error(got)
	}
	if got := forgetArguments(nil); len(got) != 0 {
		t.Error(got)
	}
}
