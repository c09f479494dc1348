package lfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// A login gets access to the LFS server of a remote over SSH. It runs git-lfs-authenticate, which returns the server's
// URL and header fields (docs/api/authentication.md of git-lfs).
type login struct {
	command []string
	action  *action // nil until asked for
	asked   bool
}

// plainPath has the characters that need no quoting in a shell. Only paths with other characters are quoted, because
// git-lfs quotes no path and some servers expect no quotes.
const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@"

// plainHost reports whether "user@host" has only the characters of names. A repository can choose both parts. ssh takes
// a leading dash for an option and may pass the parts to a shell (ProxyCommand).
func plainHost(word string) bool {
	user, host, named := strings.Cut(word, "@")
	if !named {
		user, host = "", word
	}
	odd := func(r rune) bool { return !strings.ContainsRune(plainPath+":[]%", r) || r == '/' }
	return host != "" && !strings.HasPrefix(user, "-") && !strings.HasPrefix(host, "-") && !strings.ContainsFunc(word, odd)
}

// newLogin returns a login with the command line for ssh.
func (a *Agent) newLogin(ctx context.Context, p place) (*login, error) {
	host, path, ok := strings.Cut(p.ssh, ":")
	if !ok || !plainHost(host) || strings.ContainsAny(path, "'\\\n\x00") {
		return nil, fmt.Errorf("%q: not a remote for SSH", p.ssh)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !strings.ContainsRune(plainPath, r) }) {
		path = "'" + path + "'"
	}
	args := []string{host, "git-lfs-authenticate " + path + " download"}
	if written, err := a.git(ctx, "", "ls-remote", "--get-url", p.remote); err == nil {
		if u, err := url.Parse(strings.TrimSpace(written)); err == nil && u.Port() != "" && strings.Contains(u.Scheme, "ssh") {
			args = append([]string{"-p", u.Port()}, args...)
		}
	}
	shell := os.Getenv("GIT_SSH_COMMAND")
	if shell == "" {
		configured, _ := a.git(ctx, "", "config", "core.sshCommand") // exits with 1 if the setting is missing
		shell = strings.TrimSpace(configured)
	}
	switch program := os.Getenv("GIT_SSH"); {
	case shell != "":
		return &login{command: append([]string{"sh", "-c", shell + ` "$@"`, "ssh"}, args...)}, nil
	case program != "":
		return &login{command: append([]string{program}, args...)}, nil
	}
	return &login{command: append([]string{"ssh"}, args...)}, nil
}

// holds reports whether the last request used the action of an earlier request, so that a new action may help.
func (l *login) holds() bool { return l != nil && l.action != nil && !l.asked }

// to returns the URL of the batch API and the header fields for it.
func (s *server) to(ctx context.Context) (*url.URL, http.Header, error) {
	l := s.login
	if l == nil {
		return below(s.url, "objects", "batch"), s.fields, nil
	}
	l.asked = l.action == nil || l.action.expired(time.Now())
	if l.asked {
		out, err := run(ctx, os.Environ(), "", l.command...)
		if err != nil {
			return nil, nil, fmt.Errorf("git-lfs-authenticate over SSH: %w", err)
		}
		l.action = &action{begins: time.Now()}
		if err := json.Unmarshal([]byte(out), l.action); err != nil {
			return nil, nil, fmt.Errorf("git-lfs-authenticate over SSH: the answer is not JSON: %w", err)
		}
	}
	u := s.url
	if l.action.Href != "" {
		var err error
		if u, err = url.Parse(l.action.Href); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, nil, errors.New("git-lfs-authenticate over SSH: it names no http or https URL")
		}
	}
	fields := l.action.fields()
	s.addFields(fields, u)
	return below(u, "objects", "batch"), fields, nil
}
