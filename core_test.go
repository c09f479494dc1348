package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const coreTags = "nofleet,notorrent"

var large = regexp.MustCompile(`/(nats-io|minio|anacrolix)/|^braid/(fleet/jetstream|objectstore|source/torrentsource)$`)

// TestCoreImports: the packages that the tags leave out are not compiled.
func TestCoreImports(t *testing.T) {
	all, err := exec.Command("go", "list", "-deps", "-tags", coreTags, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(all)) {
		if large.MatchString(pkg) {
			t.Errorf("braid-core has %s", pkg)
		}
	}
}

// TestCore: without its large parts braid downloads, and names the part that is missing.
func TestCore(t *testing.T) {
	dir := t.TempDir()
	core := filepath.Join(dir, "braid")
	build := exec.Command("go", "build", "-tags", coreTags, "-buildvcs=false", "-ldflags", "-s -w", "-o", core, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const most = 23_000_000 // a call of text/template would keep all exported methods: 3 MB
	if info, err := os.Stat(core); err != nil || info.Size() > most {
		t.Errorf("braid-core has %d bytes, more than %d (%v)", info.Size(), most, err)
	}
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello\n")) }))
	defer files.Close()
	const fleets, peers = "this braid was built without fleets and object stores (tag nofleet)",
		"this braid was built without BitTorrent (tag notorrent)"
	for _, tt := range []struct {
		args string
		code int
		says []string
	}{
		{"--version", 0, []string{", without fleets and object stores (tag nofleet), without BitTorrent (tag notorrent))\n"}},
		{"--help", 0, []string{fleets[1:], peers[1:]}},
		{"work --help", 0, []string{fleets[1:]}},
		{"get -q " + files.URL + "/a", 0, nil},
		{"get -q --queue embedded " + files.URL + "/b", 2, []string{"--queue: " + fleets}},
		{"get -q -o s3://bucket/c " + files.URL + "/c", 2, []string{fleets}},
		{"work --queue embedded --to .", 2, []string{"work: " + fleets}},
		{"queue", 2, []string{"queue: " + fleets}},
		{"get -q --bittorrent only " + files.URL + "/d", 2, []string{"--bittorrent: " + peers}},
		{"get -q magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567", 2, []string{peers}},
	} {
		run := exec.Command(core, strings.Fields(tt.args)...)
		run.Dir, run.Env = dir, []string{"HOME=" + dir}
		out, _ := run.CombinedOutput()
		if code := run.ProcessState.ExitCode(); code != tt.code {
			t.Errorf("braid %s: exit code %d, want %d: %s", tt.args, code, tt.code, out)
		}
		for _, text := range tt.says {
			if !strings.Contains(string(out), text) {
				t.Errorf("braid %s says %q, want it with %q", tt.args, out, text)
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); string(got) != "hello\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestCoreInDebian: the list for Debian has the modules of the core, in the versions of go.mod.
func TestCoreInDebian(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-tags", coreTags, "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOOS=linux")
	all, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("packaging/debian-modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if module, _, found := strings.Cut(line, " | "); found && !strings.HasPrefix(line, "#") {
			listed[module] = true
		}
	}
	delete(listed, "go 1.26.0")
	needed := map[string]bool{}
	for line := range strings.Lines(string(all)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		version, _, _ = strings.Cut(version, "+")
		if i := strings.LastIndex(version, "-"); i > 0 { // of a commit: to the day
			version = version[:i-len("000000")]
		}
		if version != "" {
			needed[path+" "+version] = true
		}
	}
	if !maps.Equal(listed, needed) {
		t.Errorf("the list has %q, and the core needs %q", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(needed)))
	}
}
