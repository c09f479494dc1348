//go:build realservers

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
)

// TestRealObjectsParts: braid parts lists uploads, by the journals here and by the store, says which process works at
// one, and removes one or all below a prefix, but for those that a process works at.
func TestRealObjectsParts(t *testing.T) {
	t.Parallel()
	r := newObjectsRig(t)
	content := mirrortest.Generate(20<<20, 41)
	m := mirrortest.New(t, content, mirrortest.Digest())
	get := func(name string) []string { return []string{"get", "-o", "s3://bucket/x/" + name, m.URL} }
	r.kill(2, get("a")...)
	r.kill(2, get("b")...)
	r.store.Begin("x/foreign", []byte("part"))
	cmd, goOn := r.begin(1, get("active")...)
	inUse := fmt.Sprintf("in use by process %d", cmd.Process.Pid)

	want := []string{"s3://bucket/x/a", "s3://bucket/x/active", "s3://bucket/x/b"}
	if got := r.uploads(); !slices.Equal(got, want) {
		t.Errorf("of journals: %v", got)
	}
	want = append(want, "s3://bucket/x/foreign")
	if got := r.uploads("s3://bucket/x/"); !slices.Equal(got, want) {
		t.Errorf("in the store: %v", got)
	}
	out, _ := r.run(0, "parts", "list", "--json", "s3://bucket/x/")
	for _, e := range objectEvents(t, out, "upload") {
		running := e.Path == "s3://bucket/x/active"
		if e.InUse != running || running && (e.PID != cmd.Process.Pid || e.Here != 8<<20) ||
			e.Path == "s3://bucket/x/a" && e.Here != 16<<20 {
			t.Errorf("%+v", e)
		}
	}
	for _, words := range [][]string{{"parts"}, {"parts", "list", "s3://bucket/x/"}} {
		if out, _ := r.run(0, words...); strings.Count(out, "can be resumed") != 2 || !strings.Contains(out, inUse) ||
			strings.Contains(out, "being uploaded by another process") != (len(words) > 1) {
			t.Errorf("braid %v:\n%s", words, out)
		}
	}

	if out, told := r.run(0, "parts", "remove", "s3://bucket/x/a"); out != "" ||
		told != "removed the unfinished upload to s3://bucket/x/a\n" {
		t.Errorf("removed: %q, %q", out, told)
	}
	if _, told := r.run(3, "parts", "remove", "s3://bucket/x/a"); !strings.Contains(told, "no unfinished upload has this name") {
		t.Errorf("removed twice: %q", told)
	}
	if _, told := r.run(3, "parts", "remove", "s3://bucket/x/active"); !strings.Contains(told, inUse) {
		t.Errorf("in use: %q", told)
	}
	out, told := r.run(3, "parts", "remove", "--json", "s3://bucket/x/")
	var gone []string
	for _, e := range objectEvents(t, out, "removed") {
		gone = append(gone, e.Path)
	}
	if slices.Sort(gone); !slices.Equal(gone, []string{"s3://bucket/x/b", "s3://bucket/x/foreign"}) ||
		!strings.Contains(told, inUse) {
		t.Errorf("removed: %v; %s", gone, told)
	}
	if got := r.uploads("s3://bucket/"); !slices.Equal(got, []string{"s3://bucket/x/active"}) || len(r.journals()) != 1 {
		t.Errorf("left: %v, %v", got, r.journals())
	}
	goOn()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	r.holds("x/active", content)
}

// TestRealObjectsAbandoned: what this machine has left a week ago, by its own clock, is ended with the next object.
// What it has left since, a process works at, or another program has begun stays, whatever the store says of its age.
func TestRealObjectsAbandoned(t *testing.T) {
	t.Parallel()
	r := newObjectsRig(t)
	large, small := mirrortest.New(t, mirrortest.Generate(20<<20, 42)), mirrortest.New(t, mirrortest.Generate(1<<20, 43))
	get := func(name string) []string { return []string{"get", "-o", "s3://bucket/x/" + name, large.URL} }
	known := map[string]bool{}
	aged := func(days int) {
		t.Helper()
		for _, name := range r.journals() {
			if !known[name] {
				known[name] = true
				then := time.Now().AddDate(0, 0, -days)
				if err := os.Chtimes(name, then, then); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	r.kill(1, get("old")...)
	aged(8)
	r.kill(1, get("ahead")...)
	aged(-30)
	r.kill(1, get("recent")...)
	aged(6)
	r.store.Begin("x/foreign", []byte("part"))
	r.begin(1, get("running")...)
	aged(8)
	r.atAnotherTime(-10, "uploads", "parts")
	out, told := r.run(0, "get", "-o", "s3://bucket/x/new", small.URL)
	if strings.Contains(out+told, "upload") {
		t.Errorf("told: %s%s", out, told)
	}
	if got, want := r.uploads("s3://bucket/"), []string{"ahead", "foreign", "recent", "running"}; strings.Join(got,
		" ") != "s3://bucket/x/"+strings.Join(want, " s3://bucket/x/") {
		t.Errorf("left: %v", got)
	}
	if len(r.journals()) != 3 {
		t.Errorf("journals: %v", r.journals())
	}
}

// TestRealObjectsListing: a listing of uploads comes in pages, and one that leads back to where it was is an error of the store.
func TestRealObjectsListing(t *testing.T) {
	t.Parallel()
	r := newObjectsRig(t)
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		r.store.Begin("x/"+key, []byte("part"))
	}
	pages := func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if s3test.Kind(q) == "uploads" {
			v := q.URL.Query()
			if v.Get("key-marker") != "" && v.Get("upload-id-marker") == "" {
				t.Errorf("no page is asked for by %v", v)
			}
			v.Set("max-uploads", "2")
			v.Del("upload-id-marker") // versitygw knows none that it has given out
			q.URL.RawQuery = v.Encode()
			s3test.Sign(q)
		}
		store.ServeHTTP(w, q)
	}
	r.store.Faults(pages)
	before := r.store.Count("uploads", "")
	if got := r.uploads("s3://bucket/x/"); len(got) != 5 || r.store.Count("uploads", "")-before != 3 {
		t.Errorf("%v of %d pages", got, r.store.Count("uploads", "")-before)
	}
	for name, next := range map[string]func(n int) string{
		"the same for ever": func(int) string { return "m" },
		"in a circle":       func(n int) string { return string(rune('a' + n%3)) },
		"no next one":       func(int) string { return "" },
	} {
		n := 0
		r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
			if s3test.Kind(q) != "uploads" {
				store.ServeHTTP(w, q)
				return
			}
			n++
			fmt.Fprintf(w,
				`<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>%s</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>`+
					`<Upload><Key>x/a</Key><UploadId>u</UploadId></Upload></ListMultipartUploadsResult>`, next(n))
		})
		for _, verb := range []string{"list", "remove"} {
			if _, told := r.run(7, "parts", verb, "s3://bucket/x/"); !strings.Contains(told, "endless") {
				t.Errorf("%s, %s: %s", name, verb, told)
			}
		}
		if n > 10 {
			t.Errorf("%s: %d pages", name, n)
		}
	}
	r.store.Faults(pages)
	if _, told := r.run(0, "parts", "remove", "s3://bucket/x/"); strings.Count(told, "removed") != 5 {
		t.Errorf("%s", told)
	}
	r.clean()
}
