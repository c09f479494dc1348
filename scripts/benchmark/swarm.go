package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A swarm is a torrent with one seeder, an aria2c, and a tracker that announces it to all peers. A real tracker would
// need to know each torrent, and its cost is not measured.
type swarm struct {
	seeder  *exec.Cmd
	tracker *http.Server
	torrent string // path
	addr    netip.AddrPort
}

// startSwarm makes a torrent of the file in root and seeds it at rate bytes per second; 0 is no limit.
func (b *bench) startSwarm(ctx context.Context, root string, rate int64) (*swarm, error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &swarm{addr: addr, tracker: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer := binary.BigEndian.AppendUint16(addr.Addr().AsSlice(), addr.Port())
		fmt.Fprintf(w, "d8:intervali1800e5:peers6:%se", peer)
	})}}
	go s.tracker.Serve(l)
	file := filepath.Join(root, fileName)
	s.torrent = file + ".torrent"
	made, err := exec.CommandContext(ctx, b.braid, "meta", "-q", "--overwrite", "--torrent", "--tracker", "http://"+l.Addr().String()+"/announce",
		"--mirror", "http://127.0.0.1:1/", file).CombinedOutput()
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("braid meta: %w\n%s", err, made)
	}
	s.seeder = exec.Command("aria2c", append(alone(root), "-V", "--seed-ratio=0", fmt.Sprintf("--max-upload-limit=%d", rate),
		fmt.Sprintf("--listen-port=%d", addr.Port()), "--bt-exclude-tracker=*", s.torrent)...)
	if err := s.seeder.Start(); err != nil {
		s.stop()
		return nil, err
	}
	return s, s.await(ctx)
}

// alone returns the arguments of an aria2c that contacts no other machines.
func alone(dir string) []string {
	return []string{
		"--no-conf", "-q", "-d", dir, "--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false", "--enable-peer-exchange=false",
		"--interface=lo", "--file-allocation=none", "--allow-overwrite=true",
	}
}

func freePort() (netip.AddrPort, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer l.Close()
	return netip.ParseAddrPort(l.Addr().String())
}

// await polls the seeder, which first reads its file.
func (s *swarm) await(ctx context.Context) error {
	for {
		conn, err := net.Dial("tcp", s.addr.String())
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *swarm) stop() {
	s.tracker.Close()
	if s.seeder != nil && s.seeder.Process != nil {
		s.seeder.Process.Signal(syscall.SIGTERM)
		s.seeder.Wait()
	}
}

// swarm compares a download from one seeder with aria2's.
func (b *bench) swarm(ctx context.Context) error {
	const size = 256 << 20
	root, err := b.serverRoot(size, 2*size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	s, err := b.startSwarm(ctx, root, 0)
	if err != nil {
		return err
	}
	defer s.stop()
	into := filepath.Join(b.dir, "into")
	defer os.RemoveAll(into)
	out := filepath.Join(into, fileName)
	braid := command{b.braid, "get", "-q", "--no-dht", "--bittorrent", "only", "--peer-listen", "127.0.0.1:0", "-d", into, s.torrent}
	aria2 := append(append(command{"aria2c"}, alone(into)...), "--seed-time=0", "--bt-stop-timeout=60", s.torrent)
	fmt.Printf("swarm: %s from one aria2c over loopback to %s, in turn\n", mib(size), b.where())
	var ours, theirs series
	for range b.reps {
		if err := ours.measure(ctx, out, braid); err != nil {
			return err
		}
		if err := theirs.measure(ctx, out, aria2); err != nil {
			return err
		}
	}
	ours.print("braid", braid)
	theirs.print("aria2c", aria2)
	fmt.Printf("  speed of braid to that of aria2c: %.2f (goal: at least 0.90)\n", theirs.median()/ours.median())
	fmt.Printf("  most memory of braid: %s\n", mib(ours.rss))
	return nil
}

// hybrid downloads from two web servers, an FTP server and a seeder, each of 20 Mbit/s.
func (b *bench) hybrid(ctx context.Context) error {
	const (
		size = 288 << 20
		rate = 20_000_000 / 8
	)
	root, err := b.serverRoot(size, 2*size, writeRandom)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(b.dir, 0o755); err != nil { // the FTP server runs as another user
		return err
	}
	if err := os.Chmod(root, 0o755); err != nil {
		return err
	}
	s, err := b.startSwarm(ctx, root, rate)
	if err != nil {
		return err
	}
	defer s.stop()
	ftp, err := b.startFTP(ctx, root, rate)
	if err != nil {
		return err
	}
	defer ftp.stop()
	web, err := startNginx(ctx, root, []mirror{{origin: true, torrent: true, also: ftp.url(), rate: rate}, {rate: rate}})
	if err != nil {
		return err
	}
	defer web.stop()
	out := filepath.Join(b.dir, "out")
	braid := command{b.braid, "get", "-v", "--no-dht", "--bittorrent", "auto", "-o", out, web.url(0)}
	fmt.Printf("hybrid: %s from two nginx, a vsftpd and an aria2c of 20 Mbit/s each\n", mib(size))
	var ours series
	for range (b.reps + 1) / 2 {
		if err := ours.measure(ctx, out, braid); err != nil {
			return err
		}
	}
	ours.print("braid", braid)
	fmt.Print(indented(string(ours.output)))
	fmt.Printf("  of the sum of the four: %.1f %% (goal: at least 90)\n", 100*float64(size)/(4*rate)/ours.median())
	return nil
}

// indented returns the last lines of a command's output, with the bytes of each source.
func indented(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-5):], "\n    ") + "\n"
}

// An ftpServer is a vsftpd.
type ftpServer struct {
	cmd  *exec.Cmd
	addr netip.AddrPort
	dir  string
}

func (f *ftpServer) url() string { return "ftp://" + f.addr.String() + "/" + fileName }

func (b *bench) startFTP(ctx context.Context, root string, rate int64) (*ftpServer, error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	f := &ftpServer{addr: addr}
	if f.dir, err = os.MkdirTemp("", "braid-bench-ftp-"); err != nil {
		return nil, err
	}
	conf := filepath.Join(f.dir, "conf")
	text := fmt.Sprintf("listen=YES\nlisten_address=%s\nlisten_port=%d\npasv_address=%s\nbackground=NO\nseccomp_sandbox=NO\n"+
		"anonymous_enable=YES\nlocal_enable=NO\nanon_root=%s\nftp_username=daemon\nsecure_chroot_dir=%s\nanon_max_rate=%d\n",
		addr.Addr(), addr.Port(), addr.Addr(), root, f.dir, rate)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return nil, err
	}
	f.cmd = exec.Command("vsftpd", conf)
	if err := f.cmd.Start(); err != nil {
		os.RemoveAll(f.dir)
		return nil, err
	}
	if err := (&swarm{addr: addr}).await(ctx); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

func (f *ftpServer) stop() {
	f.cmd.Process.Signal(syscall.SIGTERM)
	f.cmd.Wait()
	os.RemoveAll(f.dir)
}
