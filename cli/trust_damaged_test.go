package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrustDamaged_Rule78: no command downloads while the file of keys is damaged, and what the message advises works.
func TestTrustDamaged_Rule78(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	add := []string{"trust", "add", "https://example.org/pub/", "../verify/minisign/testdata/key.pub"}
	if code, _, stderr := command(t, add...); code != exitDone {
		t.Fatal(stderr)
	}
	file := filepath.Join(config, "braid", "trust.json")
	if err := os.Truncate(file, 100); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"get", "http://127.0.0.1:1/a"}, {"trust"}, add} {
		code, _, stderr := command(t, words...)
		if code != exitUsage || !strings.Contains(stderr, "move it away and record the keys again with braid trust add") {
			t.Errorf("%q: exit code %d: %s", words, code, stderr)
		}
	}
	if err := os.Rename(file, file+".damaged"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, add...); code != exitDone {
		t.Error(stderr)
	}
}

// TestTrustOfNewer_Rule8: the keys of a newer braid are refused and kept, also by a command that adds one.
func TestTrustOfNewer_Rule8(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	file, text := filepath.Join(config, "braid", "trust.json"), `{"v": 2, "trust": [], "more": true}`
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	add := []string{"trust", "add", "https://example.org/pub/", "../verify/minisign/testdata/key.pub"}
	for _, words := range [][]string{{"get", "http://127.0.0.1:1/a"}, {"trust"}, add} {
		code, _, stderr := command(t, words...)
		if code != exitLocal || !strings.Contains(stderr,
			"written by a newer braid and left unchanged (update braid: a newer version wrote this file)") {
			t.Errorf("%q: exit code %d: %s", words, code, stderr)
		}
	}
	if data, err := os.ReadFile(file); string(data) != text || err != nil {
		t.Errorf("it is %q now, %v", data, err)
	}
}
