package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
	"braid/verify/signatures"
)

// Besides returns the suffixes of the signature files for which a has anchors, in the order in which they are tried.
func (a Anchors) Besides() (endings []string) {
	for _, kind := range signatures.All() {
		if _, ok := a.of(kind); ok {
			endings = append(endings, without(kind.Beside, endings)...)
		}
	}
	return endings
}

// Beside returns the signature at u with ending appended to the path.
func Beside(u *url.URL, ending string) Signature {
	at := *u
	at.Path, at.RawPath = u.Path+ending, ""
	if u.RawPath != "" {
		at.RawPath = u.RawPath + ending
	}
	return Signature{From: source.Mask(&at), URL: &at}
}

// guesses returns the suffixes of Besides, the most likely first: each kind's most likely suffix, and then the others.
func (a Anchors) guesses() (endings []string) {
	for _, kind := range signatures.All() {
		if _, ok := a.of(kind); ok {
			endings = append(endings, without(kind.Beside[:1], endings)...)
		}
	}
	return append(endings, without(a.Besides(), endings)...)
}

// gather fetches the signatures in named or, if named is empty, those that may exist beside the list, with endings.
func (l *List) gather(ctx context.Context, hc network, req Request, named []Signature, endings []string) []found {
	options := func(sig Signature) httpsource.Options {
		if l.URL != nil && sameServer(sig.URL, l.URL) {
			o := req.ownOptions(false)
			o.Apart, o.Unheeded = l.away, l.found
			return o
		}
		return httpsource.Options{Mirror: true, Not: req.Access.Not}
	}
	ctx, cancel := hc.inOneTime(ctx)
	defer cancel()
	if len(named) == 0 && l.URL != nil {
		for _, ending := range endings {
			sig := Beside(l.URL, ending)
			sig.maybe = true
			named = append(named, sig)
		}
	}
	return fetchSignatures(named, req.Trust.Anchors, func(sig Signature) found { return sig.fetch(ctx, hc, options) })
}

// fetch returns s with its bytes, which it fetches unless s has them.
func (s Signature) fetch(ctx context.Context, hc network, options func(Signature) httpsource.Options) found {
	f := found{from: s.From, data: s.Data, maybe: s.maybe}
	if f.data == nil {
		f.data, _, f.err = hc.small(ctx, s.URL, options(s), verify.MaxSignature)
	}
	return f
}

// names returns the name of a list, for signatures that contain the name of the signed file.
func (l *List) names() []string {
	if l.URL != nil {
		return []string{path.Base(l.URL.Path)}
	}
	return []string{filepath.Base(l.Name)}
}

// checkSigned implements Client.CheckSigned. If named is empty, it looks for signatures with endings beside the list.
func (l *List) checkSigned(ctx context.Context, hc network, req Request, named []Signature,
	endings []string) (unsigned, err error) {
	signed, all := l.data, []found(nil)
	if m := l.Message(); l.Wrapped() && len(named) == 0 && req.Trust.Anchors.trusts(m.Signature) {
		signed, all = m.Text, []found{{from: "the signature in the list", data: m.Signature, text: true}}
	} else {
		all = l.gather(ctx, hc, req, named, endings)
	}
	set := newSignatureSet(all, req.Trust.Anchors, l.names())
	set.Write(signed)
	good, err := set.Signatures()
	switch {
	case err != nil:
		return nil, fail(kindOf(err), "verify", l.Name, err, "")
	case len(good) > 0:
		l.Over, l.By = verify.Signed, good[0]
		return nil, nil
	case ctx.Err() != nil:
		return nil, fail(Interrupted, "verify", l.Name, context.Cause(ctx), "")
	case set.forgotten > 0:
		return cmp.Or(set.other, errors.New("no key or certificate for its kind of signature is trusted")), nil
	case len(named) > 0 && req.Trust.Require == RequireSignature:
		return nil, fail(NoEvidence, "verify", l.Name, lackOfSignature(all), "")
	case len(all) > 0:
		return lackOfSignature(all), nil
	}
	return fmt.Errorf("no signature beside the list (%s)", strings.Join(endings, ", ")), nil
}
