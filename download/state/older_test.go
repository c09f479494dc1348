package state

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"braid/verify"
)

// TestOlder_Rule8 checks that the pins and versions that revision 696ef86 left are read.
func TestOlder_Rule8(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pins/a763a50a8647d137ca0c5bb6c0f119ec": `3364b75de61a7108 {"V":1,"HTTP":"sha-256"}`,
		"versions/6a4bac846d6884c6c70f90799b7f6b14": `166fd75746a5eb9d {"V":1,"ETag":"ImUxIg==","Host":"127.0.0.1:18977","Size":3000,` +
			`"SHA256":"556ac82f23f64d2f41b3fb3b9a171791364021aa95c0af6df9e2b5e1d88c8038","Over":1}`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, u := &Store{Dir: dir}, &url.URL{Scheme: "http", Host: "127.0.0.1:18977", Path: "/disk.iso"}
	if p := s.pin("a763a50a8647d137ca0c5bb6c0f119ec"); p != (Pin{HTTP: verify.SHA256}) {
		t.Errorf("the pin is %+v", p)
	}
	v, ok := s.Version("/srv/isos/home/disk.iso", u)
	if !ok || v.ETag != `"e1"` || v.Host != u.Host || v.Size != 3000 || v.Over != verify.HTTP ||
		v.Digest.Hex() != "556ac82f23f64d2f41b3fb3b9a171791364021aa95c0af6df9e2b5e1d88c8038" {
		t.Errorf("the version is %+v, %t", v, ok)
	}
}
