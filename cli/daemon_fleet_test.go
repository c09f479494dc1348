package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFleetPrefix: daemons of two machines with one path and one token do not take each other's jobs for their own, and withdraw none. A daemon that begins again
// knows its jobs.
func TestFleetPrefix(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "daemon")
	prefixOf := func() string {
		if err := os.MkdirAll(state, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(state, tokenFile), []byte("the same\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		prefix, err := fleetPrefix(state)
		if err != nil {
			t.Fatal(err)
		}
		return prefix
	}
	here := prefixOf()
	if again := prefixOf(); again != here {
		t.Errorf("begun again it is %q, and was %q", again, here)
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if elsewhere := prefixOf(); elsewhere == here {
		t.Errorf("both are %q", here)
	}
}
