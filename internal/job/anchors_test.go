package job

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/problem"
	"braid/verify"
	"braid/verify/signatures"
)

// TestRevocationApart_Rule47: a revocation counts wherever the user gives it, also in a file without the revoked key. It is an
// error if no file has that key.
func TestRevocationApart_Rule47(t *testing.T) {
	const recorded = "../../verify/openpgp/testdata/gnupg"
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(recorded, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	sig, revocation := read("gone.asc"), string(read("gone.rev"))
	for _, tt := range []struct {
		keyrings, keys string // names of files
		revoked        bool
	}{
		{"alive.pub gone.rev", "", true},
		{"gone.rev alive.pub", "", true},
		{"rsa.pub gone.rev nist.pub alive.pub", "", true},
		{"", "alive.pub gone.rev", true},
		{"", "gone.rev alive.pub", true},
		{"alive.pub", "gone.rev", true},
		{"gone.rev", "alive.pub", true},
		{"alive.pub", "TEXT", true},
		{"gone.rev", "", false},
		{"", "gone.rev", false},
		{"", "TEXT", false},
		{"rsa.pub", "gone.rev", false},
	} {
		var a Anchors
		for _, name := range strings.Fields(tt.keyrings) {
			a.Keyring = append(a.Keyring, filepath.Join(recorded, name))
		}
		for _, name := range strings.Fields(tt.keys) {
			if word := filepath.Join(recorded, name); name != "TEXT" {
				a.Key = append(a.Key, word)
			} else {
				a.Key = append(a.Key, revocation)
			}
		}
		all, err := a.Load()
		if !tt.revoked {
			p, ok := errors.AsType[*problem.Problem](err)
			if !ok || p.Kind != download.Usage || !strings.Contains(err.Error(), "but not this key") ||
				!strings.Contains(p.Hint, "also give the key that it revokes") {
				t.Errorf("%+v: got %v, want an error of usage", tt, err)
			}
			if where := p.Where; strings.Contains(where, "--key ") != strings.Contains(tt.keys, "gone.rev") ||
				strings.Contains(where, "--keyring ") != (tt.keyrings != "") || tt.keys == "TEXT" && where != "--key" {
				t.Errorf("%+v: about %s", tt, where)
			}
			continue
		}
		if err != nil || len(all) != 1 || all[0].Kind() != signatures.Of(sig) {
			t.Errorf("%+v: got %v and %v", tt, all, err)
			continue
		}
		c, err := all[0].Check(verify.Detached{Data: sig, Now: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			c.Write([]byte("braid\n"))
			_, err = c.Signatures()
		}
		if err == nil || !strings.Contains(err.Error(), "key revoked") {
			t.Errorf("%+v: got %v, want a revoked key", tt, err)
		}
	}
}
