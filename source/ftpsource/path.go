package ftpsource

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Reasons to refuse a URL without asking a server.
var (
	errScheme  = errors.New("not an ftp or ftps URL")
	errNoHost  = errors.New("the URL has no host")
	errNoPath  = errors.New("the URL has no path")
	errQuery   = errors.New("an ftp URL has no query; a ? in a name is written %3F")
	errControl = errors.New("the URL has a line break or a NUL")
)

// Check returns an error if the file at u cannot be requested.
func Check(u *url.URL) error {
	_, err := pathOf(u)
	return err
}

// pathOf returns the path of u for use in commands. It is relative to the initial folder of the login, unless its first
// segment begins with %2F (RFC 1738, section 3.2.2).
func pathOf(u *url.URL) (string, error) {
	escaped, kind := CutType(u.EscapedPath())
	switch {
	case u.Scheme != "ftp" && u.Scheme != "ftps":
		return "", errScheme
	case u.Hostname() == "":
		return "", errNoHost
	case u.RawQuery != "" || u.ForceQuery:
		return "", errQuery
	case kind != "" && !strings.EqualFold(kind, "i"):
		return "", fmt.Errorf("type %.20q: only type i (unchanged bytes) is supported", kind)
	}
	path, err := url.PathUnescape(strings.TrimPrefix(escaped, "/"))
	switch {
	case err != nil:
		return "", err
	case path == "":
		return "", errNoPath
	case breaksLines(path) || u.User != nil && breaksLines(u.User.Username()+passwordOf(u.User)):
		return "", errControl
	}
	return path, nil
}

// CutType splits the escaped path of a URL at its ";type=" (RFC 1738, section 3.2.2).
func CutType(escaped string) (path, kind string) {
	const mark = ";type="
	i := strings.LastIndexByte(escaped, ';')
	if i < 0 || len(escaped) < i+len(mark) || !strings.EqualFold(escaped[i:i+len(mark)], mark) ||
		strings.Contains(escaped[i:], "/") {
		return escaped, ""
	}
	return escaped[:i], escaped[i+len(mark):]
}

// breaksLines reports whether s contains characters that would end a command.
func breaksLines(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }

func passwordOf(u *url.Userinfo) string {
	p, _ := u.Password()
	return p
}
