package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestTrustSignedList_Rule78: a list of --checksums that a recorded key signed proves the files of a bound URL, as it
// does with --key. The keys of flags do not count there, and a bound of one operand is not that of another.
func TestTrustSignedList_Rule78(t *testing.T) {
	www, dir := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := httptest.NewServer(http.FileServer(http.Dir(www)))
	defer s.Close()
	const keys = "../verify/minisign/testdata/"
	disk, free := filepath.Join(www, "pub", "disk"), filepath.Join(www, "free", "tool")
	for _, name := range []string{disk, free} {
		if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("hello "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := filepath.Join(www, "SHA256SUMS")
	must := func(words ...string) {
		t.Helper()
		if code, _, stderr := command(t, words...); code != exitDone {
			t.Fatalf("%q: exit code %d: %s", words, code, stderr)
		}
	}
	must("meta", "--mirror", s.URL+"/pub/", "-o", filepath.Join(dir, "made.meta4"), "--sign-with", keys+"secret.key",
		"--sums", list, disk, free)
	get := func(words ...string) int {
		t.Helper()
		out := t.TempDir()
		code, _, stderr := command(t, append([]string{"get", "-d", out, "--no-lookup"}, words...)...)
		t.Logf("%q: %s", words, stderr)
		return code
	}
	checksums := "--checksums=" + s.URL + "/SHA256SUMS"
	url, other := s.URL+"/pub/disk", s.URL+"/free/tool"

	must("trust", "add", s.URL+"/pub/", keys+"secret.pub")
	for _, tt := range []struct {
		name  string
		words []string
		want  int
	}{
		{"no list", []string{url}, exitNoEvidence},
		{"the list", []string{checksums, url}, exitDone},
		{"a local list", []string{"--checksums", list, url}, exitDone},
		{"another key in the flags", []string{"--key", keys + "other.pub", checksums, url}, exitDone},
		{"operands of two bounds", []string{checksums, url, other}, exitNoEvidence},
		{"no bound", []string{checksums, other}, exitDone},
	} {
		if got := get(tt.words...); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
	must("verify", "--from", url, checksums, disk)

	must("trust", "remove", s.URL+"/pub/")
	must("trust", "add", s.URL+"/pub/", keys+"other.pub")
	if got := get(checksums, url); got != exitNoKey {
		t.Errorf("a list by another key: exit code %d, want %d", got, exitNoKey)
	}
	if got := get("--key", keys+"secret.pub", checksums, url); got != exitNoKey {
		t.Errorf("a list by a key of the flags: exit code %d, want %d", got, exitNoKey)
	}
}
