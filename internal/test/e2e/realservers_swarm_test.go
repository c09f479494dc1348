//go:build realservers

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/ports"
	"braid/metalink/metainfo"
)

// A swarmSite is a file, its torrent, which names a tracker, and the tracker, an opentracker of Debian's.
type swarmSite struct {
	dir, file, torrent string
	tracker            string // host:port
	body               []byte
	parsed             metainfo.Torrent
}

func newSwarmSite(t *testing.T, size int) *swarmSite {
	t.Helper()
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	s := &swarmSite{dir: publicDir(t), body: body}
	s.file = filepath.Join(s.dir, "disk.iso")
	if err := os.WriteFile(s.file, body, 0o644); err != nil {
		t.Fatal(err)
	}
	s.tracker = ports.Free(t)
	tell(t, s.dir, binary, "meta", "-q", "--torrent", "--tracker", "http://"+s.tracker+"/announce", "--mirror",
		"http://127.0.0.1:1/", s.file)
	s.torrent = s.file + ".torrent"
	data, err := os.ReadFile(s.torrent)
	if err != nil {
		t.Fatal(err)
	}
	if s.parsed, err = metainfo.Parse(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	s.track(t, s.tracker)
	return s
}

// track starts the tracker. Debian's knows the torrents that a list has.
func (s *swarmSite) track(t *testing.T, addr string) {
	t.Helper()
	path, err := exec.LookPath("opentracker")
	if err != nil {
		t.Fatal("opentracker is missing; scripts/test unpacks it")
	}
	home := publicDir(t)
	if err := os.WriteFile(filepath.Join(home, "list"), []byte(s.parsed.InfoHash.String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(addr)
	if err := startProcess(t, addr, path, "-i", host, "-p", port, "-P", port, "-d", home, "-w", "list"); err != nil {
		t.Fatal(err)
	}
}

// magnet names the torrent and peers.
func (s *swarmSite) magnet(peers ...string) string {
	return "magnet:?xt=urn:btih:" + s.parsed.InfoHash.String() + "&x.pe=" + strings.Join(peers, "&x.pe=")
}

// get lets braid download, which looks for peers on this machine only.
func (s *swarmSite) get(t *testing.T, args ...string) (dir, said string) {
	t.Helper()
	dir = t.TempDir()
	said = tell(t, dir, binary, append([]string{"get", "-v", "--no-dht", "--bittorrent", "only", "--peer-listen",
		"127.0.0.1:0"}, args...)...)
	s.same(t, dir)
	return dir, said
}

// same wants the file to be in a folder.
func (s *swarmSite) same(t *testing.T, dir string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, "disk.iso"))
	if err != nil || !bytes.Equal(got, s.body) {
		t.Errorf("%d bytes of %d, %v", len(got), len(s.body), err)
	}
}

// aria2 are the arguments of an aria2c that keeps to this machine.
func aria2(dir string, more ...string) []string {
	return append([]string{
		"--no-conf", "-d", dir, "--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false",
		"--enable-peer-exchange=false", "--interface=lo",
		"--bt-external-ip=127.0.0.1",
	}, more...)
}

// peer starts an aria2c that has the file and gives it, and returns its address.
func (s *swarmSite) peer(t *testing.T) (addr string) {
	t.Helper()
	addr = ports.Free(t)
	_, port, _ := net.SplitHostPort(addr)
	awaitProcess(t, addr, "aria2c", aria2(s.dir, "-V", "--seed-ratio=0", "--listen-port="+port, s.torrent)...)
	return addr
}

// transmission are the arguments of a transmission-cli that keeps to this machine, and listens at addr.
func transmission(t *testing.T, addr, dir string, more ...string) []string {
	t.Helper()
	home := t.TempDir()
	_, port, _ := net.SplitHostPort(addr)
	settings, err := json.Marshal(map[string]any{
		"dht-enabled": false, "lpd-enabled": false, "pex-enabled": false, "utp-enabled": false, "port-forwarding-enabled": false,
		"bind-address-ipv4": "127.0.0.1", "bind-address-ipv6": "::1", "incomplete-dir-enabled": false,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "settings.json"), settings, 0o644); err != nil {
		t.Fatal(err)
	}
	return append([]string{"-g", home, "-M", "-p", port, "-w", dir}, more...)
}

func awaitProcess(t *testing.T, addr, command string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(command)
	if err != nil {
		t.Fatalf("%s is not installed; scripts/test installs what these tests need", command)
	}
	if err := startProcess(t, addr, path, args...); err != nil {
		t.Fatal(err)
	}
}

// TestRealSwarm downloads from aria2c: by a magnet link, which it completes, and by a torrent whose tracker names it.
func TestRealSwarm(t *testing.T) {
	t.Parallel()
	s := newSwarmSite(t, 12<<20+12345)
	addr := s.peer(t)
	_, said := s.get(t, s.magnet(addr))
	if !strings.Contains(said, "from bittorrent; checked: bittorrent v1 piece hashes") {
		t.Errorf("braid says\n%s", said)
	}
	s.announce(t, s.tracker, addr)
	s.get(t, s.torrent)
}

// TestRealSeed lets other programs download what braid has just downloaded and gives away.
func TestRealSeed(t *testing.T) {
	t.Parallel()
	s := newSwarmSite(t, 12<<20+12345)
	first := s.peer(t)
	dir, listen := t.TempDir(), ports.Free(t)
	seeder := exec.Command(binary, "get", "--no-dht", "--peer-listen", listen, "--seed-time", "10m", s.magnet(first),
		"--bittorrent", "only")
	seeder.Dir = dir
	var output lockedBuffer
	seeder.Stdout, seeder.Stderr = &output, &output
	if err := seeder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		seeder.Process.Signal(syscall.SIGTERM)
		seeder.Wait()
	}()
	deadline := time.Now().Add(3 * time.Minute)
	for !strings.Contains(output.String(), "uploading to peers at 127.0.0.1:") {
		if time.Now().After(deadline) {
			t.Fatalf("braid gives nothing away:\n%s", output.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.same(t, dir)
	t.Run("braid", func(t *testing.T) { s.get(t, s.magnet(listen)) })
	announced := fmt.Sprintf("http://%s/announce", s.announceTo(t, listen))
	t.Run("aria2c", func(t *testing.T) {
		to := t.TempDir()
		tell(t, to, "aria2c", aria2(to, "--seed-time=0", "--bt-exclude-tracker=*", "--bt-tracker="+announced, s.torrent)...)
		s.same(t, to)
	})
}

// TestRealSeedRatio lets Transmission download what braid gives, until that is as much as it wanted to give.
// Transmission connects to nobody on its own machine, so braid is told where it is.
func TestRealSeedRatio(t *testing.T) {
	t.Parallel()
	s := newSwarmSite(t, 12<<20+12345)
	first, leecher, to := s.peer(t), ports.Free(t), t.TempDir()
	awaitProcess(t, leecher, "transmission-cli", transmission(t, leecher, to, s.torrent)...)
	_, said := s.get(t, "--seed-ratio", "1", "--seed-time", "5m", s.magnet(first, leecher))
	if !strings.Contains(said, "uploading to peers at 127.0.0.1:") {
		t.Errorf("braid says\n%s", said)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) { // it writes when it likes to
		if got, err := os.ReadFile(filepath.Join(to, "disk.iso")); err == nil && bytes.Equal(got, s.body) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("Transmission does not have the file")
		}
	}
}

// announceTo starts a tracker that knows one peer.
func (s *swarmSite) announceTo(t *testing.T, peer string) (addr string) {
	t.Helper()
	tracker := ports.Free(t)
	s.track(t, tracker)
	s.announce(t, tracker, peer)
	return tracker
}

// announce tells a tracker of a peer on this machine.
func (s *swarmSite) announce(t *testing.T, tracker, peer string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(peer)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var hash strings.Builder
	for _, b := range s.parsed.InfoHash {
		fmt.Fprintf(&hash, "%%%02x", b)
	}
	url := fmt.Sprintf("http://%s/announce?info_hash=%s&peer_id=-XX0000-000000000000&port=%s&uploaded=0&downloaded=0&left=0&compact=1", tracker, hash.String(), port)
	if out, err := exec.CommandContext(ctx, "curl", "-sf", url).CombinedOutput(); err != nil ||
		bytes.Contains(out, []byte("failure")) {
		t.Fatalf("%v\n%s", err, out)
	}
}
