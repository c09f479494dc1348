// Package listen has the common parts of the servers of commands: they serve until a context is done, report their
// addresses, and answer other processes of the same user at a socket in their folder.
package listen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"braid/internal/problem"
)

// shutdownTime is the time limit for unfinished answers when the server ends.
const shutdownTime = 5 * time.Second

// Serve serves until ctx is done. It then waits for unfinished answers, shutdownTime at most.
func Serve(ctx context.Context, s *http.Server, listener net.Listener, log *slog.Logger) error {
	s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug) // faults of clients are only debug messages
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	err := s.Shutdown(limit)
	if err != nil {
		err = s.Close()
	}
	<-ended
	return err
}

// Reason returns the text of an error of net.Listen, without the address.
func Reason(err error) string {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return problem.Reason(e.Err)
	}
	return err.Error()
}

// URL returns the URL at which the server can be reached from this machine.
func URL(scheme string, addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, fmt.Sprint(tcp.Port)) + "/"
}
