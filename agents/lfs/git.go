package lfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"braid/source"
)

// A Command is a run of git. What a repository may have chosen, such as a URL, is never part of Args with other words around it.
type Command struct {
	Args []string // after "git"
	In   string   // that it reads
	// Config has the settings of this run alone, names and values. They are passed in the environment (GIT_CONFIG_COUNT
	// of git(1)): of an argument -c, git takes what is behind the first = as the value, and other users see it.
	Config [][2]string
}

// git runs git.
func (a *Agent) git(ctx context.Context, in string, args ...string) (string, error) {
	return a.command(ctx, Command{Args: args, In: in})
}

func (a *Agent) command(ctx context.Context, c Command) (string, error) {
	if a.Git != nil {
		return a.Git(ctx, c)
	}
	return run(ctx, configured(os.Environ(), c.Config), c.In, append([]string{"git"}, c.Args...)...)
}

// configured adds settings to an environment, behind those that are there.
func configured(environment []string, config [][2]string) []string {
	const count = "GIT_CONFIG_COUNT="
	n := 0
	for _, variable := range environment {
		if word, ok := strings.CutPrefix(variable, count); ok {
			n, _ = strconv.Atoi(word) // git refuses what is no number
		}
	}
	for _, c := range config {
		environment = append(environment, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, c[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, c[1]))
		n++
	}
	if len(config) > 0 {
		environment = append(environment, count+strconv.Itoa(n)) // the last one of a name counts
	}
	return environment
}

// run runs a program, with in to read, and returns what it prints. It may not ask the user: several agents would do it at once.
func run(ctx context.Context, environment []string, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(environment, "GIT_TERMINAL_PROMPT=0")
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
	storage  string      // folder
	endpoint *url.URL    // of the remote's LFS server
	ssh      string      // the user and host, and path, of a remote that is asked over SSH first; else empty
	remote   string      // "origin"
	config   [][2]string // what git has to hear of a remote that is a URL
}

// check refuses an endpoint that is no URL of a server or folder. A repository says in .lfsconfig what it is, and it
// becomes part of the name of a setting.
func (p *place) check() error {
	switch p.endpoint.Scheme {
	case "http", "https", "ssh":
		if p.endpoint.Host == "" {
			break
		}
		return nil
	case "file":
		return nil
	}
	return fmt.Errorf("%s is no URL of an LFS server (http, https, ssh or file); git config lfs.url URL in this repository names another",
		source.Mask(p.endpoint))
}

// find asks git-lfs, which knows lfs.url, remote.NAME.lfsurl, .lfsconfig, url.BASE.insteadOf and all the rest that make
// the URL. A remote may be a URL.
func (a *Agent) find(ctx context.Context, remote string) (p place, err error) {
	c := Command{Args: []string{"lfs", "env"}}
	if remote == "" {
		remote = "origin"
	}
	if strings.Contains(remote, ":") {
		p.config = [][2]string{{"remote." + unnamed + ".url", remote}}
		remote = unnamed
	}
	c.Config = p.config
	out, err := a.command(ctx, c)
	if err != nil {
		return p, err
	}
	said, word := parseEnv(out, remote)
	if p.storage, p.ssh = said.storage, said.ssh; p.storage == "" {
		return p, errors.New("git lfs env: no LfsStorageDir")
	}
	if p.endpoint, err = url.Parse(word); err != nil || word == "" {
		return p, fmt.Errorf("the remote %q has no URL at which git-lfs could ask; git config remote.%s.lfsurl URL names one", remote, remote)
	}
	p.remote = remote
	return p, p.check()
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
