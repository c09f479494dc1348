package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// TestConsumer builds and runs a program of another module that imports our packages (testdata/consumer). It needs no
// network: what braid needs is in the cache of modules, and that is all it may need.
func TestConsumer(t *testing.T) {
	dir := t.TempDir()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// A copy, because the go command writes what it finds out into go.mod and go.sum.
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "consumer"))); err != nil {
		t.Fatal(err)
	}
	module := readFile(t, filepath.Join(dir, "go.mod"))
	if !strings.Contains(module, "=> ../..") {
		t.Fatalf("go.mod does not lead here:\n%s", module)
	}
	writeFile(t, filepath.Join(dir, "go.mod"), strings.ReplaceAll(module, "=> ../..", "=> "+root))
	writeFile(t, filepath.Join(dir, "go.sum"), readFile(t, "go.sum"))
	// A program of another module loads the whole module graph, of which a build here needs a part only.
	if out, err := exec.Command("go", "list", "-m", "all").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := filepath.Join(dir, "consumer")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	body := []byte(strings.Repeat("hello world\n", 1000))
	mirror := mirrortest.New(t, body)
	u := mirrortest.New(t, body, mirrortest.Header("Digest", "SHA-256="+base64SHA256(body)), mirrortest.Mirrors(mirror.URL)).URL
	now := time.Now().Unix()
	feed := filepath.Join(dir, "antenna.lirs")
	writeFile(t, feed, fmt.Sprintf("LIRS,%d,%d,0,0,%s,disk,me,http://antenna.example.jp/,\n", now-3600, now-60, u))
	run := exec.Command(program, u, dir, feed)
	run.Env = append(os.Environ(), "HOME="+dir)
	out, err := run.CombinedOutput()
	want := `links: 1, problems: 0, digests: 1, strong: true, mirrors: 1
download: 12000 bytes, sha-256 from Digest over http - asked: true - told: true
meta4: file 12000
target: 1000000 bytes, in the store: true - on disk: false
links: 0, problems: 0, digests: 1, strong: true, mirrors: 0
feed: lirs disk
scheduler: 1 action
antenna: file by local
`
	if err != nil || string(out) != want {
		t.Errorf("%v, %s\nwant %s", err, out, want)
	}
}

// TestDownloadIsLight asks the go command what a program that imports download brings with it: nothing of BitTorrent,
// which a program plugs in.
func TestDownloadIsLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./download").Output()
	if err != nil || !strings.Contains(string(out), "braid/source/httpsource\n") {
		t.Fatalf("%v: %s", err, out)
	}
	for dep := range strings.Lines(string(out)) {
		if strings.Contains(dep, "torrentsource") || strings.Contains(dep, "anacrolix") {
			t.Errorf("importing download brings %s", dep)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
