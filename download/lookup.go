package download

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"braid/internal/lookup"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A Finding is what a lookup brought: digests of the file that its asked server has published beside it
// (Request.Lookup).
type Finding struct {
	Claims []verify.Claim // strong ones, by the asked server
	Places []LookedAt     // in the order in which they were looked at
	Date   time.Time      // of the newest list in Claims, by its Last-Modified; zero: unknown
}

// A LookedAt is a place where a digest of the file was looked for, and its answer.
type LookedAt struct {
	URL    string         // masked
	Claims []verify.Claim // about the file
	// By is the host that answered, if it is not the asked server. Its claims are then no evidence.
	By  string
	Err error // why there are no claims
}

// String says what became of a place, in a few words.
func (p LookedAt) String() string {
	switch {
	case p.Err != nil:
		err := p.Err
		if e, ok := errors.AsType[*source.Error](err); ok {
			err = &source.Error{Err: e.Err, Status: e.Status, Fault: e.Fault} // the host is in the URL
		}
		return fmt.Sprintf("%s: %v", p.URL, err)
	case p.By != "":
		return fmt.Sprintf("%s: a list that %s answered with, a mirror's own", p.URL, p.By)
	case len(p.Claims) == 0:
		return p.URL + ": an index"
	}
	var names []string
	for _, c := range p.Claims {
		names = append(names, c.Digest.Algorithm().String())
	}
	return p.URL + ": " + strings.Join(names, ", ")
}

// Agreeing returns the list of a mirror that says of the file what its digests are; it reports false if there is
// none. That proves nothing.
func (f Finding) Agreeing(digests []verify.Digest) (list LookedAt, ok bool) {
	right := func(c verify.Claim) bool { return slices.Contains(digests, c.Digest) }
	for _, p := range f.Places {
		if p.By != "" && slices.ContainsFunc(p.Claims, right) {
			return p, true
		}
	}
	return LookedAt{}, false
}

// places names the places of an error.
func (f Finding) places() string {
	var all []string
	for _, p := range f.Places {
		all = append(all, p.String())
	}
	return strings.Join(all, "; ")
}

// lookupGrace is how long the end of a download waits for a lookup where nothing has to be proven. The value of
// graceKey in the context replaces it in tests.
const lookupGrace = 5 * time.Second

type graceKey struct{}

func graceOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(graceKey{}).(time.Duration); ok {
		return d
	}
	return lookupGrace
}

// mostLists is how many lists of one file are asked for, and mostFound how many of them are enough.
const (
	mostLists = 4
	mostFound = 2
)

// A finder is one lookup.
type finder struct {
	http  network
	req   *Request
	at    *url.URL         // of the file: the last URL on the asked host
	over  verify.Channel   // the least trusted of the answers that led there
	asks  *lookup.Question // to the forge that has the file; nil: none of the table has
	began time.Time
	anew  bool // what was found in the folder before does not count
	early bool // something that counts was
	found Finding
	lists [][]verify.Claim
}

// newFinder returns the lookup for the file of r, whose server answered so. It reports false if there is none to be
// made.
func newFinder(r *Request, hc network, hops []metalink.Hop) (*finder, bool) {
	if !r.Lookup || r.Described != nil || len(hops) == 0 || hops[0].URL == nil || !isWeb(hops[0].URL) {
		return nil, false
	}
	f := &finder{http: hc, req: r, over: verify.HTTPS, began: time.Now()}
	for _, h := range hops {
		if !lookup.SameHost(hops[0].URL, h.URL) {
			break
		}
		f.at = h.URL
		if !h.Proven() {
			f.over = verify.HTTP
		}
	}
	f.asks, _ = lookup.Ask(f.at)
	_, _, ok := lookup.Split(f.at)
	return f, ok
}

// lookUp looks for digests beside the file before anything else is done. It has the time that the end of a download
// has.
func lookUp(ctx context.Context, hc network, r *Request, hops []metalink.Hop, claims []verify.Claim) (Finding, error) {
	f, ok := newFinder(r, hc, hops)
	if !ok || verify.Strong(claims) {
		return Finding{}, nil
	}
	if r.Require == RequireNothing {
		within, cancel := context.WithTimeout(ctx, hc.grace)
		defer cancel()
		ctx = within
	}
	err := f.run(ctx)
	if err == nil && verify.Agree(claims, f.found.Claims) != nil {
		f.found.Claims = nil
	}
	return f.found, err
}

// run looks for lists in the folder of the file. The error is a *verify.ConflictError of two lists, or that of a wrong
// signature.
func (f *finder) run(ctx context.Context) error {
	ctx, cancel := f.http.inOneTime(ctx)
	defer cancel()
	if f.anew {
		return f.runIn(ctx, 0)
	}
	err := f.runIn(ctx, folderAge)
	switch {
	case !f.early:
	case is[*verify.ConflictError](err):
		return f.runIn(ctx, 0)
	case err == nil && len(f.found.Claims) == 0:
		return f.runIn(ctx, emptyAge)
	}
	return err
}

// runIn looks for lists, or uses what was found in the folder no longer ago than age.
func (f *finder) runIn(ctx context.Context, age time.Duration) error {
	folder, file, ok := lookup.Split(f.at)
	if !ok {
		return nil
	}
	d := f.http.folders.at(f.key(folder), age)
	f.early, f.found, f.lists = d.begun.Before(f.began), Finding{}, nil
	over := f.over
	defer func() { f.over = over }()
	if done, err := f.askForge(ctx, d, folder, file); done || err != nil {
		return f.merge(err)
	}
	names, listed, err := f.index(ctx, d, folder)
	switch {
	case err == nil && slices.Contains(names, file):
		f.over = min(over, listed)
		err = f.inOrder(ctx, d, folder, file, lookup.Candidates(names, file))
	default:
		err = f.together(ctx, d, folder, file, lookup.Guesses(file))
	}
	return f.merge(err)
}

// merge makes claims of what the lists say, unless there was an error.
func (f *finder) merge(err error) error {
	if err == nil {
		f.found.Claims, err = lookup.Merge(f.lists...)
	}
	return err
}

// key tells folders apart, and what different requests may see of them.
func (f *finder) key(folder *url.URL) string {
	return fmt.Sprint(folder, " ", f.over, " ", f.req.User, " ", f.req.Header, " ", f.req.HeaderTo, " ", f.req.Named)
}

// index returns the names in a folder, and over which channel they came.
func (f *finder) index(ctx context.Context, d *folder, at *url.URL) ([]string, verify.Channel, error) {
	x := d.index.get(ctx, func() (listing, bool) {
		got := f.fetch(ctx, at, lookup.MaxIndex)
		x := listing{answered: got}
		x.data = nil
		switch {
		case got.err != nil:
		case got.by != "":
			x.err = fmt.Errorf("%s answered", got.by)
		case got.last.Path != at.Path:
			x.err = errOtherFolder
		default:
			x.names, x.err = lookup.Names(got.last, got.data)
		}
		return x, ctx.Err() == nil
	})
	f.found.Places = append(f.found.Places, LookedAt{URL: source.Mask(at), Err: x.err})
	return x.names, x.over, x.err
}

// inOrder asks for lists that the index has, one after the other, until enough have the file.
func (f *finder) inOrder(ctx context.Context, d *folder, folder *url.URL, file string, all []lookup.Candidate) error {
	for i, c := range all {
		if i == mostLists || len(f.lists) == mostFound {
			break
		}
		if err := f.take(ctx, c, file, folder, f.list(ctx, d, folder, c)); err != nil {
			return err
		}
	}
	return nil
}

// together asks for lists that may be there, all at once.
func (f *finder) together(ctx context.Context, d *folder, folder *url.URL, file string, all []lookup.Candidate) error {
	if d.missed() {
		all = slices.DeleteFunc(all, func(c lookup.Candidate) bool { return c.Own })
	}
	answers := make([]chan answered, len(all))
	for i, c := range all {
		answers[i] = make(chan answered, 1)
		go func() { answers[i] <- f.list(ctx, d, folder, c) }()
	}
	var wrong error
	for i, c := range all {
		got := <-answers[i]
		if c.Own {
			d.note(absent(got.err))
		}
		if err := f.take(ctx, c, file, folder, got); wrong == nil {
			wrong = err
		}
	}
	return wrong
}

// list brings a list. One that is named after a file is of no use to others.
func (f *finder) list(ctx context.Context, d *folder, folder *url.URL, c lookup.Candidate) answered {
	fetch := func() (answered, bool) {
		got := f.fetch(ctx, lookup.In(folder, c.Name), maxFoundList)
		if got.err == nil && got.page {
			got.err = errPage
		}
		return got, ctx.Err() == nil && len(got.data) <= mostKept
	}
	if c.Own {
		got, _ := fetch()
		return got
	}
	return d.list(c.Name).get(ctx, fetch)
}

// take reads what a list says of the file.
func (f *finder) take(ctx context.Context, c lookup.Candidate, file string, folder *url.URL, got answered) error {
	at := lookup.In(folder, c.Name)
	p := LookedAt{URL: source.Mask(at), By: got.by, Err: got.err}
	var wrong error
	if p.Err == nil {
		p.Claims, p.Err = c.Read(file, got.data, min(f.over, got.over))
		if is[*verify.ConflictError](p.Err) && p.By == "" {
			wrong = p.Err
		}
	}
	if len(p.Claims) > 0 && p.By == "" {
		wrong = f.sign(ctx, at, p.Claims, got)
		f.lists = append(f.lists, p.Claims)
		if got.date.After(f.found.Date) {
			f.found.Date = got.date
		}
	}
	f.found.Places = append(f.found.Places, p)
	return wrong
}

// sign makes claims those of the signer of their list, if it has a good signature by a key or certificate that is
// trusted. A wrong signature by one of these is an error.
func (f *finder) sign(ctx context.Context, at *url.URL, claims []verify.Claim, got answered) error {
	if !f.req.Anchors.Any() {
		return nil
	}
	l, err := newList(claims[0].Field, got.data, claims[0].Channel)
	if err != nil {
		return nil
	}
	l.URL = at
	if _, err := l.checkSigned(ctx, f.http, *f.req, nil); err != nil && severe(err) {
		return err
	}
	if l.Over == verify.Signed {
		for i := range claims {
			claims[i].Channel, claims[i].By = verify.Signed, l.By
		}
	}
	return nil
}
