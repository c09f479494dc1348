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

// Credentials say who the user is at servers. What they say is for the exact origin of a URL that the user typed.
type Credentials struct {
	User        string
	NetrcFile   string
	NoNetrc     bool
	LoadCookies string

	read  sync.Once // netrc, err
	netrc web.Netrc
	err   error
}

// UserFor are those of the flag, else those of the URL, else those of the netrc file.
func (f *Credentials) UserFor(u *url.URL) (*url.Userinfo, error) {
	if f.User != "" {
		user, err := userinfo(f.User)
		if err != nil {
			return nil, problem.Misuse("-u", err.Error(), "write USER:PASSWORD, here or in "+option.Variable("user"))
		}
		return user, nil
	}
	return f.atHost(u)
}

// resumed are those of the flag, else those of the netrc file if u cannot be read on the way: it is from a journal, and the user
// did not type it (rule 27).
func (f *Credentials) resumed(u *url.URL) (*url.Userinfo, error) {
	if f.User == "" && !address.SchemeOf(u).Encrypted {
		return nil, nil
	}
	return f.UserFor(u)
}

// atHost are those of the URL, else those of the netrc file. It may be called by several goroutines.
func (f *Credentials) atHost(u *url.URL) (*url.Userinfo, error) {
	if _, known := u.User.Password(); known || f.NoNetrc {
		return u.User, nil
	}
	if f.read.Do(func() { f.err = f.readNetrc() }); f.err != nil {
		return nil, f.err
	}
	if login, password, ok := f.netrc.Find(u.Hostname(), u.User.Username()); ok {
		return url.UserPassword(login, password), nil
	}
	return u.User, nil
}

// login is what an FTP server is told that the user named as a mirror: -u is for the URL's own server only (rule 27).
func (f *Credentials) login(u *url.URL) *url.Userinfo {
	user, _ := f.atHost(u) // checkLogin has told of an error
	return user
}

// checkLogin finds what is wrong with the netrc file, if a mirror is one that login will be asked about.
func (f *Credentials) checkLogin(u *url.URL) error {
	if !address.SchemeOf(u).Logins {
		return nil
	}
	_, err := f.atHost(u)
	return err
}

// readNetrc reads the file. One that the user did not name need not be there.
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
		return problem.Misuse(name, wrong.Error(), "--no-netrc leaves it unread")
	}
	return err
}

// jar has the cookies; nil is none.
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
