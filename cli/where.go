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

// whereFlags say in which countries mirrors are tried first.
type whereFlags struct {
	countries countries
	database  string
}

func (f *whereFlags) targets() targets {
	return targets{
		"location": &f.countries,
		"geoip-db": &f.database,
	}
}

// apply makes a request prefer the mirrors there. The route says what is asked for through a proxy.
func (f *whereFlags) apply(r *download.Request, route *routeFlags) error {
	r.Locations = f.countries
	if f.database == "" || len(f.countries) == 0 {
		return nil
	}
	rules, err := route.rules()
	if err != nil {
		return err
	}
	db, err := geoip.Open(f.database)
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		}
		return misuse("--geoip-db "+f.database, err.Error(), "")
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
