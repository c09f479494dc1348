package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/ftptest"
)

// startFTP is "ftp NAME FILE WORD...": an FTP server with one file, whose misbehaviour the words describe. It sets NAME to
// the URL of the file and NAME_HOST to host:port.
func startFTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ftp NAME FILE WORD...")
	}
	options := []ftptest.Option{ftptest.Name(filepath.Base(args[1]))}
	for _, word := range args[2:] {
		option, err := ftpOption(word)
		if err != nil {
			ts.Fatalf("%s: %v", word, err)
		}
		options = append(options, option)
	}
	state := stateOf(ts)
	s := ftptest.New(state.t, bytes.NewReader([]byte(ts.ReadFile(args[1]))), options...)
	state.ftp[args[0]] = s
	ts.Setenv(args[0], s.URL)
	ts.Setenv(args[0]+"_HOST", s.Addr)
}

// ftpOption is the option that a word of a script names.
func ftpOption(word string) (ftptest.Option, error) {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "user":
		name, password, _ := strings.Cut(value, ":")
		return ftptest.User(name, password), nil
	case "reply":
		command, reply, _ := strings.Cut(value, ":")
		return ftptest.Reply(command, reply+"\r\n"), nil
	case "passive-host":
		return ftptest.PassiveHost(value), nil
	}
	option, ok := map[string]func(int64) ftptest.Option{
		"rate": ftptest.Rate, "size": ftptest.Size, "end": ftptest.EndAfter, "reset": ftptest.ResetAfter, "stall": ftptest.StallAfter,
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
