package antenna

import (
	"net/url"
	"time"

	"braid/address"
	"braid/internal/web"
)

// silence limits the time that a request may go without data.
const silence = 30 * time.Second

// client returns the client for requests.
func (a *Antenna) client() (*web.Client, error) {
	hosts, err := a.typed()
	return &web.Client{
		UserAgent: a.UserAgent, HeaderTimeout: silence, AllowHosts: hosts,
		// Polls of a host are minutes apart, so idle connections serve only redirects and hosts with many feeds.
		MaxIdle: 32, IdlePerHost: 1, IdleTime: 15 * time.Second,
		TLS: a.TLS, TLSFor: a.TLSFor, Proxy: a.Proxy, Wrap: a.Wrap, Transport: a.Transport,
	}, err
}

// typed returns the hosts that the user named: the hosts of AllowHosts, and addresses in the URLs of feeds and watches.
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
			continue // reported elsewhere
		}
		if _, ok := address.ParseHost(u.Hostname()); ok {
			if err := hosts.Add(u.Hostname()); err != nil {
				return hosts, err
			}
		}
	}
	return hosts, nil
}
