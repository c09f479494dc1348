package e2e

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/test/proxytest"
)

// startProxy is "proxy NAME [USER:PASSWORD]": a proxy of HTTP and SOCKS5, for which all names are servers on this
// machine. It sets NAME to its URL, NAME_SOCKS to the one for SOCKS5, both with name and password, and NAME_HOST to
// host:port.
func startProxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: proxy NAME [USER:PASSWORD]")
	}
	var user *url.Userinfo
	if len(args) == 2 {
		name, password, _ := strings.Cut(args[1], ":")
		user = url.UserPassword(name, password)
	}
	state := stateOf(ts)
	s := proxytest.New(state.t, user)
	state.proxies[args[0]] = s
	ts.Setenv(args[0], s.URL("http").String())
	ts.Setenv(args[0]+"_SOCKS", s.URL("socks5").String())
	ts.Setenv(args[0]+"_HOST", s.Addr)
}

// proxied NAME PATTERN matches what a proxy was asked to connect to: a line "host:port" for each.
func proxied(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] proxied NAME PATTERN")
	}
	s, ok := stateOf(ts).proxies[args[0]]
	if !ok {
		ts.Fatalf("there is no proxy %s", args[0])
	}
	asked := strings.Join(s.Asked(), "\n")
	if regexp.MustCompile("(?m)"+args[1]).MatchString(asked) == neg {
		ts.Fatalf("%s was asked for:\n%s", args[0], asked)
	}
}
