//go:build !nofleet

package worker

import (
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/fleet"
	"braid/internal/plug/jetstream"
	"braid/internal/plug/objectstore"
)

// A bucket is an object store in memory for small objects.
type bucket struct {
	mu      sync.Mutex
	objects map[string]stored
}

type stored struct {
	body   string
	header http.Header
	at     time.Time
}

func (b *bucket) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/bucket/")
	o, there := b.objects[name]
	tag := fmt.Sprintf(`"%x"`, md5.Sum([]byte(o.body)))
	fail := func(status int, code string) {
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code></Error>", code)
		}
	}
	switch match := r.Header.Get("If-Match"); {
	case r.URL.Query().Has("location"), r.URL.Query().Has("uploads"):
		fmt.Fprint(w, "<?xml version=\"1.0\"?><X></X>")
	case r.Method == http.MethodDelete && match != "" && match != tag:
		fail(http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut && (r.Header.Get("If-None-Match") == "*" && there || match != "" && match != tag):
		fail(http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut:
		data, _ := io.ReadAll(r.Body)
		header := http.Header{}
		for key, values := range r.Header {
			if strings.HasPrefix(key, "X-Amz-Meta-") {
				header[key] = values
			}
		}
		b.objects[name] = stored{string(data), header, time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(data)))
	case r.Method == http.MethodDelete:
		delete(b.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case there:
		for key, values := range o.header {
			w.Header()[key] = values
		}
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", o.at, strings.NewReader(o.body))
	default:
		fail(http.StatusNotFound, "NoSuchKey")
	}
}

// names returns the names of the objects of releases.
func (b *bucket) names() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for name := range b.objects {
		if !strings.HasPrefix(name, ".") {
			names = append(names, strings.TrimPrefix(name, "tools/"))
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestKeepObjects_Rule80 checks that surplus objects of releases are removed with their evidence, in whatever order
// workers place them. The newest stays, and so do objects that were changed or are not of the watch. With a damaged
// list nothing is removed.
func TestKeepObjects_Rule80(t *testing.T) {
	t.Parallel()
	b := &bucket{objects: map[string]stored{}}
	server := httptest.NewServer(http.HandlerFunc(b.serve))
	defer server.Close()
	env := map[string]string{
		"AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret-0123",
		"AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
	}
	store, err := objectstore.Open("s3://bucket/", objectstore.Options{Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, body string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.objects["tools/"+name] = stored{body, nil, time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)}
	}
	keep := 1
	place := func(version, want string) {
		t.Helper()
		put(version, "file of "+version)
		put(version+".evidence.json", `{"object":"s3://bucket/tools/`+version+`"}`)
		j := fleet.Job{Name: "tools/" + version,
			Follows: &fleet.Follows{Of: strings.Repeat("0a", 12), Version: version, Keep: &keep}}
		e, err := store.Existing(t.Context(), j.Name)
		if err == nil {
			err = prune(t.Context(), store, &j, placed{size: e.Size, modTime: e.ModTime})
		}
		if got := strings.ReplaceAll(b.names(), ".evidence.json", "+"); got != want || err != nil {
			t.Errorf("after %s there are %s, %v; want %s", version, got, err, want)
		}
	}
	put("mine", "")
	place("1.9", "1.9 1.9+ mine")
	place("1.10", "1.10 1.10+ 1.9 1.9+ mine")
	place("1.8", "1.10 1.10+ 1.8 1.8+ 1.9 1.9+ mine") // its worker was slower
	put("1.8", "changed")
	place("2.0", "1.10 1.10+ 1.8 1.8+ 2.0 2.0+ mine")
	place("2.1", "1.8 1.8+ 2.0 2.0+ 2.1 2.1+ mine")
	keep = 0
	place("2.1", "1.8 1.8+ 2.1 2.1+ mine")
	keep = 1
	place("2.0", "1.8 1.8+ 2.0 2.0+ 2.1 2.1+ mine")
	list := ".braid-work/releases/" + strings.Repeat("0a", 12) + ".json"
	b.mu.Lock()
	o := b.objects[list]
	o.body = strings.Replace(o.body, "2.0", "3.0", 1)
	b.objects[list] = o
	b.mu.Unlock()
	put("2.2", "file of 2.2")
	j := fleet.Job{Name: "tools/2.2", Follows: &fleet.Follows{Of: strings.Repeat("0a", 12), Version: "2.2", Keep: new(1)}}
	if err := prune(t.Context(), store, &j, placed{size: 11}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged list: %v", err)
	}
	if got := strings.ReplaceAll(b.names(), ".evidence.json", "+"); got != "1.8 1.8+ 2.0 2.0+ 2.1 2.1+ 2.2 mine" {
		t.Errorf("then there are %s", got)
	}
}

// TestDroppedObject: the object of a dropped job is not taken for that of an earlier attempt of the same job, reported
// again, which would replace it without permission.
func TestDroppedObject(t *testing.T) {
	t.Parallel()
	b := &bucket{objects: map[string]stored{}}
	server := httptest.NewServer(http.HandlerFunc(b.serve))
	defer server.Close()
	env := map[string]string{
		"AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret-0123",
		"AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
	}
	store, err := objectstore.Open("s3://bucket/", objectstore.Options{Folder: t.TempDir(),
		Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	task := func(fence uint64, takes int) *task {
		r := fleet.Record{Lease: fleet.Lease{Fence: fence}}
		if _, err := r.Report(fleet.Job{Name: "a.iso", URIs: []string{"https://example.org/a.iso"}}, now); err != nil {
			t.Fatal(err)
		}
		for n := range takes {
			if err := r.Take("worker", now.Add(time.Duration(n)*time.Hour), fleet.UsualLease); err != nil {
				t.Fatal(err)
			}
		}
		return &task{claim: &jetstream.Claim{Record: r}}
	}
	p := NewStore(store, nil)
	b.objects["a.iso"] = stored{"the first", http.Header{"X-Amz-Meta-Braid-Job": {attempts(&task(1000, 1).claim.Record)}}, now}
	for fence, want := range map[uint64]bool{1000: true, 2000: false} {
		if made, err := p.leased(task(fence, 2)).TakeOver(t.Context(), "a.iso", ""); made != want || err != nil {
			t.Errorf("reported at %d: made %t, %v", fence, made, err)
		}
	}
}

// TestLatestNamed_Rule80 checks that no version gets the name of the object of the link.
func TestLatestNamed_Rule80(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{"d/tool.latest": true, "d/tool.1.0": false, "d/tool": false} {
		j := fleet.Job{Name: name, Follows: &fleet.Follows{Version: "latest", Link: "d/tool"}}
		if err := checkLatest(&j); (err != nil) != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
