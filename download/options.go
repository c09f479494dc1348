package download

import (
	"braid/address"
	"braid/source/httpsource"
	"net/url"
	"slices"
)

// What a request sends along depends on who named its URL: secrets are for the server that the user asked (rule 27), and who named a
// URL decides where it may lead (rule 63): to what is public, or as near to us as they are. URLs that the user typed may lead anywhere.

// ownOptions are for requests to the server that the user asked.
func (r *Request) ownOptions(trusted bool) httpsource.Options {
	return httpsource.Options{Header: r.Header, HeaderTo: r.HeaderTo, User: r.User, Trusted: trusted}
}

func (r *Request) mirrorOptions(trusted bool) httpsource.Options {
	o := r.ownOptions(trusted)
	o.Mirror, o.User, o.Referer = true, nil, r.asked()
	o.Secure = o.Referer != nil && o.Referer.Scheme == "https"
	if r.NoReferer || r.User != nil || o.Referer != nil && o.Referer.User != nil {
		o.Referer = nil // rule 28: or it is the address of something private
	}
	return o
}

func (r *Request) optionsFor(u *url.URL, named address.Scope, trusted bool) httpsource.Options {
	o := r.mirrorOptions(trusted)
	if r.typed(u) { // rule 59
		o.Mirror = false
	}
	if asked := r.asked(); asked != nil && sameServer(u, asked) {
		o = r.ownOptions(trusted)
	}
	o.Named = named
	return o
}

// originOptions are for requests to the origin, which another server may stand in for, or a document may have named.
func (r *Request) originOptions(p *carried, trusted bool) httpsource.Options {
	if p.origin == r.URL && r.Described == nil {
		return r.ownOptions(trusted)
	}
	return r.optionsFor(p.origin, p.candidateScope|r.named(p.origin), trusted)
}

// lookOptions are for who is asked before anything is fetched.
func (r *Request) lookOptions(c condition) httpsource.Options {
	o := r.ownOptions(vouched(r.Claims))
	if r.Described != nil {
		o = r.optionsFor(r.URL, r.named(r.URL), o.Trusted)
	}
	o.IfNoneMatch, o.IfModifiedSince = c.etag, c.since
	return o
}

// asked is the URL that the user typed: that of the document, if there is one that was not a local file.
func (r *Request) asked() *url.URL {
	if r.Described != nil {
		return r.Described.URL
	}
	return r.URL
}

// typed says that the user typed this URL of a mirror: then the name and password in it, or known for it, are for that server. Web servers
// have header fields for theirs, which mirrors do not get (rule 27).
func (r *Request) typed(u *url.URL) bool {
	return isFTP(u) && r.Described == nil && slices.Contains(r.Mirrors, u)
}

// usable says that a place is of a kind that the request may use.
func (r *Request) usable(u *url.URL) bool {
	return isWeb(u) || isFTP(u) && !r.NoFTP || r.isSwarm(u)
}

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
	if r.Described == nil && containsURL(r.Mirrors, u) {
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
