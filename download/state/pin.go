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
	// HTTPS is the strongest algorithm of a digest over https, HTTP of one over http.
	HTTPS, HTTP verify.Algorithm
	// Signatures are the kinds of signatures that are described (RFC 6249, section 5).
	Signatures Kinds
	// Pieces reports whether a Metalink document with digests of pieces is described. It helps to repair a
	// file and proves nothing that the digest of the whole file does not, so it is never missed.
	Pieces bool
}

// PinOf returns the Pin of the digests that servers stated and the media types of documents and signatures,
// in lower case and without parameters. Claims of the user do not count. Pieces is not set: only the reader
// of a Metalink document knows it.
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

// A DowngradeError is the error of a URL that offers less evidence than it did before.
type DowngradeError struct{ Before, Now Pin }

func (e *DowngradeError) Error() string {
	return "this URL " + strings.Join(e.Now.missing(e.Before), "; it ")
}

// missing returns the earlier offers that are missing now, in phrases that follow "this URL": a strong digest
// over https, if the best digest now is weaker, came over http, or is missing (rule 64); and a signature, if
// none of its kind is offered. A digest over http protects only against accidents and may be missing.
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

// Raise returns everything that p or o offers.
func (p Pin) Raise(o Pin) Pin {
	return Pin{
		HTTPS: max(p.HTTPS, o.HTTPS), HTTP: max(p.HTTP, o.HTTP),
		Signatures: p.Signatures | o.Signatures, Pieces: p.Pieces || o.Pieces,
	}
}

// CheckPin compares the present offer of u with the earlier ones. The error is a *DowngradeError. It is
// called once everything that servers offer is known, and not if the user vouches for the file.
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

// KeepPin records what u offered, once that has proven true. What u offered before still counts. A pin that
// cannot be written counts as long as the program runs.
func (s *Store) KeepPin(u *url.URL, offered Pin) {
	name, ok := s.pinName(u)
	if !ok || offered == (Pin{}) { // it adds nothing
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raisePin(name, offered)
}

// ForgetPin forgets what u offered, because the user accepts less.
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

// pinName returns the name of the entry of a URL, a hash of scheme, host, port and path. A URL with a query
// has none: its path may stand for a different file each time, and the query may be a secret.
func (s *Store) pinName(u *url.URL) (name string, ok bool) {
	if s == nil || u == nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" {
		return "", false
	}
	return nameOf(u.Scheme + "://" + source.HostPort(u) + "/" + strings.TrimPrefix(u.EscapedPath(), "/")), true
}

// pin returns the Pin of an entry. The caller holds mu, here and below.
func (s *Store) pin(name string) Pin {
	p, ok := s.pins[name]
	var r pinRecord
	if _, there := s.get(pinned, name, &r); !ok && there {
		p, _ = r.pin()
	}
	return p
}

// raisePin adds an offer to an entry.
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
