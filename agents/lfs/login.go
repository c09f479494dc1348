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

// A login is asked for over SSH, of a server whose remote is there: it runs git-lfs-authenticate, which says where the
// LFS server is and what to show it (docs/api/authentication.md of git-lfs).
type login struct {
	command []string
	action  *action // nil: it has to be asked for
	asked   bool
}

// plainPath has what a shell leaves as it is. Only a path of other characters is quoted, as git-lfs quotes none and
// servers may not expect it.
const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@"

// plainHost reports whether "user@host" has only what names have: ssh takes a leading dash for an option, and may pass
// both on to a shell (ProxyCommand). A repository may choose it.
func plainHost(word string) bool {
	user, host, named := strings.Cut(word, "@")
	if !named {
		user, host = "", word
	}
	odd := func(r rune) bool { return !strings.ContainsRune(plainPath+":[]%", r) || r == '/' }
	return host != "" && !strings.HasPrefix(user, "-") && !strings.HasPrefix(host, "-") && !strings.ContainsFunc(word, odd)
}

// newLogin finds out how ssh is called.
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
		configured, _ := a.git(ctx, "", "config", "core.sshCommand") // an error is that there is none
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

// holds reports whether the server was shown what it said over SSH, and may say another thing now.
func (l *login) holds() bool { return l != nil && l.action != nil && !l.asked }

// to is where objects are asked for, and the header fields for that.
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
			return nil, nil, fmt.Errorf("git-lfs-authenticate over SSH: no answer in JSON: %w", err)
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
