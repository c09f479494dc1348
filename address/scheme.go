package address

import (
	"net/url"
	"strings"
)

// A Scheme describes what is known of a server from the scheme of its URL.
type Scheme struct {
	Name   string // "https"
	Family string // the protocol: "ftp" for ftp and ftps
	Port   string // default port
	// Encrypted means that the connection is encrypted.
	Encrypted bool
	// Unlisted means that messages with a list of schemes omit this scheme.
	Unlisted bool

	// Features that such a server lacks:
	NoHead       bool // HEAD requests
	NoValidators bool // ETags
	NoDigests    bool // digests of the file in responses
	NoNames      bool // names of the file in responses
	NoDocuments  bool // Metalink documents of the file

	// Logins means that a mirror given by the user gets the name and password in the mirror's URL. Otherwise only the
	// origin gets a name and password.
	Logins bool
}

// schemes is the table. A new scheme is a row here, a package below source, and a row of the protocols in package
// download. The port of ftps is that of ftp: TLS begins after the greeting (RFC 4217).
var schemes = []Scheme{
	{Name: "http", Family: "http", Port: "80"},
	{Name: "https", Family: "http", Port: "443", Encrypted: true},
	{Name: "ftp", Family: "ftp", Port: "21", Logins: true,
		NoHead: true, NoValidators: true, NoDigests: true, NoNames: true, NoDocuments: true},
	{Name: "ftps", Family: "ftp", Port: "21", Logins: true, Encrypted: true, Unlisted: true,
		NoHead: true, NoValidators: true, NoDigests: true, NoNames: true, NoDocuments: true},
}

// SchemeNamed returns the Scheme called name, in lower case. It reports false if files cannot be fetched from such
// URLs.
func SchemeNamed(name string) (s Scheme, ok bool) {
	for _, s := range schemes {
		if s.Name == name {
			return s, true
		}
	}
	return Scheme{}, false
}

// SchemeOf returns the row of the scheme of u, or the zero Scheme.
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

// ListSchemes returns the schemes for messages: "http, https or ftp".
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
