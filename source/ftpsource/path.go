package ftpsource

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"braid/metalink"
)

// Why an address is refused before a server is asked.
var (
	errScheme  = errors.New("not an ftp or ftps URL")
	errNoHost  = errors.New("a URL without a host")
	errNoPath  = errors.New("a URL without a path")
	errQuery   = errors.New("an ftp URL has no query; a ? in a name is written %3F")
	errControl = errors.New("a line end or NUL in the URL")
)

// Check says why no server is asked for the file at u.
func Check(u *url.URL) error {
	_, err := pathOf(u)
	return err
}

// pathOf is the path of u as commands have it. The path of a URL is relative to the folder that a user of the server
// begins in, unless its first segment begins with %2F (RFC 1738, section 3.2.2).
func pathOf(u *url.URL) (string, error) {
	escaped, kind := CutType(u.EscapedPath())
	switch {
	case !metalink.IsFTP(u):
		return "", errScheme
	case u.Hostname() == "":
		return "", errNoHost
	case u.RawQuery != "" || u.ForceQuery:
		return "", errQuery
	case kind != "" && !strings.EqualFold(kind, "i"):
		return "", fmt.Errorf("type %.20q: a file is fetched as it is, which is type i", kind)
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

// CutType splits the escaped path of a URL before its ";type=" (RFC 1738, section 3.2.2).
func CutType(escaped string) (path, kind string) {
	const mark = ";type="
	i := strings.LastIndexByte(escaped, ';')
	if i < 0 || len(escaped) < i+len(mark) || !strings.EqualFold(escaped[i:i+len(mark)], mark) || strings.Contains(escaped[i:], "/") {
		return escaped, ""
	}
	return escaped[:i], escaped[i+len(mark):]
}

// breaksLines tells what would end a command, or the text of one, early.
func breaksLines(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }

func passwordOf(u *url.Userinfo) string {
	p, _ := u.Password()
	return p
}
