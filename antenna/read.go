package antenna

import (
	"context"
	"errors"
	"io"
	"time"

	"braid/address"
	"braid/antenna/feed"
)

var errCut = &feed.RejectError{Code: "truncated", Why: "the feed ends within an entry: it was cut off"}

// read decodes a feed until ctx is done. near has the kinds of addresses to which the URLs of the feed may lead.
func (p *poller) read(ctx context.Context, t *task, body io.Reader, received feed.Time, near address.Scope) (result, error) {
	limits := t.feed.Limits.Limits
	in, format, err := OpenFeed(body, limits)
	if configured, ok := t.feed.Kind.format(); ok && (err == nil || isUnknown(err)) {
		format, err = configured, nil
	}
	if err != nil {
		return result{}, err
	}
	c := newCollector(t.feed, p.match, feed.At(time.Now()))
	if t.index != nil {
		c = t.index.c
	}
	c.hosts, c.near, c.received = p.web.AllowHosts, near, received
	o := feed.Options{
		Limits: limits, Folders: p.match.wantsFolders(t.feed.Name), Stop: func() error { return context.Cause(ctx) },
	}
	if t.URL != nil {
		o.Base = t.URL.String()
		c.elsewhere = !address.SameOrigin(t.feed.URL, o.Base)
	}
	d := NewDecoder(format, in, o)
	broke, err := c.take(d.Records())
	if t.index != nil { // one of several sitemaps
		if err == nil && d.Input().End == feed.Cut {
			err = errCut
		}
		return result{}, err
	}
	if x := c.index(t); x != nil && err == nil && d.Input().End == feed.Whole {
		return result{index: x}, nil
	}
	if err != nil && !broke {
		return result{}, err
	}
	k, err := c.finish(err)
	if err != nil {
		return k, err
	}
	switch d.Input().End {
	case feed.Cut: // the records before the cut are used
		k.partial = true
		err = errCut
	case feed.Open:
		k.open = true
	}
	return k, err
}

func isUnknown(err error) bool {
	reject, ok := errors.AsType[*feed.RejectError](err)
	return ok && reject.Code == CodeUnknownFormat
}
