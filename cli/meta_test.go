package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/metalink"
	"braid/verify"
	"braid/verify/minisign"
)

// inFolder works in a folder with these files: name and content in turn.
func inFolder(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(files[i], []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMeta: what is written is what a reader finds, and what was said.
func TestMeta(t *testing.T) {
	body := strings.Repeat("braid", 100_000)
	inFolder(t, "a b.iso", body, "empty", "", "list", "https://two.example/;pri=2\nftp://three.example/pub/\n")
	code, out, err := command(t, "meta", "--mirrors", "list", "--mirror", "https://one.example/x/;pri=1;geo=de",
		"--mirror", "https://two.example/;pri=1", "--hash", "SHA512", "a b.iso", "empty")
	if code != exitDone || out != "" || !strings.Contains(err,
		"a b.iso: 488 KiB, 2 pieces of 256 KiB, 3 mirrors\nwrote a b.iso.meta4\n") {
		t.Fatalf("exit code %d, %q, %q", code, out, err)
	}
	data, fault := os.ReadFile("a b.iso.meta4")
	if fault != nil {
		t.Fatal(fault)
	}
	d, fault := metalink.Parse(strings.NewReader(string(data)))
	if fault != nil || len(d.Files) != 1 || len(d.Warnings) > 0 {
		t.Fatalf("%+v, %v", d, fault)
	}
	f := d.Files[0]
	if f.Name != "a b.iso" || f.Size != int64(len(body)) || len(f.Claims) != 2 ||
		f.Claims[0].Digest.Algorithm() != verify.SHA512 {
		t.Errorf("it describes %s, %d bytes, %v", f.Name, f.Size, f.Claims)
	}
	c := verify.NewChecker(f.Size, f.Claims)
	io.WriteString(c, body)
	if _, err := c.Proof(); err != nil {
		t.Error(err)
	}
	for i := range f.BestPieces().Count() {
		if from, to := f.BestPieces().At(i); !f.BestPieces().Check(i, []byte(body[from:to])) {
			t.Errorf("piece %d is wrong", i)
		}
	}
	var urls []string
	for _, m := range f.Mirrors {
		urls = append(urls, m.URL.String())
	}
	if got := strings.Join(urls, " "); got != "https://one.example/x/a%20b.iso https://two.example/a%20b.iso "+
		"ftp://three.example/pub/a%20b.iso" {
		t.Errorf("URLs are %s", got)
	}
	if data, _ := os.ReadFile("empty.meta4"); !strings.Contains(string(data), "<size>0</size>") ||
		strings.Contains(string(data), "<pieces") {
		t.Errorf("of an empty file: %s", data)
	}
}

// TestMetaWritesAllOrNothing: all operands are looked at before the first document is written.
func TestMetaWritesAllOrNothing(t *testing.T) {
	inFolder(t, "a", "abc", ".hidden", "x", "b", "abc", "b.meta4", "mine")
	for _, other := range []string{".hidden", "b"} {
		code, _, err := command(t, "meta", "--mirror", "https://one.example/", "a", other)
		if code != exitLocal || !strings.Contains(err, other) {
			t.Errorf("%s: exit code %d, %q", other, code, err)
		}
		if _, err := os.Stat("a.meta4"); err == nil {
			t.Errorf("%s: a.meta4 is there", other)
		}
	}
	if data, _ := os.ReadFile("b.meta4"); string(data) != "mine" {
		t.Errorf("b.meta4 is %q", data)
	}
}

// TestMetaInterrupted: Ctrl-C ends the reading, and nothing is written.
func TestMetaInterrupted(t *testing.T) {
	inFolder(t, "a", "abc")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&signalError{syscall.SIGINT})
	var out, errs lockedBuffer
	code := run(ctx, []string{"braid", "meta", "--mirror", "https://one.example/", "a"}, streams{out: &out, err: &errs})
	if names, _ := filepath.Glob("*"); code != 130 || len(names) != 1 {
		t.Errorf("exit code %d, %s, the folder has %q", code, errs.String(), names)
	}
}

// TestMetaOfAFileThatGrows: a document about bytes that were never a file at one time is not written.
func TestMetaOfAFileThatGrows(t *testing.T) {
	v := &metaCommand{algorithms: []verify.Algorithm{verify.SHA256}}
	for _, body := range []string{"longer", "s"} {
		f := described{File: metalink.File{Size: 3}}
		if err := v.measure(t.Context(), strings.NewReader(body), &f); err != errChanging {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// An intrusion is a signer before whose signatures another program does something.
type intrusion struct {
	verify.Signer
	do func()
}

func (i intrusion) Begin(name string, now time.Time) (verify.Signing, error) {
	i.do()
	return i.Signer.Begin(name, now)
}

// TestMetaOfAFileThatIsReplaced: nothing is stated about bytes that are not under the name any more.
func TestMetaOfAFileThatIsReplaced(t *testing.T) {
	secret, err := os.ReadFile("../verify/minisign/testdata/secret.key")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := minisign.Kind.NewSigner(secret, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t, "a", "abc", "new", "xyz")
	v := &metaCommand{algorithms: []verify.Algorithm{verify.SHA256}}
	v.signer = intrusion{signer, func() {}}
	if _, err := v.describe(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	v.signer = intrusion{signer, func() {
		info, _ := os.Stat("a")
		os.Chtimes("new", info.ModTime(), info.ModTime())
		os.Rename("new", "a")
	}}
	if _, err := v.describe(t.Context(), "a"); err != errChanging {
		t.Errorf("got %v, want %v", err, errChanging)
	}
}
