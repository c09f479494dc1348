package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSBOM: the test itself is a program with build information.
func TestSBOM(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := run(&b, []string{"sbom", program, "1.0"}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		BomFormat string
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil || got.BomFormat != "CycloneDX" ||
		got.Metadata.Component.Name != "braid/scripts/attest" || got.Metadata.Component.Version != "1.0" ||
		got.Components[0].Name != "std" || got.Components[0].Version == "" {
		t.Errorf("%v: %s", err, b.String())
	}
}

func TestProvenance(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.tar.gz")
	if err := os.WriteFile(file, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := run(&b, []string{"provenance", "1.0", "c0ffee", "linux/amd64 linux/arm64", file}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "a.tar.gz"`,
		`"sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`,
		`"gitCommit": "c0ffee"`, `"linux/arm64"`, `"predicateType": "https://slsa.dev/provenance/v1"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	for _, args := range [][]string{nil, {"sbom"}, {"sbom", file, "1"}, {"provenance", "1", "c", "p", file + "x"}} {
		if run(&b, args) == nil {
			t.Errorf("attest %q did not fail", args)
		}
	}
}
