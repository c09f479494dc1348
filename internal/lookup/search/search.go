// Package search looks for the digest of a file that its server has published but does not send: it asks the forge of
// the file, reads the index of its folder, and requests lists with the usual names.
//
// Package lookup has these names and reads the answers. A search sends few requests, in a fixed order, and shares the
// contents of a folder between all files of a run. It uses a [Web] for its requests.
package search

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"braid/address"
	"braid/internal/lookup"
	"braid/internal/small"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// mostLists is the maximum number of lists that are requested for one file. The search ends when mostFound of them list
// the file. Only the first mostFound lists with the file are checked for signatures.
const (
	mostLists = 4
	mostFound = 2
)

// mostGuesses is the maximum number of signatures of lists that are asked for although nothing shows that they exist.
const mostGuesses = 3

// A Search looks for the digests of one file. It is not safe for concurrent use.
type Search struct {
	// Anew makes Run ignore cached contents of the folder.
	Anew bool
	// Keys are the keys that Web.Sign trusts. Searches with the same slice share the good signatures that Web.Sign
	// found.
	Keys []verify.Trust
	// Endings turn the name of a list or of the file into the names that its signature may have, the most likely first.
	Endings []string
	// Patient makes Run ask a server that was too slow for one or two earlier files. Otherwise Run ends immediately,
	// because each file of a batch would wait.
	Patient bool
	// AskOwn makes Run ask for lists that are named after the file, however many other files of the folder have none.
	AskOwn bool
	// Early reports, after Run, whether cached contents were used.
	Early bool
	// Also are the names of lists that earlier runs found. They are asked for first, and in any case.
	Also []string
	// Heard is called with claims of the asked server while Run still waits for other lists.
	Heard func([]verify.Claim)
	// Found is the result. If it has claims before Run, Run does nothing.
	Found verify.Finding

	web     Web
	folders *Folders
	at      *url.URL         // URL of the file: the last hop on the asked host, or the last such hop that a forge knows
	over    verify.Channel   // the least trusted channel of the answers that led to at
	user    string           // see New
	asks    *lookup.Question // question to the forge of the file; nil if no row fits
	began   time.Time
	looked  time.Time     // when the contents of the folder began to be cached
	names   *lookup.Index // the files beside the file; nil: unknown
	guesses int           // signatures that may still be asked for although names is unknown
	lists   [][]verify.Claim
	late    bool // an index, or a list beside others, took longer than putOffAfter
}

// builtIn are the rows of the table of forges.
var builtIn = sync.OnceValue(lookup.Forges)

// New returns a search for the file at the end of a chain of redirects. forges are the rows of the user's table. Only
// searches with the same user, a string of credentials and fields, share the contents of a folder. New reports false if
// there is nothing to ask: the file is in no folder, or its URL has a query and no forge has the file.
func New(web Web, folders *Folders, forges []*lookup.Forge, chain []metalink.Hop, user string) (s *Search, ok bool) {
	if len(chain) == 0 || chain[0].URL == nil {
		return nil, false
	}
	s = &Search{web: web, folders: folders, over: verify.HTTPS, user: user, began: time.Now(),
		Heard: func([]verify.Claim) {}}
	var asked *url.URL
	away := !address.SameServer(chain[0].URL, chain[len(chain)-1].URL)
	for _, h := range chain {
		if !address.SameServer(chain[0].URL, h.URL) {
			break
		}
		// A script that leads to another host has no list beside it, but the URL before the script may have one.
		if _, _, named := lookup.Split(h.URL); s.at == nil || !away || named && h.URL.RawQuery == "" {
			s.at = h.URL
		}
		if !h.Proven() {
			s.over = verify.HTTP
		}
		rows := forges
		if h.URL.Scheme == "https" { // no row fits http
			rows = slices.Concat(forges, builtIn())
		}
		if q, known := lookup.Ask(h.URL, rows); known {
			s.asks, asked = q, h.URL
		}
	}
	if s.asks != nil {
		s.at = asked // the forge may redirect within its host to the place of the file
	}
	_, _, ok = lookup.Split(s.at)
	return s, ok && (s.asks != nil || !s.queried())
}

// HasForge reports whether a forge is asked about the file.
func (s *Search) HasForge() bool { return s.asks != nil }

// queried reports whether the URL of the file has a query. A query may select other content than the file that the
// lists of the folder name.
func (s *Search) queried() bool { return s.at.RawQuery != "" }

// Vain reports whether Run is not needed, because Found has claims, or because the cached contents of the folder have
// nothing about the file. In the latter case, Found.Places has the results. Vain sends no request and does not wait.
func (s *Search) Vain() bool {
	if len(s.Found.Claims) > 0 {
		return true
	}
	folder, file, ok := lookup.Split(s.at)
	if !ok || s.Anew || s.asks != nil || len(s.Also) > 0 {
		return false
	}
	d := s.folders.known(s.key(folder), emptyAge)
	if d == nil || !d.missed() {
		return false
	}
	x, made := d.index.peek()
	if !made || x.err == nil && x.names.Has(file) {
		return false
	}
	var found verify.Finding
	note(&found, verify.Place{URL: source.Mask(folder), By: x.by, Err: x.err}, "")
	for _, c := range lookup.Guesses(file) {
		if c.Own { // not asked for any more
			if s.AskOwn {
				return false
			}
			continue
		}
		got, made := s.cached(d, c)
		if !made || got.err == nil {
			return false
		}
		note(&found, verify.Place{URL: source.Mask(lookup.In(folder, c.Name)), By: got.by, Err: got.err}, c.Field())
	}
	s.Early, s.Found = d.begun.Before(s.began), found
	return true
}

// Run runs the search. The error is a *verify.ConflictError if two lists contradict each other, or the error of
// Web.Sign.
func (s *Search) Run(ctx context.Context) error {
	switch {
	case len(s.Found.Claims) > 0:
		return nil
	case s.Anew:
		return s.runIn(ctx, 0)
	}
	err := s.runIn(ctx, folderAge)
	switch {
	case !s.Early:
	case isConflict(err):
		return s.runIn(ctx, 0)
	case err != nil || ctx.Err() != nil || s.began.Sub(s.looked) < emptyAge:
	case len(s.Found.Claims) == 0:
		return s.runIn(ctx, emptyAge)
	case len(s.Found.Beside) == 0: // a signature may have come since then
		s.Found.Beside = nil
	}
	return err
}

// know records names, the files in folder, and which of them are signatures of file.
func (s *Search) know(folder *url.URL, file string, names *lookup.Index) {
	s.names, s.Found.Beside = names, []*url.URL{}
	for _, ending := range s.Endings {
		if names.Has(file + ending) {
			s.Found.Beside = append(s.Found.Beside, lookup.In(folder, file+ending))
		}
	}
}

// runIn runs the search once. It uses cached contents of the folder that are not older than age.
func (s *Search) runIn(ctx context.Context, age time.Duration) error {
	folder, file, ok := lookup.Split(s.at)
	if !ok {
		return nil
	}
	d := s.folders.at(s.key(folder), age)
	s.looked, s.Early, s.Found, s.lists = d.begun, d.begun.Before(s.began), verify.Finding{}, nil
	s.names, s.guesses, s.late = nil, mostGuesses, false
	over := s.over
	defer func() { s.over = over }()
	if s.folders.isSlow(d, s.Patient) {
		s.Found.Missed, s.Found.Places = true, []verify.Place{{URL: source.Mask(folder), Err: errSlow}}
		return s.merge(s.inHand(ctx, d, folder, file))
	}
	began := time.Now().Add(-small.Waited())
	defer func() {
		switch {
		case ctx.Err() != nil, s.late && len(s.lists) == 0:
			s.Found.Missed = true
			vain := (s.late || context.Cause(ctx) == small.ErrSlow) && len(s.lists) == 0
			s.folders.noteSlow(d, began.Add(small.Waited()), vain)
		case s.Patient:
			s.folders.noteAnswered(d)
		}
	}()
	if done, err := s.askForge(ctx, d, folder, file); done || err != nil || s.queried() {
		return s.merge(err)
	}
	names, listed, err := s.index(ctx, d, folder)
	switch {
	case err == nil && names.Has(file):
		s.over = min(over, listed)
		s.know(folder, file, names)
		err = s.inOrder(ctx, d, folder, file, s.also(file, names, names.Candidates(file)))
	default:
		err = s.together(ctx, d, folder, file, s.also(file, nil, lookup.Guesses(file)))
	}
	return s.merge(err)
}

// also returns all, preceded by the lists of Also. If there is an index, lists that it does not have are left out.
func (s *Search) also(file string, names *lookup.Index, all []lookup.Candidate) []lookup.Candidate {
	for _, name := range s.Also {
		if c := lookup.Named(name, file); names == nil || names.Has(name) {
			all = slices.Insert(slices.DeleteFunc(all, func(o lookup.Candidate) bool { return o.Name == name }), 0, c)
		}
	}
	return all
}

// merge turns the lists into claims, unless err is an error.
func (s *Search) merge(err error) error {
	if err == nil {
		s.Found.Claims, err = lookup.Merge(s.lists...)
	}
	return err
}

func (s *Search) key(folder *url.URL) string {
	return fmt.Sprint(folder, " ", s.over, " ", s.user)
}

// index returns the names in a folder, and the channel of the index.
func (s *Search) index(ctx context.Context, d *folder, at *url.URL) (*lookup.Index, verify.Channel, error) {
	x := d.index.get(ctx, func() (listing, bool) {
		ctx, release := small.WithSlot(ctx, at)
		defer release()
		got := s.briefly(ctx, at, lookup.MaxIndex)
		s.late = s.late || got.err == errLate
		x := listing{response: got}
		x.data = nil
		switch {
		case got.err != nil:
		case got.by != "":
			x.err = fmt.Errorf("%s answered", got.by)
		case got.last.Path != at.Path:
			x.err = errOtherFolder
		default:
			var names []string
			names, x.err = lookup.Names(got.last, got.data)
			x.names = lookup.NewIndex(names)
		}
		return x, s.keeps(ctx, d, &d.index.failed, x.response)
	})
	note(&s.Found, verify.Place{URL: source.Mask(at), By: x.by, Err: x.err}, "")
	return x.names, x.over, x.err
}

// take reads a list, and records the place and its claims. The error is a contradiction within the list, or the error
// of Web.Sign.
func (s *Search) take(ctx context.Context, d *folder, c lookup.Candidate, file string, folder *url.URL, got response) error {
	at := lookup.In(folder, c.Name)
	p := verify.Place{URL: source.Mask(at), By: got.by}
	var wrong error
	if p.Claims, p.Err = claimsOf(c, file, got, s.over); isConflict(p.Err) && p.By == "" {
		wrong = p.Err
	}
	if len(p.Claims) > 0 && p.By == "" {
		if len(s.lists) < mostFound {
			p.Unsigned, wrong = s.sign(ctx, d, at, p.Claims, got.data)
		}
		s.lists = append(s.lists, p.Claims)
		s.Heard(p.Claims)
		if got.date.After(s.Found.Date) {
			s.Found.Date = got.date
		}
	}
	note(&s.Found, p, c.Field())
	return wrong
}

func isConflict(err error) bool {
	_, ok := errors.AsType[*verify.ConflictError](err)
	return ok
}
