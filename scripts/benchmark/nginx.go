//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fileName is the name of the file that every mirror has.
const fileName = "file.bin"

// A mirror is one server of the set.
type mirror struct {
	origin      bool   // sends Digest, and the others as Link
	rate        int64  // bytes per second of the relay; 0 for no limit
	own         int64  // bytes per second of each connection, limited by nginx
	silentAfter int64  // bytes until a mirror with a rate goes silent; 0 for never
	torrent     bool   // an origin names the torrent beside the file
	also        string // URL of another mirror that an origin names
	addr        string
	public      string // address for clients: the relay that limits the rate, or addr
}

// A web is one nginx with a server for each mirror.
type web struct {
	cmd     *exec.Cmd
	exited  chan struct{}
	dir     string
	mirrors []mirror
	relays  []*relay
}

// url returns the URL of the file at mirror i.
func (w *web) url(i int) string { return "http://" + w.mirrors[i].public + "/" + fileName }

// startNginx serves root at all mirrors, on free ports of loopback.
func startNginx(ctx context.Context, root string, mirrors []mirror) (w *web, err error) {
	w = &web{mirrors: mirrors, exited: make(chan struct{})}
	if w.dir, err = os.MkdirTemp("", "braid-bench-nginx-"); err != nil {
		return nil, err
	}
	defer func(made *web) {
		if err != nil {
			made.stop()
		}
	}(w)
	for i := range w.mirrors {
		if err := w.place(&w.mirrors[i]); err != nil {
			return nil, err
		}
	}
	sum, err := digest(root)
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(w.dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(w.config(root, sum)), 0o600); err != nil {
		return nil, err
	}
	w.cmd = exec.Command("nginx", "-p", w.dir, "-c", conf)
	if err := w.cmd.Start(); err != nil {
		w.cmd = nil
		return nil, err
	}
	go func() {
		w.cmd.Wait()
		close(w.exited)
	}()
	for _, m := range w.mirrors {
		if err := await(ctx, m.addr, w.exited); err != nil {
			log, _ := os.ReadFile(filepath.Join(w.dir, "error.log"))
			return nil, fmt.Errorf("nginx: %w: %s", err, log)
		}
	}
	return w, nil
}

// place chooses a free port for m, and starts a relay if m has a rate.
func (w *web) place(m *mirror) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	m.addr = l.Addr().String()
	m.public = m.addr
	if m.rate == 0 {
		return nil
	}
	r, err := startRelay(m.addr, m.rate, m.silentAfter)
	if err != nil {
		return err
	}
	w.relays = append(w.relays, r)
	m.public = r.addr()
	return nil
}

// await polls addr until a server accepts connections there.
func await(ctx context.Context, addr string, exited <-chan struct{}) error {
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-exited:
			return errors.New("it ended at once")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (w *web) stop() {
	for _, r := range w.relays {
		r.close()
	}
	if w.cmd != nil {
		w.cmd.Process.Signal(syscall.SIGTERM)
		<-w.exited
	}
	os.RemoveAll(w.dir)
}

func (w *web) config(root, sum string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;")
	line("events { worker_connections 256; }\nhttp {\naccess_log off;\nsendfile on;\ntcp_nopush on;")
	for _, module := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		line("%s_temp_path %s;", module, filepath.Join(w.dir, module))
	}
	for i, m := range w.mirrors {
		line("server {\nlisten %s;\nroot %s;", m.addr, root)
		if m.own > 0 {
			line("limit_rate %d;\nsendfile_max_chunk 64k;", m.own)
		}
		if m.origin {
			line("add_header Digest '%s';", sum)
			for j := range w.mirrors {
				if j != i {
					line("add_header Link '<%s>; rel=duplicate; pri=%d; pref';", w.url(j), j)
				}
			}
			if m.also != "" {
				line("add_header Link '<%s>; rel=duplicate; pri=9';", m.also)
			}
			if m.torrent {
				line("add_header Link '<%s.torrent>; rel=describedby; type=\"application/x-bittorrent\"';", w.url(i))
			}
		}
		line("}")
	}
	line("}")
	return b.String()
}
