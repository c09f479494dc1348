package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"braid/address"
	"braid/download/state"
	"braid/internal/lookup"
	"braid/internal/lookup/search"
	"braid/internal/small"
	"braid/internal/web"
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// lookupGrace is how long the end of a download waits for a lookup if no proof is required. In tests, the value of
// graceKey in the context replaces it.
const lookupGrace = 5 * time.Second

// A Forge is a forge or registry that Request.Trust.Lookup can ask about the digests of its files.
type Forge struct{ row *lookup.Forge }

// NewForge returns a row of the table of forges. words has the values of a section [forge] of the settings, by key.
func NewForge(name string, words map[string][]string) (*Forge, error) {
	row, err := lookup.NewForge(name, words)
	return &Forge{row}, err
}

func rowsOf(forges []*Forge) (rows []*lookup.Forge) {
	for _, f := range forges {
		rows = append(rows, f.row)
	}
	return rows
}

type graceKey struct{}

func graceOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(graceKey{}).(time.Duration); ok {
		return d
	}
	return lookupGrace
}

// newSearch returns the search for digests beside the file of r, whose server gave the answers hops. known are the
// known claims, and file is the description of the file. It reports false if r demands no lookup. If the digests that a
// feed published are all that is missing, they are the result, and nothing is searched for.
func newSearch(r *Request, hc network, hops []metalink.Hop, known []verify.Claim, file metalink.File) (*search.Search, bool) {
	p := r.Published.Claims
	if verify.Strong(p) && looksFor(r, known, file) && !looksFor(r, join(known, p), file) {
		return &search.Search{Found: verify.Finding{Claims: p}}, true
	}
	if !r.Trust.Lookup || r.Described != nil || len(hops) == 0 || hops[0].URL == nil || !isWeb(hops[0].URL) {
		return nil, false
	}
	user := fmt.Sprint(r.Access.User, " ", r.Access.Header, " ", r.Access.HeaderTo, " ", r.Named)
	s, ok := search.New(searchWeb{hc, r}, hc.folders, hc.forges, hops, user)
	if ok {
		s.Patient, s.Keys, s.Endings = r.Trust.Require != RequireNothing, r.Trust.Anchors, r.Trust.Anchors.guesses()
		s.AskOwn = s.Patient || verify.Strong(file.Claims) // else a digest of another host would decide
		s.Also = lookup.Lists(join(hc.looked, hc.state.Opposed(r.URL)))
	}
	return s, ok
}

// runSearch runs a search. inOneTime limits the time of all its requests together.
func runSearch(ctx context.Context, hc network, s *search.Search) error {
	ctx, cancel := hc.inOneTime(ctx)
	defer cancel()
	return s.Run(ctx)
}

// whenMet makes f call do as soon as lists that f has read prove what need demands; at once, if it demands nothing.
func whenMet(need Require, f *search.Search, do func()) {
	do = sync.OnceFunc(do)
	f.Heard = func(claims []verify.Claim) {
		if need.metBy(claims) {
			do()
		}
	}
	f.Heard(nil)
}

// endLater calls cancel after n.grace, unless ctx is done before.
func (n network) endLater(ctx context.Context, cancel func()) {
	within, _ := small.WithTimeout(ctx, n.grace)
	context.AfterFunc(within, cancel)
}

// looksFor reports whether a lookup is needed if claims are known and file is the description of the file: a strong
// digest is missing, or a signature is needed and no signature is named.
func looksFor(r *Request, claims []verify.Claim, file metalink.File) bool {
	return !verify.Strong(claims) || r.Trust.needsSignature() && len(signaturesOf(r, file)) == 0
}

// wantsList reports whether a signed list is looked for although the server or a document names signatures: a signature
// is needed, and none of the signatures in all is by a trusted key. It is false if the user names signatures.
func wantsList(r *Request, all []found) bool {
	if !r.Trust.needsSignature() || len(r.Trust.Signatures) > 0 {
		return false
	}
	set := newSignatureSet(all, r.Trust.Anchors, fileNames(r))
	return len(set.checkers) == 0 && !severe(set.hopeless)
}

// onlySigned returns the claims of signed lists.
func onlySigned(claims []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool { return c.Channel != verify.Signed })
}

// agreeSigned returns an error if the signed claims in found contradict the digests that r gave.
func agreeSigned(r *Request, found []verify.Claim) error {
	if err := verify.Agree(r.Trust.Claims, onlySigned(found)); err != nil {
		return fail(Mismatch, "verify", source.Mask(r.URL), err, hintOtherFile)
	}
	return nil
}

// opposed returns an error if found contradicts claims, the digests of a host to which the server redirected.
func opposed(r *Request, claims, found []verify.Claim) error {
	if err := verify.Agree(claims, found); err != nil {
		return fail(Mismatch, "verify", source.Mask(r.URL), &otherHostError{err}, HintNoLookup)
	}
	return nil
}

// keepOpposed records found, the digests that a lookup found beside the file, for later runs in which the lookup gets no
// answer, if they contradict stated, the digests of hosts to which the server redirects. asked are the claims of the user
// and of the host of the URL itself, which outweigh found. Once digests are recorded, those of a later lookup replace
// them, until they agree with stated.
func keepOpposed(to *state.Store, r *Request, asked, stated []verify.Claim, found verify.Finding) {
	known := to.Opposed(r.URL)
	next := remaining(known, found)
	opposes := verify.Agree(asked, found.Claims) == nil && verify.Agree(stated, found.Claims) != nil
	if opposes || len(known) > 0 && !verify.Strong(common(stated, found.Claims)) {
		next = join(found.Claims, next)
	}
	if !slices.Equal(known, next) {
		to.KeepOpposed(r.URL, next)
	}
}

// keepJudged completes keepOpposed once the bytes were compared with found, with the result err: only they show whether
// digests of different algorithms contradict each other.
func keepJudged(to *state.Store, r *Request, stated, found []verify.Claim, err error) {
	switch wrong := wrongOf(err); {
	case err == nil && len(found) > 0 && len(to.Opposed(r.URL)) > 0:
		to.KeepOpposed(r.URL, nil)
	case wrong != nil && verify.Strong(stated) && slices.Contains(found, wrong.Claim):
		to.KeepOpposed(r.URL, found)
	}
}

// remaining returns the claims in earlier, which an earlier lookup found, that still count after a lookup with the result
// f: if f has none, those of lists and forges for which the asked server did not answer. A feed that still publishes its
// digest needs no lookup.
func remaining(earlier []verify.Claim, f verify.Finding) []verify.Claim {
	if len(f.Claims) > 0 || !f.Missed {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(earlier), func(c verify.Claim) bool {
		return lookup.IsOfFeed(c.Field) || len(without(lookup.Fields(c.Field), f.Gone)) == 0
	})
}

// An otherHostError is the error of a digest beside the file that contradicts the digest of another host.
type otherHostError struct{ error }

func (e *otherHostError) Error() string {
	return fmt.Sprintf("a host that the server redirects to contradicts the checksums beside the file: %v", e.error)
}

func (e *otherHostError) Unwrap() error { return e.error }

// lookUp looks for digests beside the file. Once lists have what r demands, lookUp waits at most hc.grace for others. It
// does not use results of lookups for other files, which may be of an earlier version. asked are the claims of the user
// and of the host of the URL itself. If a strong digest is in asked, only signed digests count. The error is that found
// digests contradict the other claims, or, if the lookup gets no answer, that those of an earlier run did, or that signed
// digests contradict the user's.
func lookUp(ctx context.Context, hc network, r *Request, hops []metalink.Hop, file metalink.File,
	asked, claims []verify.Claim) (verify.Finding, error) {
	s, ok := newSearch(r, hc, hops, asked, file)
	if !ok || !looksFor(r, asked, file) {
		return verify.Finding{}, nil
	}
	s.Anew = true
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	whenMet(r.Trust.Require, s, func() { hc.endLater(ctx, cancel) })
	err, beside := runSearch(ctx, hc, s), remaining(hc.state.Opposed(r.URL), s.Found)
	if err == nil {
		keepOpposed(hc.state, r, asked, without(claims, asked), s.Found)
	}
	if verify.Strong(asked) {
		s.Found.Claims = onlySigned(s.Found.Claims)
	}
	err = cmp.Or(err, agreeSigned(r, s.Found.Claims))
	beside = join(s.Found.Claims, beside)
	if err == nil && verify.Agree(asked, beside) == nil {
		err = opposed(r, claims, beside)
	}
	if err != nil || verify.Agree(claims, s.Found.Claims) != nil {
		s.Found.Claims = nil
	}
	if err != nil || verify.Agree(claims, s.Found.Weak) != nil {
		s.Found.Weak = nil
	}
	return s.Found, err
}

// unlisted reports whether the server answers that the digest which the earlier run found beside the file is not
// published any more, or that it has another file. An error of the server or no answer is not such an answer. now are the
// digests that are published now.
func (r *resumption) unlisted(ctx context.Context) (gone bool, now []verify.Claim, err error) {
	looked := r.prior.Looked
	x, err := r.lookAgain(ctx, r.prior)
	switch {
	case err != nil || r.document: // the session asks again
		return false, nil, context.Cause(ctx)
	case differs(x.answer.Size, r.prior.Size):
		return true, nil, nil
	case verify.Strong(x.asked) && verify.Agree(looked, x.asked) == nil: // no lookup follows, and the digest decides
		return false, nil, nil
	}
	found, err := lookUp(ctx, r.http, r.req, x.answer.Hops, x.file, x.asked, x.file.Claims)
	switch {
	case ctx.Err() != nil:
		return false, nil, context.Cause(ctx)
	case is[*Error](err):
		return false, nil, err
	case err != nil: // the lists contradict each other
		return false, nil, r.req.fail(Protocol, err, HintNoLookup)
	case verify.Strong(common(looked, join(x.file.Claims, found.Claims))):
		return false, found.Claims, nil
	case !found.Missed || verify.Agree(looked, join(x.asked, found.Claims)) != nil,
		len(found.Claims)+len(remaining(looked, found)) == 0:
		return true, join(x.file.Claims, found.Claims), nil
	}
	return false, nil, opposed(r.req, x.file.Claims, looked)
}

// A searchWeb sends the requests of the lookups for a request. It implements search.Web.
type searchWeb struct {
	http network
	req  *Request
}

func (w searchWeb) Get(ctx context.Context, u *url.URL, most int64) search.Answer {
	o := w.req.optionsFor(u, w.req.Named, false)
	o.Referer = nil
	return w.fetch(ctx, u, o, most)
}

func (w searchWeb) Ask(ctx context.Context, q *lookup.Question) search.Answer {
	o := httpsource.Options{Mirror: true, Named: address.Public, Not: w.req.Access.Not, Header: map[string][]string{}}
	for name, values := range w.req.Access.Header {
		if web.ForAnyServer(name) && !strings.EqualFold(name, "Accept") { // the user's Accept is for the file
			o.Header[name] = values
		}
	}
	if q.Own {
		o.Named = 0
	}
	secret, err := w.secret(q)
	if err != nil {
		return search.Answer{Err: err}
	}
	if len(secret) == 0 {
		return w.fetch(ctx, q.URL, o, lookup.MaxAnswer)
	}
	with := o
	with.Header = maps.Clone(o.Header)
	maps.Copy(with.Header, secret)
	with.HeaderTo, with.Secure, with.NoRedirect = []string{source.HostPort(q.URL)}, true, true
	a := w.fetch(ctx, q.URL, with, lookup.MaxAnswer)
	if e, ok := errors.AsType[*source.Error](a.Err); ok && e.Status == http.StatusUnauthorized { // the credentials have expired
		a = w.fetch(ctx, q.URL, o, lookup.MaxAnswer)
		a.Refused = true
	}
	return a
}

// secret returns the credentials for q: those for the URL of q, or the token for the host of that URL.
func (w searchWeb) secret(q *lookup.Question) (fields map[string][]string, err error) {
	if w.http.fields != nil {
		if fields, err = w.http.fields(q.URL); err != nil || len(fields) > 0 {
			return fields, err
		}
	}
	if token := w.http.tokens[q.URL.Host]; token != "" && q.Token {
		return map[string][]string{"Authorization": {"Bearer " + token}}, nil
	}
	return nil, nil
}

func (w searchWeb) fetch(ctx context.Context, u *url.URL, o httpsource.Options, most int64) search.Answer {
	o.Unheeded = true // the lookup is optional
	data, a, err := w.http.small(ctx, u, o, most)
	if e, ok := errors.AsType[*source.Error](err); ok && len(a.Hops) == 0 {
		a.Hops = e.Hops
	}
	return search.Answer{Data: data, Hops: a.Hops, Over: channelOf(a), Date: a.LastModified, Err: err}
}

func (w searchWeb) Sign(ctx context.Context, at *url.URL, claims []verify.Claim, data []byte,
	endings []string) (unsigned, err error) {
	if !w.req.Trust.Anchors.Any() {
		return nil, nil
	}
	l, err := newList(claims[0].Field, data, claims[0].Channel)
	if err != nil {
		return nil, nil
	}
	l.URL, l.found = at, true
	unsigned, err = l.checkSigned(ctx, w.http, *w.req, nil, endings)
	if err != nil && severe(err) {
		return nil, err
	}
	if unsigned = cmp.Or(errors.Unwrap(err), unsigned); kindOfSignature(unsigned) == NoKey {
		return unsigned, nil
	}
	if l.Over == verify.Signed {
		for i := range claims {
			claims[i].Channel, claims[i].By = verify.Signed, l.By
		}
	}
	return nil, nil
}
