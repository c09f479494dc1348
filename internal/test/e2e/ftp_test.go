package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
)

// startFTP is "ftp NAME FILE WORD...": an FTP server with one file, whose misbehaviour the words describe. It sets NAME
// to the URL of the file, NAME_HOST to host:port and NAME_PORT to the port. For an existing NAME, "ftp NAME WORD..."
// changes what the server does from now on.
func startFTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ftp NAME FILE WORD... or, later, ftp NAME WORD...")
	}
	state, name := stateOf(ts), args[0]
	if s, ok := state.ftp[name]; ok {
		s.Set(optionsOf(ts, ftpOption, args[1:])...)
		return
	}
	options := append(optionsOf(ts, ftpOption, args[2:]), ftptest.Name(filepath.Base(args[1])))
	s := ftptest.New(state.t, contentOf(ts, args[1]), options...)
	state.ftp[name] = s
	setServer(ts, name, s.URL, s.Addr)
}

func contentOf(ts *testscript.TestScript, file string) ftptest.Content {
	return bytes.NewReader([]byte(ts.ReadFile(file)))
}

// ftpOption is the option that a word of a script names.
func ftpOption(ts *testscript.TestScript, key, value string) (ftptest.Option, error) {
	command, reply, _ := strings.Cut(value, ":")
	switch key {
	case "user":
		return ftptest.User(command, reply), nil
	case "reply":
		return ftptest.Reply(command, reply+"\r\n"), nil
	case "endless":
		return ftptest.Endless(command, reply+"\r\n"), nil
	case "afterthought":
		return ftptest.Afterthought(value + "\r\n"), nil
	case "early-226":
		return ftptest.Early226(), nil
	case "no-handshake":
		return ftptest.NoHandshake(), nil
	case "ignore-rest":
		return ftptest.IgnoreRest(), nil
	case "passive-host":
		return ftptest.PassiveHost(value), nil
	case "ipv6":
		return ftptest.IPv6(), nil
	case "holds":
		return ftptest.Holds(contentOf(ts, value)), nil
	case "modified":
		t, err := time.Parse(time.RFC3339, value)
		return ftptest.Modified(t), err
	case "tls":
		config, authority := mirrortest.Certify(stateOf(ts).t, nil)
		file := ts.MkAbs(".ftp.pem")
		ts.Setenv("SSL_CERT_FILE", file)
		return ftptest.TLS(config), os.WriteFile(file, authority, 0o644)
	}
	return ftpSizeOption(key, value)
}

// ftpSizeOption is the option of a word whose value is a number of bytes.
func ftpSizeOption(key, value string) (ftptest.Option, error) {
	option, ok := map[string]func(int64) ftptest.Option{
		"rate": ftptest.Rate, "size": ftptest.Size, "end": ftptest.EndAfter, "reset": ftptest.ResetAfter,
		"stall":  ftptest.StallAfter,
		"longer": ftptest.Longer,
		"rotten": func(step int64) ftptest.Option {
			var offsets []int64
			for off := step / 2; off < 32<<20; off += step {
				offsets = append(offsets, off)
			}
			return ftptest.Corrupt(offsets...)
		},
	}[key]
	if !ok {
		return nil, fmt.Errorf("no such word")
	}
	n, err := parseSize(value)
	return option(n), err
}

// askedFTP is "ftp-asked NAME PATTERN": it matches the commands that an FTP server received.
func askedFTP(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] ftp-asked NAME PATTERN")
	}
	s, ok := stateOf(ts).ftp[args[0]]
	if !ok {
		ts.Fatalf("there is no ftp server %s", args[0])
	}
	commands := strings.Join(s.Commands(), "\n")
	if regexp.MustCompile("(?m)"+args[1]).MatchString(commands) == neg {
		ts.Fatalf("%s received:\n%s", args[0], commands)
	}
}

// countFTP is "ftp-count NAME COMMAND N": so often an FTP server received a command.
func countFTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: ftp-count NAME COMMAND N")
	}
	s, ok := stateOf(ts).ftp[args[0]]
	if !ok {
		ts.Fatalf("there is no ftp server %s", args[0])
	}
	if got := strconv.Itoa(s.Asked(args[1])); got != args[2] {
		ts.Fatalf("%s received %s %s times, not %s", args[0], args[1], got, args[2])
	}
}
