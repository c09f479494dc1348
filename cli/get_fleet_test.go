//go:build !nofleet

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A name that every worker would refuse is refused where it is put into the queue, before anything is there.
func TestQueueNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, want := range map[string]string{
		".braid-work/x.iso": "begins with a dot", "x.iso.evidence.json": "evidence", "a/x.iso.part": ".part",
		"CON": "reserved", "a\u202eiso": "a part of",
		strings.Repeat("n", 250): "at most", "x/.braid-work-0": "begins with a dot",
	} {
		list := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(list, []byte("https://example.org/y.iso\nhttps://example.org/x.iso\n  out="+name+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		var out, told bytes.Buffer
		code := run(t.Context(), []string{"braid", "get", "--queue", "embedded:" + filepath.Join(dir, "queue"), "-i",
			list}, streams{out: &out, err: &told})
		if code != exitUsage || !strings.Contains(told.String(), want) {
			t.Errorf("%.20s: exit %d, %s", name, code, &told)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "queue")); err == nil {
		t.Error("a queue was made")
	}
}

// A job that the queue has no room for is refused with its size, before anything is there.
func TestQueueLarge(t *testing.T) {
	t.Parallel()
	ctx, dir, _ := queueHere(t)
	var text strings.Builder
	text.WriteString("https://example.org/small.iso\nhttps://example.org/x.iso")
	for range 50 {
		text.WriteString("\n  user-agent=" + strings.Repeat("x", 60_000))
	}
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, told bytes.Buffer
	code := run(ctx, []string{"braid", "get", "--queue", "embedded:" + dir, "-i", list}, streams{out: &out, err: &told})
	if code != exitUsage || !strings.Contains(told.String(), "x.iso: the job is too large for the queue: 3") ||
		!strings.Contains(told.String(), "of at most 2097152") {
		t.Errorf("exit %d, %s", code, &told)
	}
	out.Reset()
	if code := run(ctx, []string{"braid", "queue", "list", "--queue", "embedded:" + dir},
		streams{out: &out, err: &told}); code != 0 || out.Len() > 0 {
		t.Errorf("exit %d, and in the queue is %s", code, &out)
	}
}
