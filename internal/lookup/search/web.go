package search

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/internal/lookup"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A Web sends the requests of a search. It is safe for concurrent use.
type Web interface {
	// Get fetches at most most bytes of u, which is on the asked server, and follows redirects.
	Get(ctx context.Context, u *url.URL, most int64) Answer
	// Ask sends a question to a forge. It sends no credentials except a token for that forge, and no header fields of
	// the user except those for any server.
	Ask(ctx context.Context, q *lookup.Question) Answer
	// Sign checks the signature of a list. at is the URL of the list, and data its content. The signature is in the
	// list, or beside it: at with one of endings. If the signature is good and its key is trusted, Sign attributes the
	// claims to the signer. A bad signature by a trusted key is an error. unsigned reports that the key is not trusted.
	Sign(ctx context.Context, at *url.URL, claims []verify.Claim, data []byte, endings []string) (unsigned, err error)
}

// An Answer is the answer to a request of a search.
type Answer struct {
	Data []byte
	Hops []metalink.Hop // the redirects and the answer itself
	Over verify.Channel // the least trusted of Hops
	Date time.Time      // Last-Modified; zero: unknown
	Err  error
	// Refused means that the forge refused the token, and that this is the answer to a second request without it.
	Refused bool
}

// A response is an Answer and its origin.
type response struct {
	data []byte
	last *url.URL       // the URL that answered
	page bool           // the media type is that of a web page
	over verify.Channel // the least trusted answer of the chain
	by   string         // a host of the chain that is not the asked server
	date time.Time      // Last-Modified
	err  error

	refused bool         // see Answer
	list    *lookup.List // parsed from data, if the list is not named after a file
}

// size returns about how many bytes of memory the response needs.
func (r response) size() int {
	if r.list == nil {
		return len(r.data)
	}
	return len(r.data) + r.list.Size()
}

// A listing is the index of a folder.
type listing struct {
	response
	names *lookup.Index
}

// Reasons to ignore an answer.
var (
	errOtherFolder = errors.New("it leads to another folder")
	errPage        = errors.New("the response is a page instead of a list")
	errToken       = errors.New("its token was rejected with status 401, and it was asked again without one")
	errLate        = errors.New("not waited for, because it was too slow")
	errSlow        = errors.New("not asked, because it was too slow for an earlier file")
)

// fetch sends a request to the asked server.
func (s *Search) fetch(ctx context.Context, u *url.URL, most int64) response {
	return newResponse(s.web.Get(ctx, u, most), u, s.own)
}

func (s *Search) ask(ctx context.Context, q *lookup.Question) response {
	return newResponse(s.web.Ask(ctx, q), q.URL, func(u *url.URL) bool { return address.SameServer(q.URL, u) })
}

// own reports whether u is at the asked server, or at a host from which its forge delivers files.
func (s *Search) own(u *url.URL) bool {
	return address.SameServer(s.at, u) || s.asks != nil && s.asks.Delivers(u)
}

func newResponse(a Answer, u *url.URL, own func(*url.URL) bool) response {
	got := response{last: u, over: a.Over, date: a.Date, err: reason(a.Err), refused: a.Refused}
	if a.Err == nil {
		got.data = slices.Clone(a.Data) // a copy, so that the rest of the buffer of Data can be freed
	}
	for _, h := range a.Hops {
		got.last, got.page = h.URL, isPage(h.Header)
		if !own(h.URL) {
			got.by = source.HostPort(h.URL)
		}
	}
	return got
}

// reason returns err without the host of the request, because the URL of a verify.Place has the host.
func reason(err error) error {
	if e, ok := errors.AsType[*source.Error](err); ok {
		return &source.Error{Err: e.Err, Status: e.Status, Fault: e.Fault, Retry: e.Retry}
	}
	return err
}

// lasting reports whether another request would have the same result, so that err is cached.
func lasting(err error) bool {
	e, ok := errors.AsType[*source.Error](err)
	return !ok || !e.Retry && (e.Fault == source.FaultRefused || e.Fault == source.FaultAuth)
}

// note records a place in f. field is that of the claims that the list or forge there could have; it is empty for
// others.
func note(f *verify.Finding, p verify.Place, field string) {
	f.Places = append(f.Places, p)
	switch {
	case !answered(p):
		f.Missed = true
	case field != "" && len(strongOf(p.Claims)) == 0:
		f.Gone = append(f.Gone, lookup.Fields(field)...)
	}
}

// answered reports whether the asked server itself answered what a place has. No other failure than 404 and 410 is such
// an answer: a server that is overloaded or mended, or refuses this client, may still have the list.
func answered(p verify.Place) bool {
	e, ok := errors.AsType[*source.Error](p.Err)
	return p.By == "" && (p.Err == nil || errors.Is(p.Err, lookup.ErrNotInIt) || errors.Is(p.Err, lookup.ErrNoFile) ||
		ok && (e.Status == http.StatusNotFound || e.Status == http.StatusGone))
}

// claimsOf returns the claims about file in a response, which is that about c.
func claimsOf(c lookup.Candidate, file string, got response, over verify.Channel) ([]verify.Claim, error) {
	if got.err == nil && got.list == nil {
		got.list, got.err = c.Read(got.data)
	}
	if got.err != nil {
		return nil, got.err
	}
	return got.list.Claims(file, min(over, got.over))
}

// isPage reports whether an answer is a web page by its media type.
func isPage(header map[string][]string) bool {
	media, _, _ := strings.Cut(http.Header(header).Get("Content-Type"), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "text/html" || media == "application/xhtml+xml"
}
