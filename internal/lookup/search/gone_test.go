package search_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"testing"

	"braid/internal/lookup"
	"braid/internal/lookup/search"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// answers has the answer of each path. Any other path is missing.
type answers map[string]search.Answer

func (w answers) Get(_ context.Context, u *url.URL, _ int64) search.Answer {
	a, ok := w[u.Path]
	if !ok {
		a = refused(404)
	}
	if a.Hops == nil {
		a.Hops = []metalink.Hop{{URL: u}}
	}
	return a
}

func (w answers) Ask(ctx context.Context, q *lookup.Question) search.Answer {
	return w.Get(ctx, q.URL, lookup.MaxAnswer)
}

func (w answers) Sign(context.Context, *url.URL, []verify.Claim, []byte, []string) (unsigned, err error) {
	return nil, nil
}

func refused(status int) search.Answer {
	return search.Answer{Err: &source.Error{Fault: source.FaultRefused, Status: status}}
}

// TestGone: a list is gone if the asked server itself answers 404 or 410, or sends a list without the file. Any other
// failure leaves open whether the list is there, although it is not asked for again.
func TestGone_Rule77(t *testing.T) {
	page := map[string][]string{"Content-Type": {"text/html"}}
	elsewhere := []metalink.Hop{{URL: at(t, "disk.iso")[0].URL}, {URL: at(t, "http://b.example/x")[0].URL}}
	away := refused(404)
	away.Hops = elsewhere
	for name, tt := range map[string]struct {
		index, list search.Answer
		gone        bool
		missed      bool
	}{
		"both 404":         {refused(404), refused(404), true, false},
		"410":              {refused(404), refused(410), true, false},
		"index 500":        {refused(500), refused(404), true, true},
		"index 403":        {refused(403), refused(404), true, true},
		"without the file": {refused(404), search.Answer{Data: []byte(sum + "  other\n")}, true, false},
		"400":              {refused(404), refused(400), false, true},
		"401": {refused(404),
			search.Answer{Err: &source.Error{Fault: source.FaultAuth, Status: 401}}, false, true},
		"403": {refused(404), refused(403), false, true},
		"451": {refused(404), refused(451), false, true},
		"507": {refused(404), refused(507), false, true},
		"521": {refused(404), refused(521), false, true},
		"redirects": {refused(404),
			search.Answer{Err: &source.Error{Fault: source.FaultRefused, Status: 302, Err: errors.New("loop")}}, false, true},
		"another host's 404":  {refused(404), away, false, true},
		"another host's list": {refused(404), search.Answer{Data: []byte(sum + "  other\n"), Hops: elsewhere}, false, true},
		"a page": {refused(404), search.Answer{Data: []byte("<html>"),
			Hops: []metalink.Hop{{URL: at(t, "x")[0].URL, Header: page}}}, false, true},
		"a page as text":            {refused(404), search.Answer{Data: []byte("<html>")}, false, true},
		"empty":                     {refused(404), search.Answer{}, false, true},
		"another host's index, 404": {away, refused(404), true, true},
	} {
		var shared search.Folders
		w := answers{"/pub/": tt.index, "/pub/SHA256SUMS": tt.list}
		s, ok := search.New(w, &shared, nil, at(t, "disk.iso"), "")
		if !ok || s.Run(t.Context()) != nil {
			t.Fatalf("%s: %v", name, ok)
		}
		f := s.Found
		if gone := slices.Contains(f.Gone, "SHA256SUMS beside it"); gone != tt.gone || f.Missed != tt.missed {
			t.Errorf("%s: gone %v, missed %v: %v", name, f.Gone, f.Missed, f.Places)
		}
	}
}

const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
