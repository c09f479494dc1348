// Package geoip determines the country of a server from a database of the user in MaxMind's format (.mmdb; available
// from GeoLite2, DB-IP and others). It includes and downloads no database, and does not determine where the user is.
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

// MaxSize is the maximum size of a database. Databases of countries have about 10 MiB, databases of cities about 60.
const MaxSize = 256 << 20

// Database maps addresses to countries. It is in memory, so its file may be replaced meanwhile.
type Database struct{ reader *maxminddb.Reader }

// Open reads the database at path.
func Open(path string) (*Database, error) {
	if about, err := os.Stat(path); err != nil {
		return nil, err
	} else if about.Size() > MaxSize || !about.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file of at most %d MiB", path, MaxSize>>20)
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

// Parse returns the database with content data, which must not be modified afterwards.
func Parse(data []byte) (*Database, error) {
	reader, err := maxminddb.OpenBytes(data)
	if err != nil {
		return nil, fmt.Errorf("not a database of addresses in MaxMind's format: %w", err)
	}
	return &Database{reader}, nil
}

// Country returns the country where the address is used, or if that is unknown, the country where the address is
// registered: two capital letters (ISO 3166-1). It returns "" if both are unknown or the database is damaged.
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

// Finder determines the countries of servers. It resolves each name once. Its methods are safe for concurrent use.
type Finder struct {
	*Database
	// Resolver resolves names. If nil, it is net.DefaultResolver.
	Resolver *net.Resolver
	// Proxied reports whether requests for a URL go through a proxy. The names of such servers are not resolved. If
	// nil, there is no proxy.
	Proxied func(*url.URL) bool

	mu    sync.Mutex
	known map[string]string
}

// Country returns the country of the server of u. It is the country of the server's first address with a known country;
// see Database.Country. A host that could not be resolved before ctx was done is not resolved again.
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
