package search

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"braid/internal/lookup"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A Web sends the requests of a search. It is safe for concurrent use.
type Web interface {
	// Get fetches something small from the asked server, or from where that leads.
	Get(ctx context.Context, u *url.URL, most int64) Answer
	// Ask asks a forge. Nothing of the user's goes there but what any server may be told, and a token that is for it.
	Ask(ctx context.Context, q *lookup.Question) Answer
	// Sign makes claims those of the signer of their list, data from at, if it has a good signature by a key or
	// certificate that is trusted. A wrong signature by one of these is an error.
	Sign(ctx context.Context, at *url.URL, claims []verify.Claim, data []byte) error
}

// An Answer is the answer to a request of a search.
type Answer struct {
	Data []byte
	Hops []metalink.Hop // the redirects and the answer itself
	Over verify.Channel // the least trusted of Hops
	Date time.Time      // Last-Modified; zero: unknown
	Err  error
}

// A response is an Answer, judged.
type response struct {
	data []byte
	last *url.URL       // that answered
	page bool           // by its media type it is a web page
	over verify.Channel // the least trusted answer of the chain
	by   string         // a host of the chain that is not the asked server
	date time.Time      // Last-Modified
	err  error
}

// A listing is what the index of a folder lists.
type listing struct {
	response
	names []string
}

// Why an answer is of no use.
var (
	errOtherFolder = errors.New("it leads to another folder")
	errPage        = errors.New("a page, and no list")
)

// fetch brings something small from the asked server, or from where that leads.
func (s *Search) fetch(ctx context.Context, u *url.URL, most int64) response {
	return newResponse(s.web.Get(ctx, u, most), u, s.own)
}

// ask asks a forge.
func (s *Search) ask(ctx context.Context, q *lookup.Question) response {
	return newResponse(s.web.Ask(ctx, q), q.URL, func(u *url.URL) bool { return lookup.SameHost(q.URL, u) })
}

// own reports whether an answer is from the asked server, or from where its forge delivers files.
func (s *Search) own(u *url.URL) bool {
	return lookup.SameHost(s.at, u) || s.asks != nil && s.asks.Delivers(u)
}

func newResponse(a Answer, u *url.URL, own func(*url.URL) bool) response {
	got := response{data: a.Data, last: u, over: a.Over, date: a.Date, err: reason(a.Err)}
	for _, h := range a.Hops {
		got.last, got.page = h.URL, isPage(h.Header)
		if !own(h.URL) {
			got.by = source.HostPort(h.URL)
		}
	}
	return got
}

// reason returns why a request failed, without its host, which is in the URL of a verify.Place.
func reason(err error) error {
	if e, ok := errors.AsType[*source.Error](err); ok {
		return &source.Error{Err: e.Err, Status: e.Status, Fault: e.Fault}
	}
	return err
}

// isPage reports whether an answer is a web page by its media type.
func isPage(header map[string][]string) bool {
	media, _, _ := strings.Cut(http.Header(header).Get("Content-Type"), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "text/html" || media == "application/xhtml+xml"
}
