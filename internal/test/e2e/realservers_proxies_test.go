//go:build realservers

package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/test/ports"
)

// A proxyProgram is a kind of proxy that wants a name and a password.
type proxyProgram struct {
	command string
	scheme  string // of its URL
	// args are its arguments; dir is a folder for what else it needs.
	args func(t testing.TB, dir, host, port, user, password string) []string
}

var (
	tinyproxy = proxyProgram{command: "tinyproxy", scheme: "http", args: tinyproxyArgs}

	microsocks = proxyProgram{
		command: "microsocks", scheme: "socks5",
		args: func(_ testing.TB, _, host, port, user, password string) []string {
			return []string{"-i", host, "-p", port, "-u", user, "-P", password}
		},
	}
)

// tinyproxyArgs writes the whole configuration of a tinyproxy: for HTTP, and with CONNECT to any port.
func tinyproxyArgs(t testing.TB, dir, host, port, user, password string) []string {
	t.Helper()
	conf := filepath.Join(dir, "tinyproxy.conf")
	text := fmt.Sprintf("Port %s\nListen %s\nTimeout 60\nMaxClients 50\nAllow 127.0.0.1\nBasicAuth %s %s\n", port, host,
		user, password)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"-d", "-c", conf}
}

// proxyCommand is the script command "tinyproxy NAME USER:PASSWORD", or that of another proxy. It sets NAME to its URL
// without name and password, and NAME_HOST to its host:port.
func proxyCommand(p proxyProgram) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		need(ts, neg, args, 2, p.command+" NAME USER:PASSWORD")
		user, password, _ := strings.Cut(args[1], ":")
		t := stateOf(ts).t
		path := program{command: p.command}.path(t)
		addr := ports.Free(t)
		host, port, _ := net.SplitHostPort(addr)
		ts.Check(startProcess(t, addr, path, p.args(t, t.TempDir(), host, port, user, password)...))
		ts.Setenv(args[0], p.scheme+"://"+addr)
		ts.Setenv(args[0]+"_HOST", addr)
	}
}
