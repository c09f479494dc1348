package sums

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"braid/verify"
)

// hexOf is the digest of a content, in hexadecimal digits.
func hexOf(a verify.Algorithm, content string) string {
	switch a {
	case verify.MD5:
		return fmt.Sprintf("%x", md5.Sum([]byte(content)))
	case verify.SHA1:
		return fmt.Sprintf("%x", sha1.Sum([]byte(content)))
	case verify.SHA256:
		return fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	}
	return fmt.Sprintf("%x", sha512.Sum512([]byte(content)))
}

var (
	h5   = hexOf(verify.MD5, "d")
	h1   = hexOf(verify.SHA1, "d")
	h256 = hexOf(verify.SHA256, "d")
	h512 = hexOf(verify.SHA512, "d")
	o256 = hexOf(verify.SHA256, "other")
	o512 = hexOf(verify.SHA512, "other")
)

// parse reads a list that must be right.
func parse(t *testing.T, name, text string) List {
	t.Helper()
	list, err := readStrict(name, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return list
}

// told is the entries of a list in words.
func told(l List) (words []string) {
	for _, e := range all(l) {
		words = append(words, fmt.Sprintf("%d %v %q", e.Line, e.Digest.Algorithm(), e.Name))
	}
	return words
}

// The forms in which lists come, each as the program writes it.
func TestForms(t *testing.T) {
	for _, tt := range []struct{ name, list, text, want string }{
		{"coreutils", "", h256 + "  plain\n" + h256 + " *b in\n", `1 sha-256 "plain"; 2 sha-256 "b in"`},
		{"coreutils escapes", "", `\` + h256 + `  a\\b\n\r` + "\n" + `\` + h256 + ` *x\ny`,
			`1 sha-256 "a\\b\n\r"; 2 sha-256 "x\ny"`},
		{"coreutils no escape", "", h256 + `  a\nb`, `1 sha-256 "a\\nb"`},
		{"coreutils --tag", "", "SHA256 (a) = b) = " + h256 + "\nMD5 (m) = " + h5 + "\n", `1 sha-256 "a) = b"; 2 md5 "m"`},
		{"coreutils --tag escapes", "", `\SHA512 (x\ny) = ` + h512, `1 sha-512 "x\ny"`},
		{"BSD names", "", "SHA1 (a) = " + h1 + "\nSHA2-256 (b) = " + h256 + "\nSHA512 (c) = " + h512,
			`1 sha-1 "a"; 2 sha-256 "b"; 3 sha-512 "c"`},
		{"OpenSSL", "", "SHA256(a)= " + h256 + "\nSHA2-512(b c)= " + h512, `1 sha-256 "a"; 2 sha-512 "b c"`},
		{"OpenSSL of standard input", "", "SHA2-256(stdin)= " + h256, `1 sha-256 "-"`},
		{"a file called stdin", "", "SHA256 (stdin) = " + h256, `1 sha-256 "stdin"`},
		{"standard input", "", h256 + "  -", `1 sha-256 "-"`},
		{"alone", "disk.iso.sha256", h256, `1 sha-256 ""`},
		{"alone with space", "disk.iso.sha256", "\n  " + h256 + "  \n\n", `2 sha-256 ""`},
		{"alone, two algorithms", "", h256 + "\n" + h512 + "\n", `1 sha-256 ""; 2 sha-512 ""`},
		{"one space", "", h256 + " a\n" + h256 + "\tb\n" + h256 + " *\n", `1 sha-256 "a"; 2 sha-256 "b"; 3 sha-256 "*"`},
		{"capitals", "", strings.ToUpper(h256) + "  A", `1 sha-256 "A"`},
		{"space in names", "", h256 + "    a \n" + h256 + " * a\n", `1 sha-256 "  a "; 2 sha-256 " a"`},
		{"comments, CRLF, BOM", "", "\ufeff# disk\r\n\r\n" + h256 + "  disk\r\n  # end", `3 sha-256 "disk"`},
		{"Fedora", "", "# disk.iso: 123 bytes\nSHA256 (disk.iso) = " + h256 + "\n", `2 sha-256 "disk.iso"`},
		{"lengths", "", h5 + "  a\n" + h1 + "  b\n" + h256 + "  c\n" + h512 + "  d\n",
			`1 md5 "a"; 2 sha-1 "b"; 3 sha-256 "c"; 4 sha-512 "d"`},
		{"invalid UTF-8", "", h256 + "  \xff\x1b[2J", `1 sha-256 "\xff\x1b[2J"`},
		{"other algorithms are skipped", "",
			"BLAKE2b (a) = " + h512 + "\nSHA3-256 (a) = " + h256 + "\nSHA2-512/256(a)= " + h256 + "\nHMAC-SHA2-256(a)= " + h256 +
				"\nSHA(a)= " + h1 + "\nSIZE (a) = 5\n" + h256[:56] + "  a\n" + h512[:96] + "  a\nSHA256 (a) = " + h256,
			`9 sha-256 "a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := parse(t, tt.list, tt.text)
			if got := strings.Join(told(list), "; "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			for _, e := range all(list) {
				if want := hexOf(e.Digest.Algorithm(), "d"); e.Digest.Hex() != want {
					t.Errorf("line %d: %v", e.Line, e.Digest)
				}
			}
			if list.Wrapped() {
				t.Error("there is no signature around it")
			}
		})
	}
}

// Proves rule 31: what cannot be read is an error that names the line, never as if it were not there.
func TestErrors_Rule31(t *testing.T) {
	for _, tt := range []struct{ name, list, text, want string }{
		{"empty", "", "", "the list has no digest"},
		{"comments only", "", "# nothing\n\n", "the list has no digest"},
		{"text", "", h256 + "  a\nhello world\n", `line 2: not a line of a checksum file: "hello world"`},
		{"a terminal's cursor", "", "\x1b[2J\u202e", `line 1: not a line of a checksum file: "\x1b[2J\u202e"`},
		{"long text", "", strings.Repeat("x", 200),
			`line 1: not a line of a checksum file: "` + strings.Repeat("x", 80) + `..."`},
		{"web page", "SHA256SUMS", "\n<!DOCTYPE html>", "line 2: this is a web page or XML, not a list of digests"},
		{"binary", "", h256 + "  a\x00b", "line 1: this is not text"},
		{"UTF-16", "", "\xff\xfe1\x00", "the list is UTF-16 instead of UTF-8: convert it to UTF-8"},
		{"UTF-16, the other way", "", "\xfe\xff\x001", "the list is UTF-16 instead of UTF-8: convert it to UTF-8"},
		{"short", "", h256[1:] + "  a", "line 1: 63 hexadecimal digits are not a digest"},
		{"long", "", h256 + "0", "line 1: 65 hexadecimal digits are not a digest"},
		{"not hexadecimal", "", h256[1:] + "x  a", "line 1: not a line of a checksum file: "},
		{"tag, short", "", "SHA256 (a) = " + h256[1:], "line 1: sha-256 has 63 characters, want 64 hexadecimal digits"},
		{"tag, other length", "", "SHA512 (a) = " + h256, "line 1: sha-512 has 64 characters, want 128 hexadecimal digits"},
		{"tag, nothing", "", "SHA256 (a) =", "line 1: sha-256 has 0 characters, want 64 hexadecimal digits"},
		{"tag, more", "", "SHA256 (a) = " + h256 + " x", "line 1: sha-256 has 66 characters, want 64 hexadecimal digits"},
		{"tag, no name", "", "SHA256 ( ) = " + h256, "line 1: the line has no file name"},
		{"tag, no sign", "", "SHA256 (a) " + h256, "line 1: not a line of a checksum file: "},
		{"no tag", "", "(a) = " + h256, "line 1: not a line of a checksum file: "},
		{"tag of two words", "", "SHA 256 (a) = " + h256, "line 1: not a line of a checksum file: "},
		{"tag that is a text", "", strings.Repeat("x", 33) + " (a) = 1", "line 1: not a line of a checksum file: "},
		{"unknown escape", "", `\` + h256 + `  a\tb`, `line 1: the name has an escape other than \\, \n and \r`},
		{"escape at the end", "", `\` + h256 + `  a\`, `line 1: the name has an escape other than \\, \n and \r`},
		{"escaped, no name", "", `\` + h256, "line 1: the line has no file name"},
		{"alone among named", "", h256 + "  a\n" + h256 + "\n",
			"line 2: the digest has no file name, but other digests of the list have one"},
		{"other length than the list's name says", "SHA512SUMS", h256 + "  a",
			"line 1: 64 hexadecimal digits are not a sha-512 digest, which the name of the list implies"},
		{"another algorithm by the list's name", "B2SUMS", h512 + "  a",
			"line 1: the name of the list says BLAKE2, which is not supported"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := readStrict(tt.list, []byte(tt.text))
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if len(told(list)) > 0 {
				t.Errorf("and yet %v", told(list))
			}
		})
	}
}

// The name of a list says which algorithm its lines are of, if they do not say it themselves.
func TestNamesOfLists(t *testing.T) {
	const refused = "refused"
	by := map[string]string{"256": h256 + "  a", "512": h512 + "  a", "1": h1 + "  a", "5": h5 + "  a",
		"tag": "SHA256 (a) = " + h256}
	for _, tt := range []struct{ names, line, want string }{
		{"SHA256SUMS sha256sum.txt SHA256 a.sha256 a.SHA-256 a.sha_256.txt a.sha256sum CHECKSUM.SHA256-Free-14 " +
			"ü.sha256", "256", "sha-256"},
		{"CHECKSUM a-CHECKSUM checksums.txt SHASUMS256.txt SHASUMS a.sha a.txt a.digest jdk-17-b3.txt libsha3.txt " +
			"sha512-256mb.sha256", "256", "sha-256"},
		{"sha3-1.0.tar.gz.sha256 md5-sha1-sha256.txt sha512+sha256.txt sha256+sha512.txt md5-sha512-sha512.txt", "256",
			"sha-256"},
		{"SHA512SUMS a.sha512 sha512-256mb.txt SHA2-512.txt", "512", "sha-512"},
		{"SHA1SUMS a.sha1", "1", "sha-1"},
		{"MD5SUMS md5sum.txt", "5", "md5"},
		{"B2SUMS b2sum.txt a.b2 a.blake2b BLAKE2SUMS WHIRLPOOL a.sha3-512 SHA3-512SUMS sha3_512.txt SHA256SUMS", "512", refused},
		{"a.b3 b3sums a.blake3 SHA3-256SUMS a.sha3 a.sha512-256 a.sha512_256 SHA-512-256.txt a.sm3 a.keccak " +
			"sha256+md5.b3 SHA512SUMS SHA1SUMS MD5SUMS", "256", refused},
		{"a.rmd160 RIPEMD160SUMS SHA256SUMS", "1", refused},
		{"a.md4 a.xxh128 xxh128sums", "5", refused},
		{"B2SUMS a.sha3 SHA512SUMS MD5SUMS", "tag", "sha-256"}, // the line says it
	} {
		for name := range strings.FieldsSeq(tt.names) {
			list, err := readStrict(name, []byte(by[tt.line]))
			got := refused
			for _, e := range all(list) {
				got = e.Digest.Algorithm().String()
			}
			if got != tt.want || (err != nil) != (tt.want == refused) {
				t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
			}
		}
	}
}

// What signify -S -e writes is a list with its signature; lines are counted from the first of the file.
func TestEmbedded(t *testing.T) {
	signature := "untrusted comment: verify with x.pub\n" + strings.Repeat("A", 98) + "A=\n"
	text := "SHA256 (a) = " + h256 + "\r\n"
	list := parse(t, "SHA256.sig", signature+text)
	if got, want := told(list), []string{`3 sha-256 "a"`}; !slices.Equal(got, want) || !list.Wrapped() {
		t.Errorf("got %q, wrapped %v; want %q", got, list.Wrapped(), want)
	}
	if m := list.Message(); string(m.Text) != text || string(m.Signature) != signature {
		t.Errorf("the message is %q and %q", m.Text, m.Signature)
	}
	pgp := "-----BEGIN PGP SIGNED MESSAGE-----\n\n" + text +
		"-----BEGIN PGP SIGNATURE-----\n\niQIz\n=xx\n-----END PGP SIGNATURE-----\n"
	for name, tt := range map[string]struct{ data, want string }{
		"signed twice": {signature + pgp, "line 3: a signed message is inside a signed message"},
		"no text":      {signature, "the list has no digest"},
		"cut":          {signature[:60] + "\n" + text, "line 1: "},
		"after":        {text + signature, "line 2: "},
	} {
		if _, err := readStrict("SHA256.sig", []byte(tt.data)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// What is read of a list in a cleartext signature is what the signature speaks of, and nothing around it is read.
func TestWrapped(t *testing.T) {
	const begin, hash = "-----BEGIN PGP SIGNED MESSAGE-----\n", "Hash: SHA256\n"
	const end = "-----BEGIN PGP SIGNATURE-----\n\niQIz\n=xx\n-----END PGP SIGNATURE-----\n"
	entry := "SHA256 (a) = " + h256 + "\n"
	list := parse(t, "a-CHECKSUM", "\n"+strings.ReplaceAll(begin+hash+"\n# a: 1 bytes\n- # dash\n"+h256+"  b \t\n"+
		entry+end+"\n", "\n", "\r\n"))
	if got, want := told(list), []string{`7 sha-256 "b"`, `8 sha-256 "a"`}; !slices.Equal(got, want) || !list.Wrapped() {
		t.Errorf("got %q, wrapped %v; want %q", got, list.Wrapped(), want)
	}
	text := "# a: 1 bytes\r\n# dash\r\n" + h256 + "  b\r\nSHA256 (a) = " + h256
	if m := list.Message(); string(m.Text) != text || string(m.Signature) != end {
		t.Errorf("the message is %q and %q", m.Text, m.Signature)
	}
	if m := parse(t, "a-CHECKSUM", entry).Message(); m.Text != nil || m.Signature != nil {
		t.Errorf("a list alone has the message %q", m)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"before":           {entry + begin + hash + "\n" + entry + end, "line 2: unsigned text before the signed message"},
		"a comment before": {"# x\n" + begin + hash + "\n" + entry + end, "line 2: unsigned text before"},
		"after":            {begin + hash + "\n" + entry + end + entry, "line 10: unsigned text after the signature"},
		"two": {begin + "\n" + entry + end + begin + "\n" + entry + end,
			"line 9: unsigned text after the signature"},
		"in the headers": {begin + hash + entry + "\n" + entry + end,
			"line 3: the signed message has a header other than Hash"},
		"blank, not empty": {begin + hash + " \n" + entry + end, "line 3: the signed message has a header other than Hash"},
		"a dash":           {begin + "\n" + entry + "-x\n" + end, "line 4: the signed message has a dash that is not escaped"},
		"one in the other": {begin + "\n" + begin + "\n" + entry + end,
			"line 3: the signed message has a dash that is not escaped"},
		"cut in the text": {begin + "\n" + entry, "the signed message is truncated"},
		"cut at the end":  {begin + "\n" + entry + strings.ReplaceAll(end, "-----END", "END"), "the signed message is truncated"},
		"a signature":     {end, "line 1: this is a PGP signature, key or message instead of a list"},
		"a message":       {"-----BEGIN PGP MESSAGE-----\n", "line 1: this is a PGP signature, key or message instead of a list"},
		"nothing in it":   {begin + "\n" + end, "the list has no digest"},
	} {
		if list, err := readStrict("", []byte(tt.text)); err == nil || !strings.HasPrefix(err.Error(), tt.want) ||
			len(told(list)) > 0 {
			t.Errorf("%s: %v, %q; want %s", name, err, told(list), tt.want)
		}
	}
}

func TestLimits(t *testing.T) {
	entry := h5 + "  a\n"
	long := h5 + "  " + strings.Repeat("n", maxLine-len(h5)-2)
	for _, tt := range []struct{ name, text, want string }{
		{"size", strings.Repeat("\n", MaxSize-len(entry)) + entry, ""},
		{"size", strings.Repeat("\n", MaxSize+1-len(entry)) + entry, "more than 8388608 bytes"},
		{"line", long + "\r\n", ""},
		{"line", "\n" + long + "n", "line 2: more than 4096 bytes"},
		{"line that is a comment", "#" + strings.Repeat("n", maxLine), "line 1: more than 4096 bytes"},
		{"entries", strings.Repeat(entry, maxEntries) + "# end", ""},
		{"entries", strings.Repeat(entry, maxEntries+1), "line 100001: more than 100000 digests"},
		{"entries of others", strings.Repeat("SIZE (a) = 1\n", maxEntries+1), "line 100001: more than 100000 digests"},
	} {
		_, err := readStrict("", []byte(tt.text))
		var e *LimitError
		if tt.want == "" && err == nil || errors.As(err, &e) && err.Error() == tt.want {
			continue
		}
		t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
	}
}
