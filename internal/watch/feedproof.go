package watch

import (
	"net/url"

	"braid/address"
	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/internal/job"
	"braid/metalink"
	"braid/source/httpsource"
	"braid/verify"
)

// ofFeed adds to r the digests and the other URLs that the feed states for the file. A digest is evidence only if the
// feed is on the server of the file. It is treated like a digest in a checksum list beside the file, because the feed
// may be older than the file. The URLs are added only if the user wants them.
func ofFeed(r *download.Request, u *antenna.Update, hc *httpsource.Client, wantsMirrors bool) {
	p, by := &r.Published, address.Scope(0)
	digests, mirrors := reported(u)
	if *p = (metalink.File{}); u.SameServer {
		by, _ = address.OfHost(r.URL.Hostname())
		p.Claims = job.ClaimsOfFeed(u.Feed, digests, r.URL, hc)
	}
	for _, m := range mirrors {
		if at, err := url.Parse(m); err == nil && wantsMirrors {
			p.Mirrors = append(p.Mirrors, metalink.Mirror{URL: at, By: by})
		}
	}
}

// reported returns the digests and the other URLs that the feed states for the file. It returns none if the record is
// about another file of the release.
func reported(u *antenna.Update) (digests, mirrors []string) {
	at, _ := feed.Key(u.Record.URL)
	if of, _ := feed.Key(u.URL); at == "" || at != of {
		return nil, nil
	}
	return u.Record.Proof()
}

// reportedDigests returns the strong digests that the feed states.
func reportedDigests(u *antenna.Update) []verify.Digest {
	texts, _ := reported(u)
	return job.StrongDigests(texts)
}
