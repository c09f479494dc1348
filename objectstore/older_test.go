package objectstore

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestOlderJournal_Rule8 checks that the journal of an upload that revision 696ef86 left is read without loss.
func TestOlderJournal_Rule8(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile("testdata/696ef86.upload")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.upload"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := openFile(dir, "a.upload")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	data, err := j.Read()
	r := parseRecord(data)
	var again bytes.Buffer
	lines := json.NewEncoder(&again)
	for _, line := range []any{r.heading, r.parts[1]} {
		if err := lines.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil || again.String() != string(old) || len(r.parts) != 1 || r.none() {
		t.Errorf("%v; it is read as\n%s", err, &again)
	}
}
