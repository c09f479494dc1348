package lfs

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// A credential is a name and password from git credential.
type credential struct {
	user        *url.Userinfo
	description string // output of git credential fill
	none        error  // the error, if git has no credential
}

// fill asks git's helpers for the credential of a server (git-credential(1)).
func (a *Agent) fill(ctx context.Context, u *url.URL) (c credential, err error) {
	question := ""
	for _, field := range [][2]string{{"protocol", u.Scheme}, {"host", u.Host},
		{"path", strings.TrimPrefix(u.Path, "/")}, {"username", u.User.Username()}} {
		if strings.ContainsAny(field[1], "\n\r\x00") { // a line end would add another field, such as another host
			return c, fmt.Errorf("%s: not a URL to ask git credential about", u.Redacted())
		}
		if field[1] != "" {
			question += field[0] + "=" + field[1] + "\n"
		}
	}
	out, err := a.git(ctx, question+"\n", "credential", "fill")
	if err != nil {
		return c, fmt.Errorf("%s requires a name and password, and git has none: %w; "+
			"a credential helper of git can supply them (git config credential.helper)", u.Host, err)
	}
	name, password := "", ""
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		switch key {
		case "username":
			name = value
		case "password":
			password = value
		}
	}
	return credential{user: url.UserPassword(name, password), description: out}, nil
}

// tell reports to git's helpers, once, whether the server accepted the credential. verdict is approve or reject. An
// error is ignored, because git asks for the credential again the next time.
func (a *Agent) tell(ctx context.Context, c *credential, verdict string) {
	if c.description != "" {
		a.git(ctx, c.description+"\n", "credential", verdict)
	}
	c.description = ""
}
