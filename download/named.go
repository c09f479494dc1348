package download

import (
	"net/url"
	"slices"

	"braid/address"
	"braid/metalink/meta4"
	"braid/source"
)

// comesFrom notes where a document comes from.
func (d *Document) comesFrom(by address.Scope) {
	d.by = by
	nameBy(&d.Document, by)
}

func lists(urls []*url.URL, u *url.URL) bool {
	return slices.ContainsFunc(urls, func(o *url.URL) bool { return o.String() == u.String() })
}

// nameBy notes who named the places in a document: who gave it.
func nameBy(d *meta4.Document, by address.Scope) {
	for _, f := range d.Files {
		for i := range f.Mirrors {
			f.Mirrors[i].By = by
		}
		for i := range f.MetaURLs {
			f.MetaURLs[i].By = by
		}
	}
}

// fromOf is where the server is that gave an answer.
func fromOf(a source.Answer) address.Scope {
	if len(a.Hops) == 0 {
		return 0
	}
	return a.Hops[len(a.Hops)-1].From
}
