package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/test/mirrortest"
)

// TestRequestFailsInTurn: what cannot be made a request any more when its turn comes is an error of the run.
func TestRequestFailsInTurn(t *testing.T) {
	s := mirrortest.New(t, []byte("a"))
	for n := range 2 { // operands before the list
		g, _, err := parse(t, "-q", "-d", t.TempDir(), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		g.screen = g.outputFlags.screen(g.streams)
		signature := filepath.Join(t.TempDir(), "a.asc")
		write(t, signature, "x")
		g.Job.Anchors.Signature = option.WordsValue{signature}
		g.Job.Input = job.Input{InputFile: "list", Text: s.URL + "/b\n"}
		client := clientOf(t, g)
		list, err := job.NewList(t.Context(), g.Job, client, slices.Repeat([]string{s.URL + "/a"}, n))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(signature); err != nil {
			t.Fatal(err)
		}
		if code := g.all(t.Context(), client, list); code != exitUsage {
			t.Errorf("after %d files: exit code %d, want %d", n, code, exitUsage)
		}
	}
}
