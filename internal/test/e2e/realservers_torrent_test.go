//go:build realservers

package e2e

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/metalink/metainfo"
)

// TestRealTorrent lets other programs read what braid meta --torrent writes: Transmission shows it, and aria2 downloads from
// its web seed alone, piece by piece.
func TestRealTorrent(t *testing.T) {
	t.Parallel()
	body := make([]byte, 3<<20+12345)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	const name = "ä b.iso"
	www := publicDir(t)
	file := filepath.Join(www, name)
	if err := os.WriteFile(file, body, 0o644); err != nil {
		t.Fatal(err)
	}
	host := nginx.start(t, site{root: www})
	tell(t, www, binary, "meta", "--torrent", "--tracker", "udp://127.0.0.1:9/announce", "--tracker",
		"http://127.0.0.1:9/announce", "--mirror", "http://"+host+"/;pri=1;geo=de", file)
	torrent := filepath.Join(www, name+".torrent")
	data, err := os.ReadFile(torrent)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := metainfo.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	shown := tell(t, www, "transmission-show", torrent)
	for _, want := range []string{
		"Name: " + name, "Hash: " + parsed.InfoHash.String(), "Created by: braid", "Piece Count: 13",
		"Piece Size: 256.0 KiB", "Total Size: 3.16 MB", "Privacy: Public torrent",
		"udp://127.0.0.1:9/announce", "http://127.0.0.1:9/announce",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("transmission-show does not say %q:\n%s", want, shown)
		}
	}
	listed := tell(t, www, "aria2c", "--no-conf", "-S", torrent)
	for _, want := range []string{"Info Hash: " + parsed.InfoHash.String(), "http://" + host + "/", "3,158,073"} {
		if !strings.Contains(listed, want) {
			t.Errorf("aria2c does not say %q:\n%s", want, listed)
		}
	}
	got, err := os.ReadFile(filepath.Join(fetchTorrent(t, torrent), name))
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("aria2c: %d bytes of %d, %v", len(got), len(body), err)
	}
}

// fetchTorrent lets aria2 download from the web seeds of a torrent, and gives the folder that the file is in then.
func fetchTorrent(t *testing.T, torrent string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	tell(t, dir, "aria2c", "--no-conf", "-d", dir, "--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false",
		"--enable-peer-exchange=false", "--bt-exclude-tracker=*", "--seed-time=0", "--interface=lo", torrent)
	return dir
}

// tell runs a program in a folder, wants it to end well, and gives what it says.
func tell(t *testing.T, dir, command string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(command)
	if err != nil {
		t.Fatalf("%s is not installed; scripts/test installs what these tests need", command)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C.UTF-8", "http_proxy=", "all_proxy=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out[:min(len(out), 4096)])
	}
	return string(out)
}
