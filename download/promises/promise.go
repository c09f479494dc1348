package promises

import (
	"strings"

	"braid/verify"
)

// A Promise is what a URL offers to verify its file with. The zero value is nothing.
type Promise struct {
	// HTTPS is the strongest algorithm of a digest that came over https, HTTP of one that came over http.
	HTTPS, HTTP verify.Algorithm
	// OpenPGP and SMIME: a signature of that kind is described (RFC 6249, section 5).
	OpenPGP, SMIME bool
	// Pieces: a Metalink document with digests of pieces is described. It helps to repair a file and proves nothing that
	// the digest of the whole does not (C9), so it is never missed.
	Pieces bool
}

// Of makes a Promise of the digests that servers named and the media types of documents and signatures, in lower
// case and without parameters. Claims of the user's are no promises of a server's. Whether a Metalink document has
// Pieces, only its reader knows.
func Of(claims []verify.Claim, documents ...string) (p Promise) {
	for _, c := range claims {
		switch alg := c.Digest.Algorithm(); c.Channel {
		case verify.HTTPS:
			p.HTTPS = max(p.HTTPS, alg)
		case verify.HTTP:
			p.HTTP = max(p.HTTP, alg)
		}
	}
	for _, d := range documents {
		switch d {
		case "application/pgp-signature":
			p.OpenPGP = true
		case "application/pkcs7-signature", "application/pkcs7-mime":
			p.SMIME = true
		}
	}
	return p
}

// Broken tells whether something that p promised is missing now, and what, as a phrase that follows "this URL". That is
// a strong digest over https if there is a weaker one now, one over http only, or none (rule 64), and a signature
// if there is none of its kind. What came over http only guards against accidents and can be missing.
func (p Promise) Broken(now Promise) (what string, broken bool) {
	var missing []string
	if p.HTTPS.Strong() && now.HTTPS < p.HTTPS {
		missing = append(missing, "gave "+p.HTTPS.String()+" over https before, and now gives "+now.digest())
	}
	for _, s := range []struct {
		was, is bool
		name    string
	}{{p.OpenPGP, now.OpenPGP, "an OpenPGP signature"}, {p.SMIME, now.SMIME, "an S/MIME signature"}} {
		if s.was && !s.is {
			missing = append(missing, "named "+s.name+" before, and now names none")
		}
	}
	return strings.Join(missing, "; it "), len(missing) > 0
}

// digest says in words which digest is the best.
func (p Promise) digest() string {
	switch {
	case p.HTTPS != 0:
		return p.HTTPS.String() + " only"
	case p.HTTP != 0:
		return p.HTTP.String() + " over http only"
	}
	return "no digest"
}

// raise is all that p or o promises.
func (p Promise) raise(o Promise) Promise {
	return Promise{
		HTTPS: max(p.HTTPS, o.HTTPS), HTTP: max(p.HTTP, o.HTTP),
		OpenPGP: p.OpenPGP || o.OpenPGP, SMIME: p.SMIME || o.SMIME, Pieces: p.Pieces || o.Pieces,
	}
}

// Hint is the next step for somebody who is told of a *BrokenError.
const Hint = "--allow-less-proof goes on without, and forgets the promise"

// A BrokenError says that a URL offers less to verify its file with than it did before: there is nothing to verify with
// (exit code 12).
type BrokenError struct {
	Before, Now Promise
	What        string // as Promise.Broken says it
}

func (e *BrokenError) Error() string { return "this URL " + e.What }
