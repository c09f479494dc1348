package state

import (
	"net/url"
	"os"
	"strings"

	"braid/source"
	"braid/verify"
	"braid/verify/signatures"
)

var pinned = kind{folder: "pins", most: 10_000, old: year, due: "000"}

// A Pin is the evidence that a URL offers for its file. A URL that offers less than before has been changed
// by its owner, or by an attacker who can change the file but not forge the evidence. A Pin is no evidence
// itself: it holds no digests, keys or signers, and never makes a file right. The zero value is no offer.
type Pin struct {
	// HTTPS is the strongest algorithm of a digest over https. HTTP is the strongest over http.
	HTTPS, HTTP verify.Algorithm
	// Signatures are the kinds of the signatures that the server names (RFC 6249, section 5).
	Signatures Kinds
	// Pieces reports whether the server names a Metalink document with digests of pieces. Such a document helps to
	// repair a file, but is no additional proof. So a missing document is never an error.
	Pieces bool
}

// PinOf returns the Pin for the claims of servers, and for the media types of documents and signatures, in lower case
// and without parameters. Claims of the user do not count. Pieces is not set.
func PinOf(claims []verify.Claim, documents ...string) (p Pin) {
	for _, c := range claims {
		switch alg := c.Digest.Algorithm(); c.Channel {
		case verify.HTTPS:
			p.HTTPS = max(p.HTTPS, alg)
		case verify.HTTP:
			p.HTTP = max(p.HTTP, alg)
		}
	}
	for _, d := range documents {
		if kind, ok := signatures.OfType(d); ok {
			p.Signatures |= kindsOf(kind)
		}
	}
	return p
}

// A DowngradeError is the error of a URL that offers less evidence than before.
type DowngradeError struct{ Before, Now Pin }

func (e *DowngradeError) Error() string {
	return "this URL " + strings.Join(e.Now.missing(e.Before), "; it ")
}

// missing returns the offers of before that are missing in p, in phrases that follow "this URL": a strong digest over
// https, if the best digest of p is weaker, came over http, or is missing (rule 64); and a signature, if p has no
// signature of its kind. A digest over http protects only against accidents, and may be missing.
func (p Pin) missing(before Pin) (what []string) {
	if before.HTTPS.Strong() && p.HTTPS < before.HTTPS {
		what = append(what, "gave "+before.HTTPS.String()+" over https before, but now gives "+p.digest())
	}
	for _, kind := range signatures.All() {
		if kindsOf(kind)&before.Signatures&^p.Signatures != 0 {
			what = append(what, "named "+kind.Article+" "+kind.Name+" signature before, and now names none")
		}
	}
	return what
}

// digest returns the best digest in words.
func (p Pin) digest() string {
	switch {
	case p.HTTPS != 0:
		return p.HTTPS.String() + " only"
	case p.HTTP != 0:
		return p.HTTP.String() + " over http only"
	}
	return "no digest"
}

// Raise returns a Pin with everything that p or o offers.
func (p Pin) Raise(o Pin) Pin {
	return Pin{
		HTTPS: max(p.HTTPS, o.HTTPS), HTTP: max(p.HTTP, o.HTTP),
		Signatures: p.Signatures | o.Signatures, Pieces: p.Pieces || o.Pieces,
	}
}

// CheckPin compares the present offer of u with its earlier offers. The error is a *DowngradeError.
func (s *Store) CheckPin(u *url.URL, offered Pin) error {
	name, ok := s.pinName(u)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.pin(name); len(offered.missing(before)) > 0 {
		return &DowngradeError{Before: before, Now: offered}
	}
	return nil
}

// KeepPin adds an offer of u that has proven true to the earlier offers. A pin that cannot be written is kept in
// memory.
func (s *Store) KeepPin(u *url.URL, offered Pin) {
	name, ok := s.pinName(u)
	if !ok || offered == (Pin{}) { // an empty offer adds nothing
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raisePin(name, offered)
}

// ForgetPin removes the earlier offers of u, because the user accepts less.
func (s *Store) ForgetPin(u *url.URL) {
	name, ok := s.pinName(u)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pins, name)
	if s.Dir != "" && !s.PinsOnly {
		os.Remove(s.path(pinned, name))
	}
}

// pinName returns the name of the entry of u, a hash of scheme, host, port and path. A URL with a query has no entry:
// its path may stand for a different file each time, and the query may be a secret.
func (s *Store) pinName(u *url.URL) (name string, ok bool) {
	if s == nil || u == nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" {
		return "", false
	}
	return nameOf(u.Scheme + "://" + source.HostPort(u) + "/" + strings.TrimPrefix(u.EscapedPath(), "/")), true
}

// pin returns the Pin of the entry called name. The caller holds mu.
func (s *Store) pin(name string) Pin {
	p, ok := s.pins[name]
	var r pinRecord
	if _, there := s.get(pinned, name, &r); !ok && there {
		p, _ = r.pin()
	}
	return p
}

// raisePin adds offered to the entry called name. The caller holds mu.
func (s *Store) raisePin(name string, offered Pin) error {
	before := s.pin(name)
	p := before.Raise(offered)
	if p == before {
		return nil
	}
	err := s.put(pinned, name, p.record())
	delete(s.pins, name)
	if err != nil && len(s.pins) < pinned.most {
		if s.pins == nil {
			s.pins = map[string]Pin{}
		}
		s.pins[name] = p
	}
	return err
}
