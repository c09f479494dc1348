package metalink

import "testing"

func TestArmoredSignature(t *testing.T) {
	const begin, end = "-----BEGIN PGP SIGNATURE-----\n", "-----END PGP SIGNATURE-----"
	for _, tt := range []struct {
		in string
		ok bool
	}{
		{begin + "\nAAAA\n" + end, true},
		{"\n" + begin + "Comment: x\r\n\r\nAAAA\n" + end + "\n\n", true},
		{begin + end, false},
		{begin + "\nAAAA\n", false},
		{"AAAA\n" + end, false},
		{"text\n" + begin + "\nAAAA\n" + end, false},
		{begin + "Comment: \u00e4\n\nAAAA\n" + end, false},
		{begin + "Comment: \x1b\n\nAAAA\n" + end, false},
		{"\x89\x02", false},
		{"", false},
	} {
		text, ok := ArmoredSignature([]byte(tt.in))
		if ok != tt.ok || ok && (text[0] != '-' || text[len(text)-1] != '-') {
			t.Errorf("%q: %q, %t", tt.in, text, ok)
		}
	}
}

// TestTextSignature: a signature of minisign is one that a document can contain, and no text that only looks like one is.
func TestTextSignature(t *testing.T) {
	const good = "untrusted comment: x\nAAAA\ntrusted comment: timestamp:1\tfile:\u00fc\nBBBB"
	for in, want := range map[string]string{
		good: "application/x-minisign", "\n" + good + "\r\n": "application/x-minisign",
		"-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----": "application/pgp-signature",
		"untrusted comment: x\nAAAA":                                         "", good + "\nx": "", good[1:]: "",
		good + "\x1b": "", good + "\xff": "", "": "",
	} {
		if sig, ok := TextSignature([]byte(in)); sig.Type != want || ok != (want != "") {
			t.Errorf("%q: %+v", in, sig)
		}
	}
}
