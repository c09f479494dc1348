package lfs

import (
	"bytes"
	"cmp"
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

// A Command is a run of git. A text that a repository may have chosen, such as a URL, is always a separate argument.
type Command struct {
	Args []string // without "git"
	In   string   // standard input
	// Config has settings for this run, as names and values. They are passed in the environment (GIT_CONFIG_COUNT of
	// git(1)) and not by -c, which splits at the first = and is visible to other users.
	Config [][2]string
}

func (a *Agent) git(ctx context.Context, in string, args ...string) (string, error) {
	return a.command(ctx, Command{Args: args, In: in})
}

func (a *Agent) command(ctx context.Context, c Command) (string, error) {
	if a.Git != nil {
		return a.Git(ctx, c)
	}
	return run(ctx, configured(os.Environ(), c.Config), c.In, append([]string{"git"}, c.Args...)...)
}

// configured returns an environment with additional settings for git.
func configured(environment []string, config [][2]string) []string {
	const count = "GIT_CONFIG_COUNT="
	n := 0
	for _, variable := range environment {
		if word, ok := strings.CutPrefix(variable, count); ok {
			n, _ = strconv.Atoi(word) // git itself refuses an invalid number
		}
	}
	for _, c := range config {
		environment = append(environment, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, c[0]),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, c[1]))
		n++
	}
	if len(config) > 0 {
		environment = append(environment, count+strconv.Itoa(n)) // the last variable of a name is used
	}
	return environment
}

// run runs a program with in as its input, and returns its output. The program must not ask the user, because several
// agents would ask at the same time.
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

// A gitError reports that a program failed. last is the last line of its standard error.
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

// A place is the output of git lfs env for a repository and a remote.
type place struct {
	storage  string      // folder of the objects
	endpoint *url.URL    // URL of the remote's LFS server
	ssh      string      // USER@HOST:PATH of a remote over SSH, or ""
	remote   string      // name, such as "origin"
	config   [][2]string // settings that give a name to a remote that is only a URL
}

// check returns an error if the endpoint is not the URL of a server or folder. A repository can set it in .lfsconfig,
// and it becomes part of the name of a setting.
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
	return fmt.Errorf("%s is not a URL of an LFS server (http, https, ssh or file); "+
		"git config lfs.url URL in this repository names another",
		source.Mask(p.endpoint))
}

// find asks git-lfs for the place of a remote. Git-lfs evaluates lfs.url, remote.NAME.lfsurl, .lfsconfig and
// url.BASE.insteadOf. A remote may be a URL.
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
		return p, fmt.Errorf("the remote %q has no URL of an LFS server; git config remote.%s.lfsurl URL sets one",
			remote, remote)
	}
	p.remote = remote
	return p, p.check()
}

// unnamed is the name for a remote that is a URL.
const unnamed = "braid-lfs-remote"

// parseEnv parses the output of git lfs env. endpoint is the endpoint of the remote, or else the default endpoint.
func parseEnv(out, remote string) (p place, endpoint string) {
	// found reports that the remote has its own line. here reports that the previous line was the endpoint's.
	found, here := false, false
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

// settings returns git's http.* settings for a server: as fields the header fields, as s the other settings.
func (a *Agent) settings(ctx context.Context, endpoint *url.URL) (s Settings, fields []string, err error) {
	s.Endpoint = endpoint
	out, err := a.git(ctx, "", "config", "-z", "--get-urlmatch", "http", withoutUser(endpoint).String())
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 { // no such settings
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
	s.CAInfo = cmp.Or(os.Getenv("GIT_SSL_CAINFO"), s.CAInfo)
	s.Insecure = s.Insecure || os.Getenv("GIT_SSL_NO_VERIFY") != ""
	return s, fields, err
}

// isFalse reports whether a value is false by the rules of git-config(1).
func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0", "":
		return true
	}
	return false
}

// withoutUser returns a URL without its name and password.
func withoutUser(u *url.URL) *url.URL {
	plain := *u
	plain.User = nil
	return &plain
}

// below returns a URL in the folder at u, which may have no path.
func below(u *url.URL, names ...string) *url.URL {
	folder := *u
	if folder.Path == "" {
		folder.Path = "/"
	}
	return folder.JoinPath(names...)
}
