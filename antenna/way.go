package antenna

import (
	"net/url"
	"time"

	"braid/address"
	"braid/internal/web"
)

// silence is how long there may be no byte.
const silence = 30 * time.Second

// client is what makes the requests.
func (a *Antenna) client() (*web.Client, error) {
	hosts, err := a.typed()
	return &web.Client{
		UserAgent: a.UserAgent, HeaderTimeout: silence, AllowHosts: hosts,
		// Polls of a host are minutes apart. What waits is for redirects and for hosts with many feeds.
		MaxIdle: 32, IdlePerHost: 1, IdleTime: 15 * time.Second,
		TLS: a.TLS, TLSFor: a.TLSFor, Proxy: a.Proxy, Wrap: a.Wrap, Transport: a.Transport,
	}, err
}

// typed returns the hosts that the user named: those of AllowHosts, and addresses in the URLs of feeds and watches.
func (a *Antenna) typed() (address.Hosts, error) {
	hosts := a.AllowHosts.Clone()
	var urls []string
	for _, f := range a.Feeds {
		if !f.Local {
			urls = append(urls, f.URL)
		}
	}
	for _, w := range a.Watches {
		urls = append(urls, w.URL)
	}
	for _, s := range urls {
		u, err := url.Parse(s)
		if err != nil {
			continue // which is said elsewhere
		}
		if _, ok := address.ParseHost(u.Hostname()); ok {
			if err := hosts.Add(u.Hostname()); err != nil {
				return hosts, err
			}
		}
	}
	return hosts, nil
}
