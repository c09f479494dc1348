package lfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// git runs git.
func (a *Agent) git(ctx context.Context, in string, args ...string) (string, error) {
	if a.Git != nil {
		return a.Git(ctx, in, args...)
	}
	return run(ctx, in, append([]string{"git"}, args...)...)
}

// run runs a program, with in to read, and returns what it prints. It may not ask the user: several agents would do it at once.
func run(ctx context.Context, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(in), 5*time.Second
	var out, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); err != nil {
		last := strings.TrimSpace(wrong.String())
		last = last[strings.LastIndexByte(last, '\n')+1:]
		return "", &gitError{strings.Join(args[:min(3, len(args))], " "), last, err}
	}
	return out.String(), nil
}

// A gitError is a program of git's that failed.
type gitError struct {
	command, last string
	err           error
}

func (e *gitError) Error() string {
	if e.last == "" {
		return fmt.Sprintf("%s: %v", e.command, e.err)
	}
	return e.command + ": " + e.last
}

func (e *gitError) Unwrap() error { return e.err }

// A place is what git-lfs says of a repository and of a remote.
type place struct {
	storage  string   // folder
	endpoint *url.URL // of the remote's LFS server
	ssh      string   // the user and host, and path, of a remote that is asked over SSH first; else empty
	remote   string   // "origin"
	named    string   // what git-lfs calls it: its name or its URL
}

// find asks git-lfs, which knows lfs.url, remote.NAME.lfsurl, .lfsconfig, url.BASE.insteadOf and all the rest that make the URL. A remote
// may be a URL.
func (a *Agent) find(ctx context.Context, remote string) (p place, err error) {
	args := []string{"lfs", "env"}
	if remote == "" {
		remote = "origin"
	}
	named := remote
	if strings.Contains(remote, ":") {
		args = append([]string{"-c", "remote." + unnamed + ".url=" + remote}, args...)
		remote = unnamed
	}
	out, err := a.git(ctx, "", args...)
	if err != nil {
		return p, err
	}
	word := ""
	if p, word = parseEnv(out, remote); p.storage == "" {
		return p, errors.New("git lfs env: no LfsStorageDir")
	}
	if p.endpoint, err = url.Parse(word); err != nil || word == "" {
		return p, fmt.Errorf("the remote %q has no URL at which git-lfs could ask; git config remote.%s.lfsurl URL names one", remote, remote)
	}
	p.remote, p.named = remote, named
	return p, nil
}

// unnamed is the name that a remote gets that has none.
const unnamed = "braid-lfs-remote"

// parseEnv reads what git lfs env prints. The endpoint is that of the remote, else that of the default one.
func parseEnv(out, remote string) (p place, endpoint string) {
	found, here := false, false // the remote's own line was there; the last line was the one that counts
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		key, value, _ := strings.Cut(line, "=")
		at, _, _ := strings.Cut(value, " (auth=")
		switch {
		case key == "LfsStorageDir":
			p.storage = value
		case key == "Endpoint ("+remote+")":
			found, here, endpoint, p.ssh = true, true, at, ""
		case key == "Endpoint" && !found:
			here, endpoint = true, at
		case key == "  SSH" && here:
			p.ssh = value
		default:
			here = false
		}
	}
	return p, endpoint
}

// settings asks git what http.* says of an endpoint, and for its header fields.
func (a *Agent) settings(ctx context.Context, endpoint *url.URL) (s Settings, fields []string, err error) {
	s.Endpoint = endpoint
	out, err := a.git(ctx, "", "config", "-z", "--get-urlmatch", "http", withoutUser(endpoint).String())
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 { // there are none
		err = nil
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		switch key {
		case "http.proxy":
			s.Proxy = value
		case "http.sslcainfo":
			s.CAInfo = value
		case "http.sslcert":
			s.Cert = value
		case "http.sslkey":
			s.Key = value
		case "http.sslverify":
			s.Insecure = isFalse(value)
		case "http.extraheader":
			fields = append(fields, value)
		}
	}
	if s.CAInfo == "" {
		s.CAInfo = os.Getenv("GIT_SSL_CAINFO")
	}
	s.Insecure = s.Insecure || os.Getenv("GIT_SSL_NO_VERIFY") != ""
	return s, fields, err
}

// isFalse is as git-config(1) reads a boolean.
func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0", "":
		return true
	}
	return false
}

// withoutUser is a URL for what must not be told the name and password in it.
func withoutUser(u *url.URL) *url.URL {
	plain := *u
	plain.User = nil
	return &plain
}

// below is a URL in the folder at u, which may be a host alone.
func below(u *url.URL, names ...string) *url.URL {
	folder := *u
	if folder.Path == "" {
		folder.Path = "/"
	}
	return folder.JoinPath(names...)
}
