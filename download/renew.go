package download

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"braid/address"
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

func (d *Document) renew(ctx context.Context, hc network, own httpsource.Options) {
	u := d.Origin
	if !d.Dynamic || u == nil || !isWeb(u) || d.URL != nil && d.URL.String() == u.String() {
		return
	}
	o := httpsource.Options{Mirror: true, Header: own.Header, HeaderTo: own.HeaderTo, Secure: d.URL != nil && d.URL.Scheme == "https"}
	if d.URL != nil && sameServer(u, d.URL) {
		o = own
	}
	o.Named = address.Public | d.by
	newer, _, err := fetchDocument(ctx, hc, u, o)
	switch {
	case err == nil && newer.Torrent:
		d.note("%s, where a newer one may be, is a torrent: it is not used", source.Mask(u))
	case err != nil:
		d.note("%s, where a newer one may be, is not used: %v", source.Mask(u), err)
	case newer.Over >= d.Over:
		newer.Name, newer.URL, newer.Notes = d.Name, d.URL, d.Notes
		newer.redirectDigests, newer.originDigests = slices.Concat(d.redirectDigests, newer.redirectDigests), slices.Concat(d.originDigests, newer.originDigests)
		*d = *newer
		d.note("the newer one at %s is used", source.Mask(u))
	default:
		d.extend(newer)
	}
}

// extend adds places from a less trusted document.
func (d *Document) extend(newer *Document) {
	for i, f := range d.Files {
		j := slices.IndexFunc(newer.Files, func(o metalink.File) bool { return o.Name == f.Name })
		if j < 0 {
			continue
		}
		o := newer.Files[j]
		said, now := f.Claims, o.Claims
		if err := verify.Agree(said, now); err != nil || !verify.Strong(common(said, now)) || differs(f.Size, o.Size) {
			d.note("%s at %s is another version: it is not used", source.Escape(f.Name), source.Mask(d.Origin))
			continue
		}
		both := slices.Concat(f.Mirrors, o.Mirrors)
		metalink.Sort(both)
		f.Mirrors = nil
		f.Add(both...)
		if f.Size < 0 {
			f.Size = o.Size
		}
		if len(f.Pieces) == 0 {
			f.Pieces = o.Pieces
		}
		d.Files[i] = f
		d.note("%s names %d more places of %s", source.Mask(d.Origin), len(o.Mirrors), source.Escape(f.Name))
	}
}

func (d *Document) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// sameServer reports whether scheme, host and port are the same.
func sameServer(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && source.HostPort(a) == source.HostPort(b)
}
