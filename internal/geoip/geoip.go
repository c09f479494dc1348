// Package geoip says in which country a server is, by a database of the user's in MaxMind's format (.mmdb; GeoLite2,
// DB-IP and others offer such). It brings no database, fetches none, and does not ask where the user is.
//
//	db, err := geoip.Open("GeoLite2-Country.mmdb")
//	f := geoip.Finder{Database: db}
//	country := f.Country(ctx, u) // "DE", or "" if it is not known
package geoip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/oschwald/maxminddb-golang/v2"
)

// MaxSize bounds the databases that are read: those of countries have some 10 MiB, those of cities 60.
const MaxSize = 256 << 20

// A Database knows where addresses are. It is read as a whole: one that is replaced in place while it is in use does no harm.
type Database struct{ reader *maxminddb.Reader }

// Open reads the database at path.
func Open(path string) (*Database, error) {
	if about, err := os.Stat(path); err != nil {
		return nil, err
	} else if about.Size() > MaxSize || !about.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file of at most %d MiB", path, MaxSize>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	db, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s is %w", path, err)
	}
	return db, nil
}

// Parse takes the content of a database, which must not change afterwards.
func Parse(data []byte) (*Database, error) {
	reader, err := maxminddb.OpenBytes(data)
	if err != nil {
		return nil, fmt.Errorf("no database of addresses in MaxMind's format: %w", err)
	}
	return &Database{reader}, nil
}

// Country is where the address is used, or else where it is registered: two capital letters (ISO 3166-1). It is "" if
// the database does not know, or is damaged there.
func (d *Database) Country(a netip.Addr) string {
	found := d.reader.Lookup(a.Unmap())
	for _, key := range []string{"country", "registered_country"} {
		var code string
		if err := found.DecodePath(&code, key, "iso_code"); err == nil && isCode(code) {
			return code
		}
	}
	return ""
}

func isCode(s string) bool { return len(s) == 2 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }

// A Finder says where servers are: it looks their names up, each once. It may be used by several goroutines.
type Finder struct {
	*Database
	// Resolver looks names up. If nil, it is that of package net.
	Resolver *net.Resolver
	// Proxied says that a URL is asked for through a proxy. Name servers are then not told of it. If nil, none is.
	Proxied func(*url.URL) bool

	mu    sync.Mutex
	known map[string]string
}

// Country is where the server of u is, by the first of its addresses that the database knows; see Database.Country. A host that
// was not found before ctx was over is not looked for again.
func (f *Finder) Country(ctx context.Context, u *url.URL) string {
	host := u.Hostname()
	if a, err := netip.ParseAddr(host); err == nil {
		return f.Database.Country(a)
	}
	if f.Proxied != nil && f.Proxied(u) {
		return ""
	}
	f.mu.Lock()
	country, ok := f.known[host]
	f.mu.Unlock()
	if ok {
		return country
	}
	addrs, _ := f.resolver().LookupNetIP(ctx, "ip", host)
	for _, a := range addrs {
		if country == "" {
			country = f.Database.Country(a)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]string{}
	}
	f.known[host] = country
	return country
}

func (f *Finder) resolver() *net.Resolver {
	if f.Resolver == nil {
		return net.DefaultResolver
	}
	return f.Resolver
}
