package signatures

import (
	"slices"
	"strings"
	"testing"
)

// Names and media types belong to one kind.
func TestTable(t *testing.T) {
	var names []string
	for _, kind := range All() {
		for _, name := range append([]string{kind.Name}, kind.Types...) {
			if name == "" || slices.Contains(names, name) {
				t.Errorf("%s: %q is there twice, or empty", kind.Name, name)
			}
			names = append(names, name)
		}
		var endings []string
		for _, ending := range kind.Beside { // kinds may share one: the signature tells them apart
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
		if kind.Sniff == nil || kind.SniffKeys == nil || kind.NewTrust == nil || kind.Read == nil || kind.Describe == nil ||
			len(kind.Types) == 0 || kind.Article == "" {
			t.Errorf("%s: the row is not complete", kind.Name)
		}
	}
	if got := Options(); !slices.Equal(got, []string{"keyring", "smime-ca"}) {
		t.Errorf("options are %q", got)
	}
}

// TestOf has what tells the kinds apart; what is of none is for OpenPGP to judge.
func TestOf(t *testing.T) {
	for data, want := range map[string]string{
		"":                                "OpenPGP",
		"\x88\x01":                        "OpenPGP",
		" \n-----BEGIN PGP MESSAGE-----":  "OpenPGP",
		"text":                            "OpenPGP",
		"\n-----BEGIN SSH SIGNATURE-----": "SSH",
		"\x30\x82":                        "S/MIME",
		"\n-----BEGIN PKCS7-----":         "S/MIME",
		"MIME-Version: 1.0\n":             "S/MIME",
		"content-TYPE: multipart/signed":  "S/MIME",
		"content-typ":                     "OpenPGP",
		"untrusted comment: \nQQ==\n":     "OpenPGP",
		"untrusted comment: verify with x.pub\n" + strings.Repeat("A", 98) + "A=\n":             "signify",
		"untrusted comment: \n" + strings.Repeat("A", 98) + "A=\ntrusted comment: x\n" + "QQ==": "minisign",
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

// TestSniff tells keys apart by their content.
func TestSniff(t *testing.T) {
	const certificate, pgp = "-----BEGIN CERTIFICATE-----\n", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"
	for data, want := range map[string]string{
		pgp:                                     "OpenPGP",
		"a comment\n" + pgp:                     "OpenPGP",
		"\x99\x01":                              "OpenPGP",
		"\xc6\x01":                              "OpenPGP",
		certificate:                             "S/MIME",
		"subject=x\n" + certificate:             "S/MIME",
		"untrusted comment: x public key\nQQ==": "signify",
		"untrusted comment: minisign public key 0\nQQ==":       "minisign",
		strings.Repeat("A", 56):                                "minisign",
		"ssh-ed25519 AAAA x":                                   "SSH",
		"# x\na@example.org ssh-ed25519 AAAA x":                "SSH",
		"-----BEGIN OPENSSH PRIVATE KEY-----\n":                "SSH",
		pgp + certificate:                                      "",
		pgp + "untrusted comment: minisign public key 0\nQQ==": "",
		pgp + "untrusted comment: x public key\nQQ==":          "",
		"ssh-ed25519 AAAA x\n" + certificate:                   "",
		"":                                                     "", "text": "", "\x89PNG": "",
		"-----BEGIN PRIVATE KEY-----\n": "", "x" + pgp: "",
	} {
		kind, ok := Sniff([]byte(data))
		if ok != (want != "") || ok && kind.Name != want {
			t.Errorf("%q: %v, want %q", data, ok, want)
		}
	}
}
