package web

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
)

// ParseCookies parses a cookies file in Netscape's format. Each line is a cookie, with tabs between its fields: domain,
// whether subdomains are included, path, whether it is for https only, expiry in seconds since 1970, name and value.
// The jar returns the cookies that are valid at the time of the call. As in browsers, a cookie for a public suffix such
// as .com or .co.uk is refused.
//
//	.example.org	TRUE	/	TRUE	1893456000	session	s3cret
func ParseCookies(text string) (http.CookieJar, error) {
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		line = strings.TrimRight(line, "\r\n")
		line, httpOnly := strings.CutPrefix(line, "#HttpOnly_") // this mark has no meaning outside browsers
		if !httpOnly && strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		u, c, why := parseCookie(line)
		if why != "" {
			return nil, &LineError{n, why}
		}
		jar.SetCookies(u, []*http.Cookie{c})
	}
	return jar, nil
}

// parseCookie parses a line. u is the URL of a server that could have set c. If the line is invalid, why is the reason.
func parseCookie(line string) (u *url.URL, c *http.Cookie, why string) {
	fields := strings.Split(line, "\t")
	if len(fields) == 6 { // the value is empty: the last tab is easily lost
		fields = append(fields, "")
	}
	if len(fields) != 7 {
		return nil, nil, fmt.Sprintf("%d fields separated by tabs, and a cookie has 7: "+
			"is the file in Netscape's format?", len(fields))
	}
	domain, below, path, secure, ends, name, value := fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]
	host := strings.ToLower(strings.TrimPrefix(domain, "."))
	seconds, err := strconv.ParseInt(ends, 10, 64)
	switch {
	case !isFlag(below) || !isFlag(secure):
		return nil, nil, "the second and the fourth field must be TRUE or FALSE"
	case err != nil || seconds < 0:
		return nil, nil, "the fifth field must be a time in seconds"
	case host == "" || strings.ContainsAny(host, "/ @?#"):
		return nil, nil, "the first field must be a domain"
	case !strings.HasPrefix(path, "/"):
		return nil, nil, "the third field must be a path"
	case name == "" || strings.ContainsAny(name, "=;, ") || strings.Contains(value, ";") ||
		strings.ContainsFunc(name+value, isControl):
		return nil, nil, "the sixth field is not a name, or the seventh is not a value"
	}
	c = &http.Cookie{Name: name, Value: value, Path: path, Secure: strings.EqualFold(secure, "TRUE")}
	if strings.EqualFold(below, "TRUE") {
		c.Domain = host
	}
	if seconds > 0 { // 0 means a session cookie, which is valid for this run
		c.Expires = time.Unix(seconds, 0)
	}
	if strings.Contains(host, ":") {
		host = "[" + strings.Trim(host, "[]") + "]"
	}
	return &url.URL{Scheme: "https", Host: host, Path: path}, c, ""
}

func isFlag(s string) bool { return strings.EqualFold(s, "TRUE") || strings.EqualFold(s, "FALSE") }

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// cookieField returns the value of the Cookie field for u.
func cookieField(jar http.CookieJar, u *url.URL) string {
	var words []string
	for _, c := range jar.Cookies(u) {
		words = append(words, c.Name+"="+c.Value)
	}
	return strings.Join(words, "; ")
}
