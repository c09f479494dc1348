package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"braid/daemon"
	"braid/daemon/page"
	"braid/daemon/rpc"
	"braid/download"
	"braid/internal/listen"
	"braid/internal/problem"
)

// A Server is where and how a daemon answers clients.
type Server struct {
	Port, Version  string
	All            bool // at all interfaces, not this machine's own alone
	Hosts, Origins []string
	TLS            *tls.Config // at the port; may be nil
	// Token is that of the page and of clients. Without one each program on this machine is a client, and there is no page.
	Token     string
	TokenFrom string // what gives the token; see page.Options
}

// mostClients is how many connections there may be, at the port and at the socket each.
const mostClients = 256

// listen opens the port, then the socket for braid add and others.
func (s *Service) listen() ([]net.Listener, error) {
	host := "127.0.0.1"
	if s.Server.All {
		host = ""
	}
	where := net.JoinHostPort(host, s.Server.Port)
	port, err := net.Listen("tcp", where)
	if err != nil {
		return nil, &problem.Problem{
			Kind: download.Other, What: "listen", Where: where, Why: listen.Reason(err),
			Hint: "--rpc-listen-port PORT names another",
		}
	}
	socket, err := listen.Socket(s.State)
	if err != nil {
		return nil, errors.Join(problem.Local("daemon", s.State, err), port.Close())
	}
	return []net.Listener{port, socket}, nil
}

// handler answers clients.
func (s *Service) handler(engine *daemon.Daemon, stop func()) http.Handler {
	control := rpc.New(engine, rpc.Options{
		Root: s.Root, Token: s.Server.Token, Hosts: s.Server.Hosts, Origins: s.Server.Origins,
		Version: s.Server.Version, Given: s.given(), Shutdown: stop, SaveSession: s.saveSession,
		Listed: InSession, Limit: s.rate.byTime,
	})
	mux := http.NewServeMux()
	mux.Handle("/jsonrpc", control)
	if s.Server.Token != "" { // the page's requests have an Origin field
		mux.Handle("/", page.New(engine, s.page(control.Admit)))
	}
	return mux
}

// answer serves one listener until ctx ends, the port with TLS if there is a certificate.
func (s *Service) answer(ctx context.Context, handler http.Handler, l net.Listener, port bool) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that streams end
	}
	l = rpc.Limit(l, server, mostClients)
	if port && s.Server.TLS != nil {
		l = tls.NewListener(l, s.Server.TLS)
	}
	if err := listen.Serve(ctx, server, l, s.Log.Logger); err != nil {
		s.Log.Error("clients", "error", err)
	}
}

// ready tells the log and the service manager where the daemon is.
func (s *Service) ready(port net.Listener) {
	scheme := "http"
	if s.Server.TLS != nil {
		scheme = "https"
	}
	url := listen.URL(scheme, port.Addr())
	about := []any{"page", url, "rpc", url + "jsonrpc", "root", s.Root, "state", s.State}
	if s.Server.Token == "" {
		about = about[2:]
	}
	s.Log.Info("ready", about...)
	s.notified(s.Notify.Ready("downloads for " + url))
}

// page returns the options of the page.
func (s *Service) page(admit func(http.ResponseWriter, *http.Request) bool) page.Options {
	o := page.Options{Admit: admit, Token: s.Server.TokenFrom, Folder: s.Job.Dir}
	if s.Jobs != nil {
		o.Fleet, o.Folder = s.Jobs, "" // workers know where their files go
	}
	return o
}

// given are the options that clients ask for, as the flags say.
func (s *Service) given() map[string]string {
	options := map[string]string{
		"dir": s.Job.Dir, "max-concurrent-downloads": strconv.Itoa(s.AtOnce),
		"split":           strconv.Itoa(cmp.Or(int(s.Job.Transfer.Split), 16)),
		"allow-overwrite": strconv.FormatBool(s.Job.Overwrite), "auto-file-renaming": strconv.FormatBool(s.Job.Rename),
		"continue": strconv.FormatBool(s.Job.Continue),
	}
	if s.Session != "" {
		options["save-session"] = s.Session
	}
	return options
}
