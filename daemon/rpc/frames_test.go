package rpc

import (
	"os"
	"strings"
	"testing"

	"braid/daemon/queue"
)

// recorded has the frames of real aria2, which TestRealFrames records and compares.
const recorded = "testdata/aria2.txt"

func writeFrames(told []frame) string {
	var b strings.Builder
	for _, f := range told {
		b.WriteString("# " + f.name + "\n" + f.text + "\n\n")
	}
	return b.String()
}

func readFrames(t *testing.T, name string) (told []frame) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n\n"), "\n\n# ") {
		name, text, _ := strings.Cut(strings.TrimPrefix(part, "# "), "\n")
		told = append(told, frame{name, text})
	}
	return told
}

// TestFrames checks that braid answers the script like aria2, by shape, except for the listed differences.
func TestFrames(t *testing.T) {
	e := newEngine()
	_, url := start(t, e, Options{Token: secret, Version: "1", Shutdown: func() {}})
	s := &session{t: t, rpc: url, files: "http://127.0.0.1:1"}
	s.reach = func(gid string, status queue.Status) {
		g, ok := queue.ParseGID(gid)
		if !ok {
			t.Fatalf("%q is no GID", gid)
		}
		e.end(g, status)
	}
	play(s)
	compareFrames(t, s.told, readFrames(t, recorded))
}

// differences has the frames in which braid differs from aria2, each with the reason.
const differences = "testdata/differences.txt"

func compareFrames(t *testing.T, got, want []frame) {
	t.Helper()
	differs := map[string]string{}
	for _, f := range readFrames(t, differences) {
		_, differs[f.name], _ = strings.Cut(f.text, "\n")
	}
	for i, f := range got {
		if i >= len(want) || want[i].name != f.name {
			t.Fatalf("frame %d is %q, and not recorded there: go test -tags realservers -run TestRealFrames "+
				"./daemon/rpc -record", i, f.name)
		}
		is, ok := differs[f.name]
		delete(differs, f.name)
		if text := strings.TrimSpace(f.text); !ok && f.text != want[i].text || ok && text != is || ok && f.text == want[i].text {
			t.Errorf("%s:\n%s\naria2:\n%s\nwanted difference:\n%s", f.name, f.text, want[i].text, is)
		}
	}
	for name := range differs {
		t.Errorf("no frame is called %q", name)
	}
}
