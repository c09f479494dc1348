package download

import (
	"net/url"
	"slices"

	"braid/address"
	"braid/metalink/meta4"
	"braid/source"
)

// Who named a URL decides where it may lead (rule 63): to what is public, or as near to us as those are who named it. The
// URLs that the user typed may lead anywhere.

// named says who named a place of the request: the user, which is zero, or a document. See httpsource.Options.Named.
func (r *Request) named(u *url.URL) address.Scope {
	if r.Described == nil {
		return 0
	}
	for _, m := range r.Described.Mirrors {
		if m.URL.String() == u.String() {
			return address.Public | m.By
		}
	}
	return 0
}

// namedBy is for a URL that somebody named who is there. The user may have typed it as well.
func (r *Request) namedBy(u *url.URL, by address.Scope) address.Scope {
	if r.Described == nil && lists(r.Mirrors, u) {
		return 0
	}
	return address.Public | by
}

// namedSignature says who named a signature. One beside the file, which the user asked for, is where the document says
// that the file is.
func (r *Request) namedSignature(sig Signature) address.Scope {
	if sig.named != 0 || r.Described == nil {
		return sig.named
	}
	for _, m := range r.Described.Mirrors {
		if sameServer(m.URL, sig.URL) {
			return address.Public | m.By
		}
	}
	return 0
}

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
