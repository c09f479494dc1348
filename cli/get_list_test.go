package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/job"
)

// readAs reads a list from standard input, after the words of a command line.
func readAs(t *testing.T, list string, words ...string) ([]download.Request, error) {
	t.Helper()
	g, _, err := parse(t, append(words, "-i", "-")...)
	if err != nil {
		t.Fatal(err)
	}
	g.Job.Input.Stdin = strings.NewReader(list)
	l, err := job.NewList(t.Context(), g.Job, clientOf(t, g), nil)
	if err != nil {
		return nil, err
	}
	requests := slices.Collect(l.All())
	if len(requests) != l.Files {
		t.Errorf("%d requests of %d files", len(requests), l.Files)
	}
	return requests, nil
}

func TestList(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	requests, err := readAs(t, "# files\nhttp://me:pw@h/a\thttp://m/a\n  checksum = sha-256="+sum+
		"\n  header=X: 1\n\nhttp://h/b\n"+
		" out=sub/c\n dir=elsewhere\n mirror=http://m/b\n no-referer=true\n require=none\n allow-overwrite=true\n "+
		"user=a:b\n referer=http://r/\nhttp://h/d\r\n",
		"-d", "folder", "--require", "digest", "-H", "A: b")
	if err != nil || len(requests) != 3 {
		t.Fatal(requests, err)
	}
	a, b, d := requests[0], requests[1], requests[2]
	if a.URL.String() != "http://h/a" || a.Access.User.String() != "me:pw" || len(a.Mirrors) != 1 ||
		a.Mirrors[0].Host != "m" || a.Dir != "folder" || !a.MakeDir ||
		a.Trust.Claims[0].String() != "sha-256 from checksum in standard input" ||
		a.Trust.Claims[0].Digest.Hex() != sum || a.Trust.Require != download.RequireDigest {
		t.Errorf("%+v", a)
	}
	if !reflect.DeepEqual(a.Access.Header, map[string][]string{"A": {"b"}, "X": {"1"}}) {
		t.Errorf("%v", a.Access.Header)
	}
	if b.Dir != "elsewhere/sub" || b.Name != "c" || len(b.Mirrors) != 1 || !b.Access.NoReferer ||
		b.Trust.Require != download.RequireNothing || !b.IfExists.Overwrite ||
		b.Access.User.String() != "a:b" || len(b.Trust.Claims) != 0 || b.Access.Header["Referer"][0] != "http://r/" {
		t.Errorf("%+v", b)
	}
	if path, err := d.Path(); path != "folder/d" || err != nil || d.IfExists.Overwrite || d.Access.NoReferer ||
		!reflect.DeepEqual(d.Access.Header, map[string][]string{"A": {"b"}}) {
		t.Errorf("%+v", d)
	}
}

// TestListRefused: what makes no sense is told with its line, before anything is asked of anybody.
func TestListRefused(t *testing.T) {
	for _, tt := range []struct{ list, want string }{
		{"", "standard input: the list has no URL"},
		{"http://h/a\n outt=x", "standard input:2: outt: unknown option (did you mean out?)"},
		{"http://h/a\n zzzzzzzzz=x", "standard input:2: zzzzzzzzz: unknown option (choose one of allow-overwrite, " +
			"auto-file-renaming, checksum"},
		{"http://h/a\n out", "standard input:2: an option (the line is indented) without NAME=VALUE"},
		{"file:///a", "standard input:1: file:///a: is not an http, https or ftp URL"},
		{"ftp://h/a%0Ab", "standard input:1: ftp://h/a%0Ab: the URL has a line break or a NUL"},
		{"http://h/a\tm/a.iso", "standard input:1: m/a.iso: is not an http, https or ftp URL"},
		{"http://h/a?b=s3cret\n\nhttp://h/", "standard input:3: the URL ends without a file name (name the file with -o NAME"},
		{"http://h/a\n checksum=abc", "standard input:2: checksum: write ALGORITHM=HEX"},
		{"http://h/a\n checksum=crc32=abc", "standard input:2: checksum: write ALGORITHM=HEX"},
		{"http://h/a\n sha256=abc", "standard input:2: sha256: "},
		{"http://h/a\n sha256=" + strings.Repeat("ab", 32) + "\n checksum=sha-256=" + strings.Repeat("cd", 32),
			"standard input:3: checksum: "},
		{"http://h/a\n header=x", "standard input:2: header: is not a header field (write 'NAME: VALUE')"},
		{"http://h/a\n header=Range: x", "standard input:2: header: Range: braid sets this field itself"},
		{"http://h/a\n user=me", "standard input:2: user: no password"},
		{"http://h/a\n overwrite=maybe", "standard input:2: overwrite: write true or false"},
		{"http://h/a\n require=x", "standard input:2: require: write one of none, digest"},
		{"http://h/a\n mirror=x:y", "standard input:2: mirror: "},
		{"http://h/a\n out=b/", "standard input:1: out: is not the name of a file"},
		{"http://h/a\n out=-", "standard input:1: out: is not the name of a file"},
		{"http://h/a\n\nhttp://h/b\n out=a", "standard input:3: two URLs would be saved as a: the other is on line 1 " +
			"(give one of the files another name with out=NAME"},
		{"http://h/a\nhttp://h/b\n dir=.\n out=./a", "standard input:2: two URLs would be saved as a"},
	} {
		_, err := readAs(t, tt.list)
		if err == nil || !strings.HasPrefix(err.Error(), "usage "+tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, want %s", tt.list, err, tt.want)
		}
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readAs(t, "http://h/a\nhttp://h/b\n out="+filepath.Join(wd, "a")); err == nil {
		t.Error("one path is written in two ways, and nobody noticed")
	}
}

// TestListAndOperands: operands come first, and share their names with the list.
func TestListAndOperands(t *testing.T) {
	g, _, err := parse(t, "-i", "-", "http://h/a")
	if err != nil {
		t.Fatal(err)
	}
	g.Job.Input.Stdin = strings.NewReader("http://h/b")
	l, err := job.NewList(t.Context(), g.Job, clientOf(t, g), []string{"http://h/a"})
	if err != nil || l.Files != 2 {
		t.Fatal(err)
	}
	g.Job.Input.Stdin = strings.NewReader("http://h/x/a")
	if _, err = job.NewList(t.Context(), g.Job, clientOf(t, g), []string{"http://h/a"}); err == nil ||
		!strings.Contains(err.Error(), "standard input:1: two URLs would be saved as a: the other is an operand") {
		t.Error(err)
	}
}

// TestLongListIsReadTwice: a list of many files needs little more memory than its text.
func TestLongListIsReadTwice(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "http://127.0.0.1/d/%d\n", i)
	}
	requests, err := readAs(t, b.String())
	if err != nil || len(requests) != 50_000 || requests[49_999].URL.Path != "/d/49999" {
		t.Fatal(len(requests), err)
	}
}
