package job

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"braid/address"
	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
	"braid/verify"
)

var (
	errScheme = errors.New("is not an " + address.ListSchemes() + " URL")
	errWeb    = errors.New("is not an http or https URL")
	errNoHost = errors.New("the URL has no host")
	errPort   = errors.New("the port is larger than 65535")
	errNoPort = errors.New("the text after the last : is not a port; in a password / ? # : @ are written %2F %3F %23 %3A %40")
	errEmpty  = errors.New("the URL is empty")
	errTwo    = errors.New("this looks like two URLs with a space between them; in a list (-i), put a tab before a " +
		"mirror, and each file on its own line")
	errSpaces = errors.New("the URL begins or ends with a space")
)

// ParseWebURL parses word, which the user typed, as the URL of a web server.
func ParseWebURL(word string) (*url.URL, error) {
	return readURL(word, errWeb, func(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" })
}

// ParseURL parses word, which the user typed, as the URL of a file on a web or FTP server.
func ParseURL(word string) (*url.URL, error) {
	word = verify.WellKnownURL(word)
	u, err := readURL(word, errScheme, address.HasScheme)
	if err == nil {
		if wrong := download.CheckURL(u); wrong != nil { // rule 58
			return nil, problem.Misuse(MaskWord(word), wrong.Error(), "")
		}
	}
	return u, err
}

// readURL parses word, a URL that the user typed. If meant rejects the URL's scheme, it returns the error wrong.
func readURL(word string, wrong error, meant func(*url.URL) bool) (*url.URL, error) {
	if LooksLikeHost(word) { // before url.Parse, which would read the host in host:port/path as a scheme
		return nil, problem.Misuse(MaskWord(word), wrong.Error(), "https://"+MaskWord(word)+"?")
	}
	u, err := url.Parse(word)
	switch {
	case word == "":
		err = errEmpty
	case strings.TrimSpace(word) != word:
		err = errSpaces
	case strings.Contains(word, " http://") || strings.Contains(word, " https://") || strings.Contains(word, " ftp://"):
		err = errTwo
	case err != nil:
		err = plainly(err, wrong)
	case !meant(u):
		err = wrong
	case u.Hostname() == "":
		err = errNoHost
	case u.Port() != "":
		if _, e := strconv.ParseUint(u.Port(), 10, 16); e != nil {
			err = errPort
		}
	}
	if err == errNoHost {
		return nil, problem.Misuse(MaskWord(word), err.Error(), u.Scheme+"://HOST/FILE")
	}
	if err != nil {
		return nil, problem.Misuse(MaskWord(word), err.Error(), "")
	}
	u.Fragment, u.RawFragment = "", ""
	return address.URL(u), nil
}

// plainly returns err, an error of package url, without the URL and its port, which may be parts of a password. For a
// URL without a scheme, it returns wrong.
func plainly(err, wrong error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	switch why := err.Error(); {
	case strings.HasPrefix(why, "invalid port"):
		return errNoPort
	case strings.HasPrefix(why, "first path segment"), strings.HasPrefix(why, "missing protocol scheme"):
		return wrong
	}
	return errors.New(strings.TrimPrefix(err.Error(), "net/url: "))
}

// LooksLikeHost reports whether word is an address without a scheme, as browsers accept.
func LooksLikeHost(word string) bool {
	host, _, _ := strings.Cut(word, "/")
	return strings.Contains(host, ".") && !strings.HasPrefix(host, ".") && !strings.ContainsAny(host, " @?#\\") &&
		!strings.Contains(word, "://")
}

// IsURL reports whether word is a URL rather than a path.
func IsURL(word string) bool { return strings.Contains(word, "://") }

// MaskWord returns word without its secrets. word should be a URL, but need not be a valid one.
func MaskWord(word string) string {
	if u, err := url.Parse(word); err == nil && *u != (url.URL{Scheme: u.Scheme}) { // Mask cuts http:// to http:
		return source.Mask(u)
	}
	if i := strings.LastIndexByte(word, '@'); i >= 0 { // first, because ? and # may be in a password
		word = "***" + word[i:]
	}
	if i := strings.IndexAny(word, "?#"); i >= 0 {
		word = word[:i] + "?***"
	}
	return source.Escape(option.Shorten(word, 200))
}
