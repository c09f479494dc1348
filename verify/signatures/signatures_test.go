package signatures

import (
	"slices"
	"strings"
	"testing"
)

// Names, media types and endings belong to one kind, and an option has one kind at most that takes what no other takes.
func TestTable(t *testing.T) {
	var names, endings, rest []string
	for _, kind := range All() {
		for _, name := range append([]string{kind.Name}, kind.Types...) {
			if name == "" || slices.Contains(names, name) {
				t.Errorf("%s: %q is there twice, or empty", kind.Name, name)
			}
			names = append(names, name)
		}
		for _, ending := range kind.Beside {
			if !strings.HasPrefix(ending, ".") || slices.Contains(endings, ending) {
				t.Errorf("%s: the ending %q", kind.Name, ending)
			}
			endings = append(endings, ending)
		}
		for _, f := range kind.Served {
			if !strings.HasPrefix(f.Ending, ".") || !slices.Contains(kind.Types, f.Type) {
				t.Errorf("%s: serves %+v", kind.Name, f)
			}
		}
		if kind.SniffKeys == nil {
			if slices.Contains(rest, kind.Option) {
				t.Errorf("%s: all that %s names is of another kind", kind.Name, kind.Option)
			}
			rest = append(rest, kind.Option)
		}
		if kind.Sniff == nil || kind.NewTrust == nil || kind.Read == nil || kind.Describe == nil ||
			len(kind.Types) == 0 || kind.Article == "" {
			t.Errorf("%s: the row is not complete", kind.Name)
		}
	}
	if got := Options(); !slices.Equal(got, rest) {
		t.Errorf("options are %q, and %q take all keys", got, rest)
	}
}

// TestOf has what tells the kinds apart; what is of none is for OpenPGP to judge.
func TestOf(t *testing.T) {
	for data, want := range map[string]string{
		"":                               "OpenPGP",
		"\x88\x01":                       "OpenPGP",
		" \n-----BEGIN PGP MESSAGE-----": "OpenPGP",
		"text":                           "OpenPGP",
		"\x30\x82":                       "S/MIME",
		"\n-----BEGIN PKCS7-----":        "S/MIME",
		"MIME-Version: 1.0\n":            "S/MIME",
		"content-TYPE: multipart/signed": "S/MIME",
		"content-typ":                    "OpenPGP",
	} {
		if got := Of([]byte(data)).Name; got != want {
			t.Errorf("%q is %s, want %s", data, got, want)
		}
	}
	if kind, ok := OfType("text/plain"); ok {
		t.Errorf("text/plain is %s", kind.Name)
	}
	if got := OfKeys("keyring", nil).Name + ", " + OfKeys("smime-ca", nil).Name; got != "OpenPGP, S/MIME" {
		t.Errorf("keys are of %s", got)
	}
}
