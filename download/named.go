package download

import (
	"net/url"
	"slices"

	"braid/address"
	"braid/source"
	"braid/verify"
)

// setChannel notes over which channel a document came, and from where.
func (d *Document) setChannel(over verify.Channel, by address.Scope) {
	d.Over, d.by = over, by
	d.From(over, by)
}

func containsURL(urls []*url.URL, u *url.URL) bool {
	return slices.ContainsFunc(urls, func(o *url.URL) bool { return o.String() == u.String() })
}

// fromOf is where the server is that gave an answer.
func fromOf(a source.Answer) address.Scope {
	if len(a.Hops) == 0 {
		return 0
	}
	return a.Hops[len(a.Hops)-1].From
}
