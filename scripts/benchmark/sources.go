package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A place is a server of the file, of any protocol.
type place struct {
	name string // for the report
	url  string
	rate int64 // maximum of bytes per second
	stop func()
}

// limited is the rate of the servers of mixed: 20 Mbit/s.
const limited = 20_000_000 / 8

// mixed starts the servers of several protocols, each with its own rate limit. Clients ask the first one. To add a
// protocol, add a line.
func (b *bench) mixed(ctx context.Context, root string) (places []place, err error) {
	for _, start := range []func(context.Context, string) (place, error){
		nginxPlace, nginxPlace, vsftpdPlace(limited),
	} {
		p, err := start(ctx, root)
		if err != nil {
			stopAll(places)
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

func stopAll(places []place) {
	for _, p := range places {
		p.stop()
	}
}

// nginxPlace starts an nginx that limits the rate of each connection; a client makes one (C7).
func nginxPlace(ctx context.Context, root string) (place, error) {
	web, err := startNginx(ctx, root, []mirror{{own: limited}})
	if err != nil {
		return place{}, err
	}
	return place{"nginx " + web.mirrors[0].addr, web.url(0), limited, web.stop}, nil
}

// vsftpdPlace returns a function that starts vsftpd with a rate; 0 is no limit.
func vsftpdPlace(rate int64) func(context.Context, string) (place, error) {
	return func(ctx context.Context, root string) (place, error) {
		v, err := startVsftpd(ctx, root, rate)
		if err != nil {
			return place{}, err
		}
		return place{"vsftpd " + v.addr, "ftp://" + v.addr + "/" + fileName, rate, v.stop}, nil
	}
}

// A vsftpd is its main process, which starts one for each session.
type vsftpd struct {
	cmd    *exec.Cmd
	exited chan struct{}
	dir    string
	addr   string
}

// startVsftpd serves root to anonymous users. Its sandbox is disabled, because it does not work inside other sandboxes.
func startVsftpd(ctx context.Context, root string, rate int64) (*vsftpd, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	v := &vsftpd{addr: l.Addr().String(), exited: make(chan struct{})}
	l.Close()
	if v.dir, err = os.MkdirTemp("", "braid-bench-vsftpd-"); err != nil {
		return nil, err
	}
	empty, conf := filepath.Join(v.dir, "empty"), filepath.Join(v.dir, "vsftpd.conf")
	host, port, _ := strings.Cut(v.addr, ":")
	lines := []string{
		"listen=YES", "listen_address=" + host, "listen_port=" + port, "pasv_address=" + host, "background=NO", "seccomp_sandbox=NO",
		"anonymous_enable=YES", "local_enable=NO", "ftp_username=daemon", "anon_root=" + root, "secure_chroot_dir=" + empty,
		fmt.Sprint("anon_max_rate=", rate),
	}
	if os.Getuid() != 0 {
		lines = append(lines, "run_as_launching_user=YES")
	}
	err = os.Mkdir(empty, 0o555)
	if err == nil {
		err = os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	}
	if err == nil {
		v.cmd = exec.Command("vsftpd", conf)
		err = v.cmd.Start()
	}
	if err != nil {
		os.RemoveAll(v.dir)
		return nil, err
	}
	go func() {
		v.cmd.Wait()
		close(v.exited)
	}()
	if err := await(ctx, v.addr, v.exited); err != nil {
		v.stop()
		return nil, fmt.Errorf("vsftpd: %w", err)
	}
	return v, nil
}

func (v *vsftpd) stop() {
	v.cmd.Process.Signal(syscall.SIGTERM)
	<-v.exited
	os.RemoveAll(v.dir)
}

// shares returns the bytes received from each host, according to the last line of --json.
func shares(output []byte) (map[string]int64, error) {
	type source struct {
		Host  string
		Bytes int64
	}
	brought := map[string]int64{}
	for line := range strings.Lines(string(output)) {
		var e struct {
			Event   string
			Sources []source
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		if e.Event == "done" {
			for _, s := range e.Sources {
				brought[s.Host] += s.Bytes
			}
		}
	}
	return brought, nil
}

// host returns the host of a place as results name it.
func (p place) host() string {
	u, err := url.Parse(p.url)
	if err != nil {
		return ""
	}
	return u.Host
}
