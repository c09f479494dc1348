package job

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"braid/address"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/web"
)

// Credentials holds the options for logins. A login is sent only to the exact origin of a URL that the user typed.
type Credentials struct {
	User        string
	NetrcFile   string
	NoNetrc     bool
	LoadCookies string

	read  sync.Once // guards netrc and err
	netrc web.Netrc
	err   error
}

// UserFor returns the login for u: that of --user, or else that in u, or else that in the netrc file.
func (f *Credentials) UserFor(u *url.URL) (*url.Userinfo, error) {
	if f.User != "" {
		user, err := userinfo(f.User)
		if err != nil {
			return nil, problem.Misuse("-u", err.Error(), "write USER:PASSWORD, in -u or in the variable "+
				option.Variable("user"))
		}
		return user, nil
	}
	return f.atHost(u)
}

// resumed returns the login for u, the URL of a resumed download: that of --user, or else that in the netrc file. The netrc
// file is not used if the connection to u is unencrypted, because u is from a journal and the user did not type it (rule 27).
func (f *Credentials) resumed(u *url.URL) (*url.Userinfo, error) {
	if f.User == "" && !address.SchemeOf(u).Encrypted {
		return nil, nil
	}
	return f.UserFor(u)
}

// userOfClient is UserFor for a URL that a client of a service wrote. A client may know passwords only for its own
// servers. On an unencrypted connection, or at another port of the host, it could find out a password from the netrc
// file. So only netrc entries for this host are used, and only over TLS or on the default port of the scheme.
func (f *Credentials) userOfClient(u *url.URL) (*url.Userinfo, error) {
	if f.User != "" {
		return f.UserFor(u)
	}
	return f.find(u, true)
}

// atHost returns the login in u, or else that in the netrc file. It is safe for concurrent use.
func (f *Credentials) atHost(u *url.URL) (*url.Userinfo, error) { return f.find(u, false) }

// find is atHost if ofClient is false. Otherwise a client of a service wrote u; see userOfClient.
func (f *Credentials) find(u *url.URL, ofClient bool) (*url.Userinfo, error) {
	if _, known := u.User.Password(); known || f.NoNetrc {
		return u.User, nil
	}
	if f.read.Do(func() { f.err = f.readNetrc() }); f.err != nil {
		return nil, f.err
	}
	netrc, scheme := f.netrc, address.SchemeOf(u)
	if ofClient {
		netrc = netrc.Named()
		if port := u.Port(); !scheme.Encrypted && port != "" && port != scheme.Port {
			return u.User, nil
		}
	}
	if login, password, ok := netrc.Find(u.Hostname(), u.User.Username()); ok {
		return url.UserPassword(login, password), nil
	}
	return u.User, nil
}

// login returns the login for an FTP mirror that the user named. It ignores -u, which is only for the server of the URL
// (rule 27).
func (f *Credentials) login(u *url.URL) *url.Userinfo {
	user, _ := f.atHost(u) // checkLogin reported any error
	return user
}

// loginOfClient is login for a mirror that a client of a service named.
func (f *Credentials) loginOfClient(u *url.URL) *url.Userinfo {
	user, _ := f.find(u, true)
	return user
}

// checkLogin returns the error of reading the netrc file, if the mirror u has a scheme with logins.
func (f *Credentials) checkLogin(u *url.URL) error {
	if !address.SchemeOf(u).Logins {
		return nil
	}
	_, err := f.atHost(u)
	return err
}

// readNetrc reads the netrc file. A missing file is an error only if --netrc-file names it.
func (f *Credentials) readNetrc() error {
	name, named := f.NetrcFile, true
	if name == "" {
		name = os.Getenv("NETRC")
	}
	if name == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		name, named = filepath.Join(home, ".netrc"), false
	}
	data, err := ReadFile("netrc", name, mostNetrc)
	if _, statErr := os.Stat(name); err != nil && !named && errors.Is(statErr, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		f.netrc, err = web.ParseNetrc(string(data))
	}
	if wrong, ok := errors.AsType[*web.LineError](err); ok {
		return problem.Misuse(name, wrong.Error(), "correct the file, or ignore it with --no-netrc")
	}
	return err
}

// jar returns the cookies of --load-cookies, or nil without that flag.
func (f *Credentials) jar() (http.CookieJar, error) {
	if f.LoadCookies == "" {
		return nil, nil
	}
	data, err := ReadFile("--load-cookies", f.LoadCookies, mostCookies)
	if err != nil {
		return nil, err
	}
	jar, err := web.ParseCookies(string(data))
	if err != nil {
		return nil, problem.Misuse("--load-cookies "+f.LoadCookies, err.Error(), "")
	}
	return jar, nil
}

const mostCookies = 16 << 20

const mostNetrc = 1 << 20
