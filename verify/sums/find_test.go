package sums

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"braid/verify"
)

// readStrict reads a list in which a line that cannot be read is an error.
func readStrict(name string, data []byte) (List, error) {
	l, err := Read(name, data)
	if wrong := l.malformed(); len(wrong) > 0 {
		return List{}, wrong[0]
	}
	return l, err
}

// findStrict finds a file of which nothing else is known.
func findStrict(l List, name, list string, over verify.Channel) ([]verify.Claim, error) {
	claims, malformed, err := l.Find([]string{name}, list, over)
	if err == nil && len(malformed) > 0 && !verify.Strong(claims) {
		return nil, malformed[0]
	}
	return claims, err
}

// all are the entries that can be read.
func all(l List) (entries []Entry) {
	for e, wrong := range l.Lines() {
		if wrong == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// found says what a list claims about a file, in words.
func found(l List, name string) string {
	claims, err := findStrict(l, name, "LIST", verify.HTTPS)
	if err != nil {
		return "error: " + err.Error()
	}
	var words []string
	for _, c := range claims {
		words = append(words, c.String())
	}
	return strings.Join(words, "; ")
}

func TestFind(t *testing.T) {
	exact := h256 + "  a.iso\n" + o256 + "  x/a.iso\n" + o256 + " *y/a.iso\n"
	tree := h256 + "  ./netboot/mini.iso\n" + o256 + "  ./netboot/gtk/mini.iso\n" + h256 + "  ./cd/one.iso\n"
	for _, tt := range []struct{ name, list, text, wanted, want string }{
		{"exact before deeper", "", exact, "a.iso", "sha-256 from line 1 of LIST over https"},
		{"dot before name", "", h256 + "  ./a.iso\n" + o256 + "  x/a.iso\n", "a.iso", "sha-256 from line 1 of LIST over https"},
		{"dot in the question", "", h256 + "  a.iso\n", "././a.iso", "sha-256 from line 1 of LIST over https"},
		{"dot in the question, below a folder", "", h256 + "  x/a.iso\n", "./a.iso",
			`error: "a.iso" is not in the list; similar names are "x/a.iso"`},
		{"below a folder", "", tree, "one.iso", "sha-256 from line 3 of LIST over https"},
		{"with its folder", "", tree, "netboot/mini.iso", "sha-256 from line 1 of LIST over https"},
		{"with its deeper folder", "", tree, "gtk/mini.iso", "sha-256 from line 2 of LIST over https"},
		{"with an end of its folder", "", tree, "tk/mini.iso",
			`error: "tk/mini.iso" is not in the list; similar names are "./netboot/gtk/mini.iso", "./netboot/mini.iso"`},
		{"ambiguous", "", tree, "mini.iso",
			`error: several listed paths end in "mini.iso": "./netboot/gtk/mini.iso", "./netboot/mini.iso"`},
		{"the same path twice is not ambiguous", "", h256 + "  x/a\n" + h512 + "  ./x/a\n", "a",
			"sha-512 from line 2 of LIST over https; sha-256 from line 1 of LIST over https"},
		{"an end of a segment is no segment", "", h256 + "  xa.iso\n" + h256 + "  b/xa.iso\n", "a.iso",
			`error: "a.iso" is not in the list; similar names are "b/xa.iso", "xa.iso"`},
		{"strongest first", "", h5 + "  a\n" + h256 + "  a\n" + h512 + "  a\n" + h1 + "  a\n", "a",
			"sha-512 from line 3 of LIST over https; sha-256 from line 2 of LIST over https; sha-1 from line 4 of LIST " +
				"over https; md5 from line 1 of LIST over https"},
		{"twice the same", "", h256 + "  a\nSHA256 (./a) = " + strings.ToUpper(h256) + "\n", "a",
			"sha-256 from line 1 of LIST over https"},
		{"escaped", "", `\` + h256 + `  a\nb`, "a\nb", "sha-256 from line 1 of LIST over https"},
		{"case counts", "", h256 + "  Disk.iso", "disk.iso",
			`error: "disk.iso" is not in the list; similar names are "Disk.iso"`},
		{"names like it", "", h256 + "  disk-1.2-amd64.iso\n" + h256 + "  readme\n" + h256 + "  disk-1.3-arm64.iso\n",
			"disk-1.3-amd64.iso",
			`error: "disk-1.3-amd64.iso" is not in the list; similar names are "disk-1.2-amd64.iso", "disk-1.3-arm64.iso"`},
		{"nothing like it", "", h256 + "  readme\n", "disk.iso", `error: "disk.iso" is not in the list`},
		{"no name", "", h256 + "  dir/\n" + h256 + "  ./\n", "", `error: "" is not in the list`},
		{"another algorithm only", "", "BLAKE2b (a) = " + h512 + "\nSHA3-256 (a) = " + h256 + "\n" + h256 + "  x/a\n", "a",
			`error: the list has no supported digest of "a", only BLAKE2b, SHA3-256`},
		{"another algorithm, too", "", "BLAKE2b (a) = " + h512 + "\nSHA256 (a) = " + h256 + "\n", "a",
			"sha-256 from line 2 of LIST over https"},
		{"escapes in errors", "", h256 + "  a\x1b[2J\n", "a\x1b[3J",
			`error: "a\x1b[3J" is not in the list; similar names are "a\x1b[2J"`},

		{"alone", "", h256, "disk.iso", "sha-256 from line 1 of LIST over https"},
		{"alone, two algorithms", "x.txt", h256 + "\n" + h512, "disk.iso",
			"sha-512 from line 2 of LIST over https; sha-256 from line 1 of LIST over https"},
		{"alone, of this file", "disk.iso.sha256", h256, "disk.iso", "sha-256 from line 1 of LIST over https"},
		{"alone, of this file in a folder", "disk.iso.SHA256SUM.txt", h256, "x/disk.iso",
			"sha-256 from line 1 of LIST over https"},
		{"alone, of this file without its end", "disk.sha256", h256, "disk.iso", "sha-256 from line 1 of LIST over https"},
		{"alone, of another file", "disk.iso.sha256", h256, "disk2.iso",
			`error: "disk2.iso" is not in the list; similar names are "disk.iso"`},
		{"standard input", "disk.iso.sha256", h256 + "  -\n", "disk.iso", "sha-256 from line 1 of LIST over https"},
		{"standard input among names", "", h256 + "  -\n" + o256 + "  a\n", "-", `error: "-" is not in the list`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := found(parse(t, tt.list, tt.text), tt.wanted); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := found(List{}, "a"); got != `error: "a" is not in the list` {
		t.Errorf("the zero List: %s", got)
	}
}

// A file with several names is looked for by one after the other; what is there more than once is no reason to go on, nor
// is a digest that is not known here.
func TestFindAny(t *testing.T) {
	l := parse(t, "", h256+"  x/a.iso\n"+o256+"  y/a.iso\n"+h256+"  b.iso\nBLAKE2b (c.iso) = "+h512+"\n")
	for _, tt := range []struct{ names, want string }{
		{"pub/y/a.iso y/a.iso a.iso", "sha-256 from line 2 of LIST over https"},
		{"pub/a.iso a.iso b.iso", `error: several listed paths end in "a.iso": "x/a.iso", "y/a.iso"`},
		{"d.iso b.iso", "sha-256 from line 3 of LIST over https"},
		{"c.iso b.iso", `error: the list has no supported digest of "c.iso", only BLAKE2b`},
		{"e d.iso", `error: "d.iso" is not in the list; similar names are "b.iso", "c.iso", "x/a.iso", "y/a.iso"`},
		{"", `error: "" is not in the list`},
	} {
		claims, _, err := l.Find(strings.Fields(tt.names), "LIST", verify.HTTPS)
		got := fmt.Sprint("error: ", err)
		if err == nil {
			got = claims[0].String()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.names, got, tt.want)
		}
	}
}

// Proves rule 32: two digests of one file are an error, whichever comes first and however the file is written.
func TestConflict_Rule32(t *testing.T) {
	for _, text := range []string{
		h256 + "  a\n" + o256 + "  a\n", h256 + "  a\n" + o256 + " *./a\n",
		h512 + "  a\n" + h256 + "  a\nSHA512 (a) = " + o512 + "\n",
		h256 + "\n" + o256 + "\n", h256 + "  x/a\n" + o256 + "  ./x/a\n",
	} {
		claims, err := findStrict(parse(t, "", text), "a", "LIST", verify.User)
		var conflict *verify.ConflictError
		if !errors.As(err, &conflict) || len(claims) > 0 {
			t.Errorf("%q: %v, %v", text, claims, err)
		}
	}
	_, err := findStrict(parse(t, "", h256+"  a\n\n"+o256+"  a\n"), "a", "SHA256SUMS", verify.User)
	want := fmt.Sprintf("sha-256 is %s (from line 1 of SHA256SUMS) and %s (from line 3 of SHA256SUMS)", h256, o256)
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got := found(parse(t, "", h256+"  a\n"+h256+"  b\n"+o256+"  b\n"), "a"); strings.HasPrefix(got, "error") {
		t.Errorf("what is wrong with another file: %s", got)
	}
}

// Claims are as good as the way that the list came (rule 64).
func TestChannel_Rule64(t *testing.T) {
	for _, over := range []verify.Channel{verify.HTTP, verify.HTTPS, verify.User} {
		claims, err := findStrict(parse(t, "", h256+"  a"), "a", "LIST", over)
		if err != nil || len(claims) != 1 || claims[0].Channel != over || claims[0].Digest.Hex() != h256 {
			t.Errorf("%v: %v, %v", over, claims, err)
		}
	}
}

// Errors name a few, whatever the list holds.
func TestErrorsAreShort(t *testing.T) {
	var deep, near strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&deep, "%s  %d/%s/a\n", h5, i, strings.Repeat("d", 1000))
		fmt.Fprintf(&near, "%s  a%s%d\n", h5, strings.Repeat("n", 1000), i)
	}
	for _, tt := range []struct{ text, wanted string }{{deep.String(), "a"}, {near.String(), "a" + strings.Repeat("n", 1000)}} {
		_, err := findStrict(parse(t, "", tt.text), tt.wanted, "LIST", verify.HTTPS)
		var many *AmbiguousError
		var none *NotFoundError
		names := 0
		switch {
		case errors.As(err, &many):
			names = len(many.Paths)
		case errors.As(err, &none):
			names = len(none.Near)
		}
		if names != 5 || len(err.Error()) > 1000 {
			t.Errorf("%d names, %d bytes: %v", names, len(err.Error()), err)
		}
	}
}

// Who mistyped a name is told those like it, the likest first; one in another case is the likest.
func TestNearNames(t *testing.T) {
	_, err := findStrict(parse(t, "", h256+"  disk-1.1.iso\n"+h256+"  DISK-1.0.ISO\n"+h256+"  other.txt\n"),
		"disk-1.0.iso", "LIST", verify.User)
	none, ok := errors.AsType[*NotFoundError](err)
	if want := []string{"DISK-1.0.ISO", "disk-1.1.iso"}; !ok || !slices.Equal(none.Near, want) {
		t.Errorf("%v, want those near: %q", err, want)
	}
}

// Proves rule 31: a line that cannot be read is an error for its own file, unless a strong digest of that file is there.
func TestUnreadableLines_Rule31(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		ok   bool
	}{
		"of another file":     {"0123456789  b\n" + h256 + "  a\n", true},
		"prose":               {"Here are some digests:\n" + h256 + "  a\n", true},
		"beside a strong one": {"SHA512 (a) = x\n" + h256 + "  a\n", true},
		"beside a weak one":   {"SHA512 (a) = x\n" + h5 + "  a\n", false},
		"weak, of another":    {"SHA512 (b) = x\n" + h5 + "  a\n", true},
		"weak, of no file":    {"0123456789\n" + h5 + "  a\n", false},
		"alone":               {"SHA512 (a) = x\n", false},
		"not in the list":     {"0123456789\n" + h256 + "  b\n", false},
	} {
		list, err := Read("LIST", []byte(tt.text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		claims, err := findStrict(list, "a", "LIST", verify.User)
		var wrong *Error
		if tt.ok != (err == nil && len(claims) == 1) || !tt.ok && !errors.As(err, &wrong) {
			t.Errorf("%s: %v, %v", name, claims, err)
		}
		if _, err := readStrict("LIST", []byte(tt.text)); !errors.As(err, &wrong) {
			t.Errorf("%s: parsed: %v", name, err)
		}
	}
}
