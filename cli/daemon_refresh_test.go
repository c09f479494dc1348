package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestDaemonNewLink: a download whose link is changed goes on where host, size and strong ETag agree. Else what came
// stays, and the download ends with what would do.
func TestDaemonNewLink(t *testing.T) {
	const size, sent = 4 << 20, 3 << 20
	s := mirrortest.New(t, mirrortest.Generate(size, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`),
		mirrortest.StallAfter(sent))
	other := mirrortest.New(t, mirrortest.Generate(size, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`))
	d := newDaemonRun(t)
	d.start("-x", "1")
	for _, tt := range []struct{ name, to, status, message string }{
		{"same.iso", s.URL + "?signature=2", "complete", ""},
		{"other.iso", other.URL, "error", "nothing shows that the new link leads to the same file"},
	} {
		part := filepath.Join(d.root, tt.name+".part")
		gid := d.add(s.URL, map[string]string{"out": tt.name})
		waitFor(t, "half of the file", func() bool { info, err := os.Stat(part); return err == nil && info.Size() >= size/2 })
		if _, failure := d.call("aria2.changeUri", gid, 1, []string{s.URL}, []string{tt.to}); failure != "" {
			t.Fatal(failure)
		}
		status := d.status(gid)
		if message, _ := status["errorMessage"].(string); status["status"] != tt.status ||
			!strings.Contains(message, tt.message) {
			t.Errorf("%s: %v", tt.name, status)
		}
		info, _ := os.Stat(part)
		if aside, _ := filepath.Glob(part + ".bad*"); len(aside) > 0 || (info != nil) != (tt.status == "error") {
			t.Errorf("%s: it began anew: %v, %q", tt.name, info, aside)
		}
	}
	if data, err := os.ReadFile(filepath.Join(d.root, "same.iso")); err != nil || !bytes.Equal(data, s.Content.Bytes()) {
		t.Error(err)
	}
}
