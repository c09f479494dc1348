package search_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"braid/internal/lookup"
	"braid/internal/lookup/search"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A site is a web of a few pages, by their paths. It counts requests.
type site struct {
	pages map[string]string
	index bool           // the folder has an index
	fails map[string]int // how often a path fails at first

	mu     sync.Mutex
	asked  []string
	signed int // lists that were checked for signatures

	besides []string // signatures that may be asked for
}

func (w *site) Get(_ context.Context, u *url.URL, most int64) search.Answer {
	w.mu.Lock()
	w.asked = append(w.asked, strings.TrimPrefix(u.Path, "/pub/"))
	failed := w.fails[u.Path] > 0
	if failed {
		w.fails[u.Path]--
	}
	w.mu.Unlock()
	if failed {
		return search.Answer{Err: &source.Error{Status: 503, Fault: source.FaultRefused, Retry: true}}
	}
	page, ok := w.pages[u.Path]
	if w.index && u.Path == "/pub/" {
		for _, at := range slices.Sorted(func(yield func(string) bool) {
			for at := range w.pages {
				if !yield(at) {
					return
				}
			}
		}) {
			name := strings.TrimPrefix(at, "/pub/")
			page += fmt.Sprintf("<a href=%q>%s</a>\n", name, name)
		}
		page, ok = "<html><head><title>Index of /pub/</title></head><body><h1>Index of /pub/</h1>\n"+page+"</body></html>", true
	}
	if !ok {
		return search.Answer{Err: &source.Error{Status: 404, Fault: source.FaultRefused}}
	}
	return search.Answer{Data: []byte(page), Hops: []metalink.Hop{{URL: u}}, Over: verify.HTTP}
}

func (w *site) Ask(ctx context.Context, q *lookup.Question) search.Answer {
	return w.Get(ctx, q.URL, lookup.MaxAnswer)
}

func (w *site) Sign(_ context.Context, at *url.URL, _ []verify.Claim, _ []byte, endings []string) (unsigned, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.signed++
	for _, ending := range endings {
		w.besides = append(w.besides, strings.TrimPrefix(at.Path, "/pub/")+ending)
	}
	return nil, nil
}

// take returns the requests since the last call, in order of their names, as together they have none.
func (w *site) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	slices.Sort(asked)
	return strings.Join(asked, " ")
}

func at(t *testing.T, file string) []metalink.Hop {
	t.Helper()
	if !strings.Contains(file, "/") {
		file = "a.example/pub/" + file
	}
	if !strings.Contains(file, "://") {
		file = "http://" + file
	}
	u, err := url.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	return []metalink.Hop{{URL: u}}
}

func run(t *testing.T, w *site, shared *search.Folders, file, user string) verify.Finding {
	t.Helper()
	s, ok := search.New(w, shared, nil, at(t, file), user)
	if !ok {
		t.Fatalf("nowhere to look for %s", file)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.Found
}

// TestShared: a folder is looked at once for all files of a run, but not for those who may see something else of it.
func TestShared(t *testing.T) {
	var list strings.Builder
	for n := range 50 {
		fmt.Fprintf(&list, "%064x  file%d\n", n+1, n)
	}
	w := &site{pages: map[string]string{"/pub/SHA256SUMS": list.String()}, index: true}
	for n := range 50 {
		w.pages[fmt.Sprintf("/pub/file%d", n)] = ""
	}
	var shared search.Folders
	for n := range 50 {
		f := run(t, w, &shared, fmt.Sprintf("file%d", n), "")
		if len(f.Claims) != 1 || f.Claims[0].Digest.Hex() != fmt.Sprintf("%064x", n+1) || f.Claims[0].Channel != verify.HTTP {
			t.Fatalf("file%d: %+v", n, f)
		}
	}
	if asked := w.take(); asked != " SHA256SUMS" {
		t.Errorf("50 files asked for %q", asked)
	}
	run(t, w, &shared, "file1", "alice")
	if asked := w.take(); asked != " SHA256SUMS" {
		t.Errorf("another user's search asked for %q", asked)
	}
}

// TestFails: a list or an index that failed once is asked for again, but not by each file of a folder.
func TestFails(t *testing.T) {
	const n = 20
	var list strings.Builder
	w := &site{pages: map[string]string{}, index: true}
	for i := range n {
		fmt.Fprintf(&list, "%064x  file%d\n", i+1, i)
		w.pages[fmt.Sprintf("/pub/file%d", i)] = ""
	}
	w.pages["/pub/SHA256SUMS"] = list.String()
	for _, tt := range []struct {
		path            string
		fails           int
		asked, unproven int
	}{
		{"/pub/SHA256SUMS", 0, 1, 0}, {"/pub/SHA256SUMS", 1, 2, 1}, {"/pub/SHA256SUMS", 2, 3, 2},
		{"/pub/SHA256SUMS", n, 3, n},
		{"/pub/", 1, 2, 0}, {"/pub/", n, 3, 0},
	} {
		var shared search.Folders
		w.fails = map[string]int{tt.path: tt.fails}
		asked, unproven := 0, 0
		for i := range n {
			if f := run(t, w, &shared, fmt.Sprintf("file%d", i), ""); len(f.Claims) == 0 {
				unproven++
			}
		}
		for _, name := range w.asked {
			if "/pub/"+name == tt.path {
				asked++
			}
		}
		w.take()
		if asked != tt.asked || unproven != tt.unproven {
			t.Errorf("%s fails %d times: asked for it %d times, want %d; %d files without a digest, want %d", tt.path,
				tt.fails, asked, tt.asked, unproven, tt.unproven)
		}
	}
}

// TestMemory: lists are kept for other files while there is room. Then the oldest folder goes, and no other.
func TestMemory(t *testing.T) {
	list := fmt.Sprintf("%064x  file1\n%064x  file2\n", 1, 2)
	comment := "# " + strings.Repeat("x", 1<<10) + "\n"
	for _, tt := range []struct{ size, folders, asked int }{{3 << 20, 5, 0}, {3 << 20, 6, 1}, {0, 16, 0}, {0, 17, 1}} {
		list := list + strings.Repeat(comment, tt.size/len(comment))
		w := &site{pages: map[string]string{"/pub/SHA256SUMS": list, "/pub/file1": "", "/pub/file2": ""}, index: true}
		var shared search.Folders
		for n := range tt.folders {
			run(t, w, &shared, fmt.Sprintf("%d.example/pub/file1", n), "")
		}
		w.take()
		for n := tt.folders - 1; n >= 0; n-- {
			want := ""
			if n < tt.asked {
				want = " SHA256SUMS"
			}
			f := run(t, w, &shared, fmt.Sprintf("%d.example/pub/file2", n), "")
			if asked := w.take(); asked != want || len(f.Claims) != 1 {
				t.Errorf("%d folders with %d bytes: folder %d asked for %q, want %q; found %v", tt.folders, tt.size, n,
					asked, want, f.Claims)
			}
		}
	}
}

// TestTogether: without an index four names are asked for, and three files without a list of their own are enough to ask
// for those no more.
func TestTogether(t *testing.T) {
	w := &site{pages: map[string]string{}}
	var shared search.Folders
	for n := range 5 {
		own, want := fmt.Sprintf("file%d.sha256", n), ""
		switch {
		case n == 0:
			want = " SHA256SUMS checksums.txt file0.sha256 sha256sum.txt"
		case n < 3:
			want = own
		}
		f := run(t, w, &shared, fmt.Sprintf("file%d", n), "")
		if asked := w.take(); asked != want || len(f.Claims) > 0 {
			t.Errorf("file%d asked for %q, want %q; found %v", n, asked, want, f.Claims)
		}
	}
}

// TestAsked: a search asks for the list of its file in any case if it has to, and for lists of an earlier run, if an
// index does not show that they are gone.
func TestAsked(t *testing.T) {
	w := &site{pages: map[string]string{"/pub/file9": "", "/pub/old.txt": fmt.Sprintf("%064x  file9\n", 9)}}
	var shared search.Folders
	for n := range 4 {
		run(t, w, &shared, fmt.Sprintf("file%d", n), "")
	}
	w.take()
	for _, tt := range []struct {
		name    string
		set     func(*search.Search)
		asked   string
		found   int
		indexed bool
	}{
		{"own", func(s *search.Search) { s.AskOwn = true }, "file9.sha256", 0, false},
		{"earlier", func(s *search.Search) { s.Also = []string{"old.txt"} }, "old.txt", 1, false},
		{"gone", func(s *search.Search) { s.Also, s.Anew = []string{"older.txt"}, true }, "", 0, true},
	} {
		w.index = tt.indexed
		s, ok := search.New(w, &shared, nil, at(t, "file9"), "")
		if !ok {
			t.Fatal("no search")
		}
		if tt.set(s); s.Vain() {
			t.Errorf("%s: vain", tt.name)
		}
		err := s.Run(t.Context())
		if asked := w.take(); err != nil || asked != tt.asked || len(s.Found.Claims) != tt.found {
			t.Errorf("%s: asked for %q; found %v, %v", tt.name, asked, s.Found, err)
		}
	}
}

// TestAway: the list is beside the URL from which a script of the server leads to another host.
func TestAway(t *testing.T) {
	w := &site{pages: map[string]string{"/pub/SHA256SUMS": fmt.Sprintf("%064x  pic.jpg\n", 1)}}
	chain := slices.Concat(at(t, "pic.jpg"), at(t, "count?f=pic.jpg"), at(t, "b.example/pic.jpg"))
	s, ok := search.New(w, new(search.Folders), nil, chain, "")
	if !ok {
		t.Fatal("nowhere to look")
	}
	if err := s.Run(t.Context()); err != nil || len(s.Found.Claims) != 1 {
		t.Errorf("found %v, %v", s.Found, err)
	}
}

// TestNowhere has where nothing is looked for.
func TestNowhere(t *testing.T) {
	for _, chain := range [][]metalink.Hop{
		nil, {{}}, at(t, ""), at(t, "pic.jpg?width=100"), append(at(t, "pic.jpg"), at(t, "pic.jpg?width=100")...),
	} {
		if _, ok := search.New(&site{}, new(search.Folders), nil, chain, ""); ok {
			t.Errorf("a search for %v", chain)
		}
	}
}

// TestQuery: a forge is asked about a URL with a query that it has, and nothing is looked for in the folder.
func TestQuery(t *testing.T) {
	w := &site{}
	var shared search.Folders
	run(t, w, &shared, "https://zenodo.org/records/7/files/a.zip?download=1", "")
	if asked := w.take(); asked != "/api/records/7" {
		t.Errorf("asked for %q", asked)
	}
}

// TestSigned: where all four lists have the file, two are checked for signatures.
func TestSigned(t *testing.T) {
	list := fmt.Sprintf("%064x  disk.iso\n", 1)
	w := &site{pages: map[string]string{}}
	for _, c := range lookup.Guesses("disk.iso") {
		w.pages["/pub/"+c.Name] = list
	}
	var shared search.Folders
	if f := run(t, w, &shared, "disk.iso", ""); len(f.Claims) != 1 || w.signed != 2 {
		t.Errorf("%d checked, found %v", w.signed, f.Claims)
	}
}

// A stranger answers in place of the site.
type stranger struct{ site }

func (w *stranger) Get(ctx context.Context, u *url.URL, most int64) search.Answer {
	a := w.site.Get(ctx, u, most)
	for i := range a.Hops {
		other := *a.Hops[i].URL
		other.Host = "b.example"
		a.Hops = append(a.Hops, metalink.Hop{URL: &other})
	}
	return a
}

// TestStranger: what another host answers is named as its own and proves nothing, be it an index or a list.
func TestStranger(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for _, index := range []bool{true, false} {
		w := &stranger{site{pages: map[string]string{"/pub/file": "", "/pub/SHA256SUMS": digest + "  file\n"}, index: index}}
		s, ok := search.New(w, new(search.Folders), nil, at(t, "file"), "")
		if !ok {
			t.Fatal("nowhere to look")
		}
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var places []string
		for _, p := range s.Found.Places {
			places = append(places, p.String())
		}
		all := strings.Join(places, "\n")
		if index && !strings.Contains(all, "http://a.example/pub/: b.example:80 answered") ||
			!strings.Contains(all, "SHA256SUMS: a list from b.example:80, a mirror") || len(s.Found.Claims) > 0 {
			t.Errorf("index %v: %v from\n%s", index, s.Found.Claims, all)
		}
	}
}

// TestBatch: what a file of a batch costs does not depend on how many others its folder and its list have.
func TestBatch(t *testing.T) {
	costs := map[int]float64{}
	for _, files := range []int{10, 3000} {
		w := &site{pages: map[string]string{}, index: true}
		var list strings.Builder
		for n := range files {
			w.pages[fmt.Sprintf("/pub/file%d", n)] = ""
			fmt.Fprintf(&list, "%064x  file%d\n", n+1, n)
		}
		w.pages["/pub/SHA256SUMS"] = list.String()
		var shared search.Folders
		costs[files] = testing.AllocsPerRun(5, func() {
			if f := run(t, w, &shared, "file7", ""); len(f.Claims) != 1 {
				t.Fatalf("found %v", f)
			}
		})
	}
	if costs[3000] > costs[10]+100 {
		t.Errorf("allocations by files: %v", costs)
	}
}
