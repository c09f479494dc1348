package job

import (
	"net/url"
	"sync/atomic"

	"braid/download/limit"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source/httpsource"
)

// A HostPace has the limits of requests and bytes per second for each host that has no limits in the settings. 0 means
// no limit. The limits may change while downloads run.
type HostPace struct{ requests, bytes atomic.Int64 }

// Set changes both limits.
func (p *HostPace) Set(requests option.NumberValue, bytes int64) {
	p.requests.Store(int64(requests))
	p.bytes.Store(bytes)
}

// PaceHosts makes c limit the requests per second as p and the settings of sites say.
func (s *Sites) PaceHosts(c *httpsource.Client, p *HostPace) error {
	paces, err := s.ofHosts("host-rate", &p.requests, func(word string) (int64, error) {
		var n option.NumberValue
		err := n.Set(word)
		return int64(n), err
	})
	c.HostRate = func(u *url.URL) float64 { return float64(paces(u)) }
	return err
}

// LimitHosts returns the limits in bytes a second in p and in the settings of sites.
func (s *Sites) LimitHosts(p *HostPace) (*limit.Hosts, error) {
	limits, err := s.ofHosts("host-limit-rate", &p.bytes, func(word string) (int64, error) {
		var n option.RateValue
		err := n.Set(word)
		return int64(n), err
	})
	return &limit.Hosts{Rate: limits}, err
}

// ofHosts returns a function that returns the limit for the host of a URL. This is the value of key in the settings of
// the URL's site, or else others.
func (s *Sites) ofHosts(key string, others *atomic.Int64, read func(word string) (int64, error)) (func(*url.URL) int64, error) {
	own := map[*option.Site]int64{}
	if s.named() && !s.Settings.Said[key] {
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
