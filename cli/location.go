package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"braid/download"
	"braid/internal/geoip"
)

// locationFlags say in which countries mirrors are tried first.
type locationFlags struct {
	Location countries
	GeoIPDB  string
}

// apply makes a request prefer the mirrors there. Proxies say which hosts are asked for through one, so that their names are not looked up.
func (f *locationFlags) apply(r *download.Request, proxies *proxyFlags) error {
	r.Locations = f.Location
	if f.GeoIPDB == "" || len(f.Location) == 0 {
		return nil
	}
	rules, err := proxies.rules()
	if err != nil {
		return err
	}
	db, err := geoip.Open(f.GeoIPDB)
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		}
		return misuse("--geoip-db "+f.GeoIPDB, err.Error(), "")
	}
	finder := &geoip.Finder{Database: db, Proxied: func(u *url.URL) bool { return rules.For(u) != nil }}
	r.Country = finder.Country
	return nil
}

// countries is the value of a flag that names countries, as two capital letters each.
type countries []string

// Set reads what a user writes: one, or several with commas between.
func (v *countries) Set(s string) error {
	var list []string
	for word := range strings.SplitSeq(s, ",") {
		word = strings.ToUpper(strings.TrimSpace(word))
		if len(word) != 2 || strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return fmt.Errorf("write countries with two letters each (ISO 3166-1), as in de,fr")
		}
		list = append(list, word)
	}
	*v = list
	return nil
}

func (v *countries) String() string { return strings.Join(*v, ",") }
