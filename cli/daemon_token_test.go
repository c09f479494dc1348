package cli

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestDaemonOneToken: processes that begin at the same time have one token, and no other file is left.
func TestDaemonOneToken(t *testing.T) {
	t.Parallel()
	for range 20 {
		state := t.TempDir()
		var wg sync.WaitGroup
		words := make([]string, 8)
		for i := range words {
			wg.Go(func() {
				var err error
				if words[i], err = tokenOf(state); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, word := range words {
			if word != words[0] || len(word) != 64 {
				t.Fatalf("%q", words)
			}
		}
		if left, err := filepath.Glob(filepath.Join(state, "*")); err != nil || len(left) != 1 {
			t.Errorf("%q, %v", left, err)
		}
	}
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, tokenFile), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := tokenOf(state)
	second, again := tokenOf(state)
	if err != nil || again != nil || first != second || len(first) != 64 {
		t.Errorf("%q, %v, %q, %v", first, err, second, again)
	}
}

// TestDaemonDemand_Rule64: a client may demand more than the daemon, and not less.
func TestDaemonDemand_Rule64(t *testing.T) {
	plain := mirrortest.New(t, mirrortest.Generate(1000, 1), mirrortest.Name("a.iso"))
	for _, tt := range []struct{ daemon, client, status string }{
		{"digest", "none", "error"}, {"digest", "", "error"}, {"none", "digest", "error"}, {"none", "none", "complete"},
		{"digest", "nonsense", "error"},
	} {
		d := newDaemonRun(t)
		d.start("--require", tt.daemon)
		options := map[string]string{}
		if tt.client != "" {
			options["require"] = tt.client
		}
		if status := d.status(d.add(plain.URL, options)); status["status"] != tt.status {
			t.Errorf("%+v: %v", tt, status)
		}
		d.end()
	}
}
