package geoip_test

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"braid/internal/geoip"
	"braid/internal/test/geoiptest"
)

func write(t *testing.T, content []byte) string {
	path := filepath.Join(t.TempDir(), "countries.mmdb")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, key string) *geoip.Database {
	t.Helper()
	db, err := geoip.Open(write(t, geoiptest.Database(map[netip.Prefix]string{
		netip.MustParsePrefix("127.0.0.0/8"):   "JP",
		netip.MustParsePrefix("192.0.2.0/24"):  "DE",
		netip.MustParsePrefix("2001:db8::/32"): "FR",
		netip.MustParsePrefix("2001:db9::/32"): "<b>",
	}, key)))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestCountry(t *testing.T) {
	for _, key := range []string{"country", "registered_country"} {
		db := open(t, key)
		for address, want := range map[string]string{
			"127.3.2.1": "JP", "192.0.2.77": "DE", "192.0.3.1": "", "2001:db8::1": "FR", "2001:db9::1": "",
			"::ffff:192.0.2.1": "DE", "fe80::1%eth0": "",
		} {
			if got := db.Country(netip.MustParseAddr(address)); got != want {
				t.Errorf("%s, by %s: %q, want %q", address, key, got, want)
			}
		}
	}
	if got := open(t, "continent").Country(netip.MustParseAddr("127.0.0.1")); got != "" {
		t.Errorf("a database of continents: %q", got)
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := geoip.Open(filepath.Join(t.TempDir(), "none")); err == nil || !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	for _, content := range []string{"", "country,DE\n", "\xab\xcd\xefMaxMind.com"} {
		if _, err := geoip.Open(write(t, []byte(content))); err == nil ||
			!strings.Contains(err.Error(), "not a database of addresses") {
			t.Errorf("%q: %v", content, err)
		}
	}
	large := write(t, nil)
	if err := os.Truncate(large, geoip.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{large, t.TempDir()} {
		if _, err := geoip.Open(path); err == nil || !strings.Contains(err.Error(), "256 MiB") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestFinder(t *testing.T) {
	var asked atomic.Int64 // a name has addresses of two kinds, which are asked for at the same time
	f := geoip.Finder{
		Database: open(t, "country"),
		Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			asked.Add(1)
			return nil, net.UnknownNetworkError("none")
		}},
		Proxied: func(u *url.URL) bool { return u.Host == "behind.example" },
	}
	country := func(raw string) string {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return f.Country(t.Context(), u)
	}
	if got := country("ftp://192.0.2.9:21/a") + country("http://[2001:db8::1]/") + country("http://localhost/"); got != "DEFRJP" {
		t.Errorf("%q", got)
	}
	if got := country("http://behind.example/"); got != "" || asked.Load() != 0 {
		t.Errorf("behind a proxy: %q, asked %d times", got, asked.Load())
	}
	if got := country("http://nowhere.example/"); got != "" || asked.Load() == 0 {
		t.Errorf("a name that nobody knows: %q, asked %d times", got, asked.Load())
	}
	before := asked.Load()
	if country("http://nowhere.example/other"); asked.Load() != before {
		t.Error("a name was looked up again")
	}
}

// Whatever is in the file: an error, or answers that are countries.
func FuzzParse(f *testing.F) {
	f.Add(geoiptest.Database(map[netip.Prefix]string{netip.MustParsePrefix("127.0.0.0/8"): "JP"}, "country"))
	f.Add([]byte("\xab\xcd\xefMaxMind.com"))
	f.Fuzz(func(t *testing.T, content []byte) {
		db, err := geoip.Parse(content)
		if err != nil {
			return
		}
		for _, a := range []string{"127.0.0.1", "::1", "255.255.255.255", "2001:db8::"} {
			if c := db.Country(netip.MustParseAddr(a)); c != "" && (len(c) != 2 || c != strings.ToUpper(c)) {
				t.Errorf("%s is in %q", a, c)
			}
		}
	})
}
