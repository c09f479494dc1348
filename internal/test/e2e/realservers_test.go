//go:build realservers

package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestRealScript runs the command against nginx, Apache, vsftpd and ProFTPD: one promise a file.
func TestRealScript(t *testing.T) {
	tls := newCertificate(t)
	commands := maps.Clone(scriptCommands)
	commands["nginx"] = siteCommand(nginx, tls)
	commands["age"] = age
	commands["together"] = belongTogether
	commands["apache"] = siteCommand(apache, tls)
	commands["vsftpd"] = siteCommand(vsftpd, tls)
	commands["proftpd"] = siteCommand(proftpd, tls)
	commands["tinyproxy"] = proxyCommand(tinyproxy)
	commands["microsocks"] = proxyCommand(microsocks)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "realscript"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("SSL_CERT_FILE", tls.authority)
			env.Values[gateKey{}] = &gate{}
			return setupScript(env)
		},
		Cmds:                commands,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// siteCommand is the script command "nginx NAME WORD...", or that of another server. It starts a server and
// sets NAME to its URL without a path, and NAME_HOST to its host:port. With the word "gated", "together" may name it.
func siteCommand(p program, tls *certificate) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: %s NAME WORD...", p.command)
		}
		words := slices.DeleteFunc(slices.Clone(args[1:]), func(word string) bool { return word == "gated" })
		s, err := parseSite(words, tls, ts.MkAbs)
		ts.Check(err)
		addr := p.start(stateOf(ts).t, s)
		if len(words) < len(args)-1 {
			addr = ts.Value(gateKey{}).(*gate).relay(stateOf(ts).t, addr, func(int64) {})
		}
		scheme := p.scheme
		if s.tls != nil {
			scheme += "s"
		}
		ts.Setenv(args[0], scheme+"://"+addr)
		ts.Setenv(args[0]+"_HOST", addr)
	}
}

// age FILE makes a file a year old, so that a server's ETag for it differs from that of a new one.
func age(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "age FILE")
	then := time.Now().AddDate(-1, 0, 0)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), then, then))
}
