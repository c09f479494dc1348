package search_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/lookup/search"
	"braid/internal/small"
	"braid/verify"
)

// A hanging site answers no request.
type hanging struct{ site }

func (w *hanging) Get(ctx context.Context, u *url.URL, most int64) search.Answer {
	w.site.Get(ctx, u, most)
	<-ctx.Done()
	return search.Answer{Err: context.Cause(ctx)}
}

// TestSlow: a folder whose server does not answer costs time once for all files of a run, also where its contents are
// looked at anew, until it may be faster. A search that has to find something waits each time.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, shared := &hanging{}, new(search.Folders)
		look := func(file string, patience time.Duration, set func(*search.Search)) (took time.Duration, told string) {
			s, ok := search.New(w, shared, nil, at(t, file), "")
			if !ok {
				t.Fatal("nowhere to look")
			}
			if set != nil {
				set(s)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			if err := s.Run(ctx); err != nil {
				t.Fatal(err)
			}
			return time.Since(began), s.Found.Where()
		}
		const grace = 5 * time.Second
		if took, _ := look("brief", time.Second, nil); took != time.Second {
			t.Errorf("a search that was ended early took %v", took)
		}
		if took, told := look("first", grace, nil); took != grace || strings.Contains(told, "too slow") {
			t.Errorf("the first file took %v, %s", took, told)
		}
		w.take()
		for _, set := range []func(*search.Search){nil, func(s *search.Search) { s.Anew = true }, nil} {
			if took, told := look("second", grace, set); took != 0 || !strings.Contains(told, "too slow for an earlier file") {
				t.Errorf("another file took %v, %s", took, told)
			}
		}
		if asked := w.take(); len(asked) > 0 {
			t.Errorf("asked for %q", asked)
		}
		if took, _ := look("http://a.example/other/file", grace, nil); took != grace {
			t.Errorf("another folder took %v", took)
		}
		if took, _ := look("third", grace, func(s *search.Search) { s.Patient = true }); took != grace {
			t.Errorf("a patient search took %v", took)
		}
		time.Sleep(11 * time.Minute)
		if took, _ := look("later", grace, nil); took != grace {
			t.Errorf("a search ten minutes later took %v", took)
		}
	})
}

// A halting site answers requests for all but one file.
type halting struct {
	site
	never   string
	refused int // requests that got no answer
}

func (w *halting) Get(ctx context.Context, u *url.URL, most int64) search.Answer {
	if strings.HasSuffix(u.Path, w.never) {
		w.mu.Lock()
		w.refused++
		w.mu.Unlock()
		<-ctx.Done()
		return search.Answer{Err: context.Cause(ctx)}
	}
	return w.site.Get(ctx, u, most)
}

// TestSlowList: where one list does not come, the others count for each file, and nothing is requested again.
func TestSlowList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, shared := &halting{never: ".sha256"}, new(search.Folders)
		w.pages = map[string]string{"/pub/SHA256SUMS": fmt.Sprintf("%064x  first\n%064x  second\n", 1, 2)}
		for i, file := range []string{"first", "first", "second"} {
			s, ok := search.New(w, shared, nil, at(t, file), "")
			if !ok {
				t.Fatal("nowhere to look")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if err := s.Run(ctx); err != nil || len(s.Found.Claims) != 1 || s.Found.Claims[0].Channel != verify.HTTP {
				t.Errorf("search %d: %v, %v", i+1, s.Found.Claims, err)
			}
			if asked := w.take(); (asked != "") != (i == 0) {
				t.Errorf("search %d asked for %q", i+1, asked)
			}
			cancel()
		}
	})
}

// TestSlowRequired: a list that takes all the time of a search that has to find something is given up after three files.
func TestSlowRequired(t *testing.T) {
	for _, never := range []string{"SHA256SUMS", "/", ".sha256"} {
		synctest.Test(t, func(t *testing.T) {
			w, shared := &halting{never: never}, new(search.Folders)
			for n := range 6 {
				s, ok := search.New(w, shared, nil, at(t, fmt.Sprint("file", n)), "")
				if !ok {
					t.Fatal("nowhere to look")
				}
				s.Patient = true
				ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, small.ErrSlow)
				if err := s.Run(ctx); err != nil || !s.Found.Missed && n < 3 {
					t.Errorf("%s: %v, %+v", never, err, s.Found)
				}
				cancel()
			}
			if w.refused != 3 {
				t.Errorf("%s: asked %d times", never, w.refused)
			}
		})
	}
}

// TestSlowListBesideAnother: where one list of an index does not come, a search that has to find something asks the next.
// Where there is no other list with the file, it waits for the slow one.
func TestSlowListBesideAnother(t *testing.T) {
	for other, took := range map[string]time.Duration{"first": 20 * time.Second, "second": 300 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := &halting{never: "first.sha256"}
			w.index = true
			w.pages = map[string]string{"/pub/first": "", "/pub/first.sha256": "",
				"/pub/SHA256SUMS": fmt.Sprintf("%064x  %s\n", 1, other)}
			s, ok := search.New(w, new(search.Folders), nil, at(t, "first"), "")
			if !ok {
				t.Fatal("nowhere to look")
			}
			s.Patient = true
			ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Second, small.ErrSlow)
			defer cancel()
			began := time.Now()
			if err := s.Run(ctx); err != nil || (len(s.Found.Claims) == 1) != (other == "first") || !s.Found.Missed {
				t.Errorf("%s: %+v, %v", other, s.Found, err)
			}
			if got := time.Since(began); got != took {
				t.Errorf("%s: took %v", other, got)
			}
		})
	}
}
