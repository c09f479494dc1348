package job

import (
	"net/url"
	"sync/atomic"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source/httpsource"
)

// A HostPace is how many requests and bytes a second each host gets that no site names; 0 is no limit. It may change
// while downloads run.
type HostPace struct{ requests, bytes atomic.Int64 }

// Set changes both numbers.
func (p *HostPace) Set(requests option.NumberValue, bytes int64) {
	p.requests.Store(int64(requests))
	p.bytes.Store(bytes)
}

// PaceHosts makes a client keep to the requests a second of a pace, and to those of sites.
func (s *Sites) PaceHosts(c *httpsource.Client, p *HostPace) error {
	paces, err := s.ofHosts("host-rate", &p.requests, func(word string) (int64, error) {
		var n option.NumberValue
		err := n.Set(word)
		return int64(n), err
	})
	c.HostRate = func(u *url.URL) float64 { return float64(paces(u)) }
	return err
}

// LimitHosts returns the limits of what hosts send: the bytes a second of a pace, and those of sites.
func (s *Sites) LimitHosts(p *HostPace) (*download.HostLimits, error) {
	limits, err := s.ofHosts("host-limit-rate", &p.bytes, func(word string) (int64, error) {
		var n option.RateValue
		err := n.Set(word)
		return int64(n), err
	})
	return &download.HostLimits{Rate: limits}, err
}

// ofHosts returns what counts for the host of a URL: what its site says of a key, else what all others get.
func (s *Sites) ofHosts(key string, others *atomic.Int64, read func(word string) (int64, error)) (func(*url.URL) int64, error) {
	own := map[*option.Site]int64{}
	if s.Any() && !s.Settings.Said[key] {
		for i := range s.Settings.File.Sites {
			site := &s.Settings.File.Sites[i]
			word := site.Word(key)
			if word == "" {
				continue
			}
			n, err := read(word)
			if err != nil {
				return nil, s.at(site, problem.Misuse(key, err.Error(), ""))
			}
			own[site] = n
		}
	}
	return func(u *url.URL) int64 {
		if len(own) > 0 {
			if n, named := own[s.Settings.File.Site(u)]; named {
				return n
			}
		}
		return others.Load()
	}, nil
}
