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

// A Server holds the settings for answering clients.
type Server struct {
	Port, Version  string
	All            bool // listen on all interfaces, not only on loopback
	Hosts, Origins []string
	TLS            *tls.Config // for the port; may be nil
	// Token authenticates the page and clients. If empty, any program on this machine is a client, and the
	// page is not served.
	Token     string
	TokenFrom string // command or option that prints the token; see page.Options
}

// mostClients limits the connections, separately for the port and the socket.
const mostClients = 256

// listen listens on the port and on the socket for braid add and other commands.
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
			Hint: "choose another port with --rpc-listen-port PORT",
		}
	}
	socket, err := listen.Socket(s.State)
	if err != nil {
		return nil, errors.Join(problem.Local("daemon", s.State, err), port.Close())
	}
	return []net.Listener{port, socket}, nil
}

// handler returns the handler of requests from clients.
func (s *Service) handler(engine *daemon.Daemon, stop func()) http.Handler {
	control := rpc.New(engine, rpc.Options{
		Root: s.Root, Token: s.Server.Token, Hosts: s.Server.Hosts, Origins: s.Server.Origins,
		Version: s.Server.Version, Given: s.given(), Shutdown: stop, SaveSession: s.saveSession,
		Listed: InSession, Limit: s.rate.byTime,
	})
	mux := http.NewServeMux()
	mux.Handle("/jsonrpc", control)
	if s.Server.Token != "" { // without a token, rpc allows no requests of pages
		mux.Handle("/", page.New(engine, s.page(control.Admit)))
	}
	return mux
}

// answer serves a listener until ctx is done. The port uses TLS if a certificate is configured.
func (s *Service) answer(ctx context.Context, handler http.Handler, l net.Listener, port bool) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that streams end with ctx
	}
	l = rpc.Limit(l, server, mostClients)
	if port && s.Server.TLS != nil {
		l = tls.NewListener(l, s.Server.TLS)
	}
	if err := listen.Serve(ctx, server, l, s.Log.Logger); err != nil {
		s.Log.Error("clients", "error", err)
	}
}

// ready reports the addresses of the daemon to the log and the service manager.
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

func (s *Service) page(admit func(http.ResponseWriter, *http.Request) bool) page.Options {
	o := page.Options{Admit: admit, Token: s.Server.TokenFrom, Folder: s.Job.Dir}
	if s.Jobs != nil {
		o.Fleet, o.Folder = s.Jobs, "" // workers choose the folders of their files
	}
	if s.Watching != nil {
		o.Watches = s.watches
	}
	return o
}

// given returns the values of the global options that clients may ask for.
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
