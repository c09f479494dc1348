package address

import (
	"net/url"
	"strings"
)

// A Scheme is what holds for the servers of all URLs with a scheme, before one of them is asked.
type Scheme struct {
	Name   string // "https"
	Family string // the protocol: ftp and ftps have the same one
	Port   string // of URLs that name none
	// Encrypted: nobody on the way can read what is sent.
	Encrypted bool
	// Unlisted: messages that list schemes leave it out.
	Unlisted bool

	// What a server does not have that others have:
	NoHead       bool // HEAD, an answer without the file
	NoValidators bool // ETags, which tell versions apart
	NoDigests    bool // digests of the file in its answer
	NoNames      bool // a name of the file in its answer
	NoDocuments  bool // documents, which are as good as the channel that they come over

	// Logins: a mirror that the user typed gets the name and password for its own server. Else only the origin gets some.
	Logins bool
}

// schemes is the table. A new scheme is a row here, a package below source, and a row of the protocols in package download.
// The port of ftps is the one of ftp: TLS begins after the greeting (RFC 4217).
var schemes = []Scheme{
	{Name: "http", Family: "http", Port: "80"},
	{Name: "https", Family: "http", Port: "443", Encrypted: true},
	{Name: "ftp", Family: "ftp", Port: "21", Logins: true,
		NoHead: true, NoValidators: true, NoDigests: true, NoNames: true, NoDocuments: true},
	{Name: "ftps", Family: "ftp", Port: "21", Logins: true, Encrypted: true, Unlisted: true,
		NoHead: true, NoValidators: true, NoDigests: true, NoNames: true, NoDocuments: true},
}

// SchemeNamed returns the row of a scheme in lower case. It reports false if files cannot be fetched from such URLs.
func SchemeNamed(name string) (s Scheme, ok bool) {
	for _, s := range schemes {
		if s.Name == name {
			return s, true
		}
	}
	return Scheme{}, false
}

// SchemeOf returns the row of the scheme of u; the zero Scheme if there is none.
func SchemeOf(u *url.URL) Scheme {
	s, _ := SchemeNamed(u.Scheme)
	return s
}

// HasScheme reports whether files can be fetched from URLs with the scheme of u.
func HasScheme(u *url.URL) bool {
	_, ok := SchemeNamed(u.Scheme)
	return ok
}

// SchemeNames returns all schemes.
func SchemeNames() (names []string) {
	for _, s := range schemes {
		names = append(names, s.Name)
	}
	return names
}

// ListSchemes returns the schemes as messages have them: "http, https or ftp".
func ListSchemes() string {
	var names []string
	for _, s := range schemes {
		if !s.Unlisted {
			names = append(names, s.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
