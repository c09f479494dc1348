package download

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/internal/lookup"
	"braid/internal/web"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

var errUnproven = errors.New("nothing proves that it is this server")

// askForge asks the forge that has the file, if one of the table does. It reports whether nothing more is to be
// looked at: the forge said the digest, or which files it has beside this one.
func (f *finder) askForge(ctx context.Context, d *folder, folder *url.URL, file string) (done bool, err error) {
	q := f.asks
	if q == nil {
		return false, nil
	}
	got := d.list(q.URL.String()).get(ctx, func() (answered, bool) {
		got := f.question(ctx, q)
		return got, ctx.Err() == nil && len(got.data) <= mostKept
	})
	p := LookedAt{URL: source.Mask(q.URL), Err: got.err}
	switch {
	case p.Err != nil:
	case got.by != "":
		p.Err = fmt.Errorf("%s answered", got.by)
	case got.over != verify.HTTPS:
		p.Err = errUnproven
	}
	var a lookup.Answer
	if p.Err == nil {
		a, p.Err = q.Read(got.data, f.over)
		p.Claims = a.Claims
	}
	f.found.Places = append(f.found.Places, p)
	switch strong := strongOf(a.Claims); {
	case is[*verify.ConflictError](p.Err):
		return true, p.Err
	case len(strong) > 0:
		f.lists = append(f.lists, strong)
		return true, nil
	case slices.Contains(a.Names, file):
		return true, f.inOrder(ctx, d, folder, file, lookup.Candidates(a.Names, file))
	}
	return false, nil
}

// strongOf returns the claims of strong digests.
func strongOf(claims []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims),
		func(c verify.Claim) bool { return !c.Digest.Algorithm().Strong() })
}

// question asks a forge. Nothing of the user's goes there but what any server may be told, and a token that is for it.
func (f *finder) question(ctx context.Context, q *lookup.Question) answered {
	o := httpsource.Options{Mirror: true, Named: address.Public, Not: f.req.Not, Header: map[string][]string{}}
	for name, values := range f.req.Header {
		if web.ForAnyServer(name) && !strings.EqualFold(name, "Accept") { // which is that of the file
			o.Header[name] = values
		}
	}
	if token := f.http.tokens[q.URL.Host]; token != "" && q.Token {
		o.Header["Authorization"] = []string{"Bearer " + token}
		o.HeaderTo, o.Secure, o.NoRedirect = []string{source.HostPort(q.URL)}, true, true
	}
	data, a, err := fetchSmall(ctx, f.http, q.URL, o, lookup.MaxAnswer)
	return newAnswered(data, a, err, q.URL, func(u *url.URL) bool { return lookup.SameHost(q.URL, u) })
}
