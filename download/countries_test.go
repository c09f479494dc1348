package download

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"braid/metalink"
)

func mirrorsOf(t *testing.T, hosts ...string) (mirrors []metalink.Mirror) {
	for _, host := range hosts {
		host, geo, _ := strings.Cut(host, "=")
		u, err := url.Parse("http://" + host + "/a")
		if err != nil {
			t.Fatal(err)
		}
		mirrors = append(mirrors, metalink.Mirror{URL: u, Geo: geo})
	}
	return mirrors
}

func hostsOf(mirrors []metalink.Mirror) (hosts []string) {
	for _, m := range mirrors {
		hosts = append(hosts, m.URL.Host)
	}
	return hosts
}

// A mirror's country is not looked up if its server states it, or if the user prefers no country.
func TestNear(t *testing.T) {
	var asked atomic.Int32
	r := Request{Near: Near{
		Country: func(_ context.Context, u *url.URL) string {
			asked.Add(1)
			if country, ok := strings.CutSuffix(u.Host, ".example"); ok {
				return strings.ToUpper(country)
			}
			return ""
		},
	},
	}
	mirrors := mirrorsOf(t, "a=US", "de.example", "jp.example=FR", "unknown", "jp.example")
	r.Near.sort(t.Context(), mirrors)
	if got := hostsOf(mirrors); asked.Load() != 0 || got[0] != "a" || mirrors[1].Geo != "" {
		t.Errorf("%v, asked of %d", got, asked.Load())
	}
	r.Near.Locations = []string{"JP", "DE"}
	r.Near.sort(t.Context(), mirrors)
	if got, want := hostsOf(mirrors), []string{"jp.example", "de.example", "a", "jp.example",
		"unknown"}; !slices.Equal(got, want) || asked.Load() != 3 {
		t.Errorf("%v, asked of %d; want %v", got, asked.Load(), want)
	}
}

// Name servers that do not answer cost one second in total, however many mirrors there are, and lookups in
// parallel are limited.
func TestNearIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		r := Request{Near: Near{
			Locations: []string{"JP"},
			Country: func(ctx context.Context, _ *url.URL) string {
				most.Store(max(most.Load(), now.Add(1)))
				<-ctx.Done()
				now.Add(-1)
				return ""
			},
		},
		}
		var hosts []string
		for i := range 200 {
			hosts = append(hosts, fmt.Sprintf("h%d.example", i))
		}
		mirrors := mirrorsOf(t, hosts...)
		began := time.Now()
		r.Near.sort(t.Context(), mirrors)
		if took := time.Since(began); took != lookupsLimit || most.Load() > lookups || !slices.Equal(hostsOf(mirrors), hosts) {
			t.Errorf("%v, %d at a time", took, most.Load())
		}
	})
}
