package render

import (
	"slices"
	"strings"

	"braid/download"
	"braid/internal/option"
	"braid/internal/report"
	"braid/source"
)

// mostVain is the number of mirrors that the warning names.
const mostVain = 3

// A vain has the mirrors that the user named and that failed without sending any data, by host. It omits mirrors that
// got no request, and mirrors that sent wrong bytes, because these have their own warning.
type vain struct {
	hosts []string          // in the order in which they failed
	why   map[string]string // URL and failure of the first such mirror at a host
	gave  map[string]bool   // hosts that sent data
}

// add adds what became of the user's mirrors in a download.
func (v *vain) add(req download.Request, r download.Result) {
	for _, u := range req.Mirrors {
		i := slices.IndexFunc(r.Sources, func(s download.SourceResult) bool { return s.URL == source.Mask(u) })
		if i < 0 {
			continue
		}
		s, host := r.Sources[i], source.HostPort(u)
		switch {
		case s.Bytes > 0:
			if v.gave == nil {
				v.gave = map[string]bool{}
			}
			v.gave[host] = true
		case s.Err != nil && !s.Banned && v.why[host] == "":
			if v.why == nil {
				v.why = map[string]string{}
			}
			v.hosts, v.why[host] = append(v.hosts, host), s.URL+": "+option.Shorten(report.Why(s.Err, s.Host), 80)
		}
	}
}

// line returns a line about mirrors that sent no data, or "" if all sent data.
func (v *vain) line() string {
	var all []string
	for _, host := range v.hosts {
		if !v.gave[host] {
			all = append(all, v.why[host])
		}
	}
	switch n := len(all); {
	case n == 0:
		return ""
	case n == 1:
		return "nothing came from your mirror " + all[0]
	case n > mostVain:
		all = append(all[:mostVain], option.Grouped(n-mostVain)+" more")
	}
	return "nothing came from these mirrors of yours: " + strings.Join(all, "; ")
}

// warn shows the line about mirrors that sent no data, if any.
func (v *vain) warn(s *Screen) {
	if text := v.line(); text != "" {
		s.Warn("%s", text)
	}
}
