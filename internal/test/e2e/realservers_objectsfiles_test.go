//go:build realservers

package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
)

// TestRealObjectsLikeFiles_Rule3_Rule4: what is there, what a flag says and what the server has end in the same for a
// file and for an object: the exit code, what is there afterwards, and the result in JSON (rules 3 and 4).
func TestRealObjectsLikeFiles_Rule3_Rule4(t *testing.T) {
	t.Parallel()
	const size = 9 << 20 // two parts
	right, another := mirrortest.Generate(size, 51), mirrortest.Generate(size, 52)
	early, served, late := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	const none, same, other = "nothing", "the file", "another file"
	verify := "verify"
	store := s3test.New(t)
	for _, tt := range []struct {
		there string
		date  time.Time
		flags string
		code  int
		after string
		done  objectEvent // but for its size
	}{
		{none, late, "", 0, same, objectEvent{Verified: true, Fetched: size}},
		{same, late, "", 0, same, objectEvent{Verified: true, AlreadyComplete: true}},
		{other, late, "", 3, other, objectEvent{}},
		{none, late, "--no-clobber", 0, same, objectEvent{Verified: true, Fetched: size}},
		{same, late, "--no-clobber", 0, same, objectEvent{Verified: true, AlreadyComplete: true}},
		{other, late, "--no-clobber", 0, other, objectEvent{}},
		{none, late, "--overwrite", 0, same, objectEvent{Verified: true, Fetched: size}},
		{same, late, "--overwrite", 0, same, objectEvent{Verified: true, AlreadyComplete: true}},
		{other, late, "--overwrite", 0, same, objectEvent{Verified: true, Fetched: size}},
		{other, late, "--overwrite --checksum sha-256=" + strings.Repeat("0", 64), 11, other, objectEvent{}},
		{none, late, "--checksum sha-256=" + strings.Repeat("0", 64), 11, none, objectEvent{}},
		{none, late, "-N", 0, same, objectEvent{Verified: true, Fetched: size}},
		{same, late, "-N", 0, same, objectEvent{Verified: true, AlreadyComplete: true}},
		{other, late, "-N", 0, same, objectEvent{Verified: true, Fetched: size}}, // by its digest
		{other, early, "-N", 0, same, objectEvent{Verified: true, Fetched: size}},
		{other, late, "-N --allow-older", 0, same, objectEvent{Verified: true, Fetched: size}},
		{other, early, "-N --no-clobber", 2, other, objectEvent{}},
		{none, late, verify, 3, none, objectEvent{}},
		{same, late, verify, 0, same, objectEvent{Verified: true, AlreadyComplete: true}},
		{other, late, verify, 11, other, objectEvent{}},
	} {
		t.Run(tt.there+" "+tt.date.Format("January")+" "+tt.flags[:min(len(tt.flags), 22)], func(t *testing.T) {
			t.Parallel()
			put := map[string]mirrortest.Content{same: right, other: another}
			m := mirrortest.New(t, right, mirrortest.Digest(), mirrortest.Modified(served), mirrortest.ETag(`"one"`))
			var events [2][]objectEvent
			for i, object := range []bool{false, true} {
				r := &objectsRig{T: t, store: store, home: t.TempDir()}
				prefix := filepath.Base(filepath.Dir(r.home)) + "/"
				file, key := filepath.Join(r.home, "pool", "file.bin"), prefix+"file.bin"
				place, name := []string{"-d", "pool"}, file
				if object {
					place, name = []string{"--to", "s3://bucket/" + prefix}, "s3://bucket/"+key
				}
				if c, ok := put[tt.there]; ok && object {
					store.Put(key, c.Bytes())
					store.Date(key, tt.date)
				} else if ok {
					os.MkdirAll(filepath.Dir(file), 0o777)
					writeFile(t, file, string(c.Bytes()))
					if err := os.Chtimes(file, tt.date, tt.date); err != nil {
						t.Fatal(err)
					}
				}
				args := append(append([]string{"get", "--json"}, place...), append(strings.Fields(tt.flags), m.URL)...)
				if tt.flags == verify {
					args = []string{"verify", "--json", "--from", m.URL, name}
				}
				out, _ := r.run(tt.code, args...)
				for _, kind := range []string{"done", "verify", "error"} {
					for _, e := range objectEvents(t, out, kind) {
						if e.Path != "" && e.Path != name && e.Path != "pool/file.bin" {
							t.Errorf("the path is %s, want %s", e.Path, name)
						}
						e.Path = ""
						events[i] = append(events[i], e)
					}
				}
				data := store.Object(key)
				if !object {
					data, _ = os.ReadFile(file)
				}
				if want, ok := put[tt.after]; !ok && data != nil || ok && want.Compare(bytes.NewReader(data)) != nil {
					t.Errorf("object %t: %d bytes are there, want %s", object, len(data), tt.after)
				}
				if left := r.journals(); len(left) > 0 {
					t.Errorf("journals: %v", left)
				}
			}
			if !reflect.DeepEqual(events[0], events[1]) {
				t.Errorf("of a file:   %+v\nof an object: %+v", events[0], events[1])
			}
			for _, e := range events[1] {
				if want := tt.done; e.Event == "done" &&
					(e.Verified != want.Verified || e.AlreadyComplete != want.AlreadyComplete ||
						e.NotModified != want.NotModified || e.Fetched != want.Fetched) {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// TestRealObjectsWithoutConditions_Rule71: a store that ignores If-None-Match is found out, which is said once for all
// files, and asked right before an object is made: what came meanwhile stays (rule 71).
func TestRealObjectsWithoutConditions_Rule71(t *testing.T) {
	t.Parallel()
	r := newObjectsRig(t)
	m := mirrortest.New(t, mirrortest.Generate(9<<20, 53), mirrortest.Digest())
	var late atomic.Bool
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if s3test.Kind(q) == "part" && strings.HasSuffix(q.URL.Path, "/late") && late.CompareAndSwap(false, true) {
			r.store.Put("x/late", []byte("first"))
		}
		q.Header.Del("If-None-Match")
		q.Header.Del("If-Match")
		s3test.Sign(q)
		store.ServeHTTP(w, q)
	})
	writeFile(t, filepath.Join(r.home, "list"), m.URL+"\n out=a\n"+m.URL+"\n out=late\n"+m.URL+"\n out=b\n")
	out, told := r.run(3, "get", "--to", "s3://bucket/x/", "-i", "list")
	if n := strings.Count(out+told, "ignores If-None-Match"); n != 1 {
		t.Errorf("it is said %d times:\n%s%s", n, out, told)
	}
	if string(r.store.Object("x/late")) != "first" {
		t.Error("the object that came meanwhile was replaced")
	}
	for _, key := range []string{"x/a", "x/b"} {
		if err := m.Content.Compare(bytes.NewReader(r.store.Object(key))); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if keys := strings.Join(r.store.Keys(), " "); keys != "x/a x/a.evidence.json x/b x/b.evidence.json x/late" {
		t.Errorf("in the store: %s", keys)
	}
	out, _ = r.run(0, "get", "--json", "--overwrite", "-o", "s3://bucket/x/late", m.URL)
	if done := objectEvents(t, out, "done"); len(done) != 1 || done[0].Resumed != m.Content.Size() ||
		m.Content.Compare(bytes.NewReader(r.store.Object("x/late"))) != nil {
		t.Errorf("what was kept is not gone on with: %+v", done)
	}
	r.clean()
}

// TestRealObjectsWrong_Rule40: of mirrors that lie, and pieces that nothing names, a wrong file is uploaded. It never
// is an object, and the file is fetched from others, alone (rule 40).
func TestRealObjectsWrong_Rule40(t *testing.T) {
	t.Parallel()
	r := newObjectsRig(t)
	content := mirrortest.Generate(20<<20, 54)
	liar, good := mirrortest.New(t, content, mirrortest.Corrupt(3<<20)), mirrortest.New(t, content,
		mirrortest.Latency(100*time.Millisecond))
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if data := r.store.Object("x/file.bin"); data != nil && content.Compare(bytes.NewReader(data)) != nil {
			t.Error("the wrong file is visible")
		}
		store.ServeHTTP(w, q)
	})
	get := []string{"get", "--json", "--to", "s3://bucket/x/", "--checksum", "sha-256=" + content.Digest().Hex(), liar.URL}
	r.run(11, get...)
	if keys := r.store.Keys(); len(keys) > 0 || r.store.Count("abort", "x/file.bin") == 0 {
		t.Errorf("in the store: %v; %v", keys, r.store.Requests())
	}
	r.clean()
	r.run(0, append(get, "--mirror", good.URL)...)
	r.holds("x/file.bin", content)
	if n := r.store.Count("complete", "x/file.bin"); n != 1 {
		t.Errorf("%d times complete: %v", n, r.store.Requests())
	}
}
