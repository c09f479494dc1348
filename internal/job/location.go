package job

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"braid/address"
	"braid/download"
	"braid/internal/geoip"
	"braid/internal/problem"
)

// Location holds the countries of preferred mirrors, and the hosts that are never used.
type Location struct {
	Location Countries
	GeoIPDB  string
	NotHost  Excluded

	database *geoip.Database // GeoIPDB after it was read
}

// apply adds the preferred countries and the excluded hosts to r. The countries of hosts behind a proxy are not looked up.
func (f *Location) apply(r *download.Request, proxies *Proxies) (err error) {
	r.Near.Locations = f.Location
	if r.Access.Not, err = f.Exclusion("--not-host", f.NotHost); err != nil || f.GeoIPDB == "" || len(f.Location) == 0 {
		return err
	}
	rules, err := proxies.rules()
	if err != nil {
		return err
	}
	db, err := f.countries()
	if err != nil {
		return err
	}
	finder := &geoip.Finder{Database: db, Proxied: func(u *url.URL) bool { return rules.For(u) != nil }}
	r.Near.Country = finder.Country
	return nil
}

// countries returns the database in GeoIPDB, and reads it at the first call.
func (f *Location) countries() (*geoip.Database, error) {
	if f.database != nil {
		return f.database, nil
	}
	db, err := geoip.Open(f.GeoIPDB)
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		}
		return nil, problem.Misuse("--geoip-db "+f.GeoIPDB, err.Error(), "")
	}
	f.database = db
	return db, nil
}

// Exclusion returns the exclusion of the hosts in words, or nil if words is empty. Errors name the option as what.
func (f *Location) Exclusion(what string, words []string) (*address.Exclusion, error) {
	if len(words) == 0 {
		return nil, nil
	}
	x := &address.Exclusion{}
	for _, word := range words {
		if err := x.Add(word); err != nil {
			return nil, problem.Misuse(strings.TrimSpace(what+" "+word), err.Error(), "")
		}
	}
	if list := x.Countries(); len(list) > 0 {
		if f.GeoIPDB == "" {
			return nil, problem.Misuse(strings.TrimSpace(what+" "+list[0]),
				"is a country, but no database of countries is given", "--geoip-db FILE does")
		}
		db, err := f.countries()
		if err != nil {
			return nil, err
		}
		x.Country = db.Country
	}
	return x, nil
}

// CheckExcluded returns an error if x excludes the host of u, a URL that the user named.
func CheckExcluded(x *address.Exclusion, u *url.URL) error {
	near, _ := errors.AsType[*address.Error](x.CheckHost(u.Hostname()))
	if near == nil {
		return nil
	}
	return problem.Misuse(MaskWord(u.String()), "this host is excluded by --not-host, but a URL names it",
		"leave out --not-host "+near.Excluded)
}

// Excluded is the value of an option that names hosts that are never contacted.
type Excluded []string

// Set adds the hosts in s, which are separated by commas, as in the environment.
func (v *Excluded) Set(s string) error {
	var check address.Exclusion
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		if err := check.Add(word); err != nil {
			return err
		}
		*v = append(*v, word)
	}
	return nil
}

func (v *Excluded) String() string { return strings.Join(*v, ",") }

// Countries is the value of a flag that names countries, each by two capital letters.
type Countries []string

// Set replaces the value by the countries in s, which are separated by commas.
func (v *Countries) Set(s string) error {
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

func (v *Countries) String() string { return strings.Join(*v, ",") }
