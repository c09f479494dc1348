package download_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/source/httpsource"
)

// check verifies a file of the folder on disk with its torrent.
func (f folder) check(t *testing.T, dir, name string, seeds ...string) (download.Verdict, error) {
	t.Helper()
	d := readTorrent(t, f.torrent(seeds...))
	meant, err := d.FileAt(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t, "http://unused.example/")
	r.req.URL, r.req.Dir, r.req.Name = nil, dir, name
	if r.req, err = d.Describe(meant, r.req); err != nil {
		t.Fatal(err)
	}
	return r.client.Verify(t.Context(), r.req)
}

// A file on disk that shares pieces of a torrent with others is checked with the bytes of those beside it.
// Without them, the result states which bytes were not checked, and proves nothing. Proves rule 43.
func TestVerifySharedPieces_Rule43(t *testing.T) {
	t.Parallel()
	f := folder{names: []string{"a", "b", "c", "d"}, sizes: []int64{piece + 100, 300, 2*piece + 7, 2 * piece}}
	begins := map[string]int64{}
	for i, n := range f.sizes {
		begins[f.names[i]] = int64(len(f.data))
		f.data = append(f.data, made(n, uint64(n))...)
	}
	seed := f.serve(t)
	// put makes the folder, without some of its files and with a wrong byte at some offsets.
	put := func(t *testing.T, without string, wrong ...int64) string {
		dir := filepath.Join(t.TempDir(), "root")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		data := bytes.Clone(f.data)
		for _, at := range wrong {
			data[at] ^= 1
		}
		for i, name := range f.names {
			if at := begins[name]; !strings.Contains(without, name) {
				if err := os.WriteFile(filepath.Join(dir, name), data[at:at+f.sizes[i]], 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		return dir
	}
	kind := func(err error) download.Kind {
		e, _ := errors.AsType[*download.Error](err)
		if e == nil {
			return download.Other
		}
		return e.Kind
	}
	for i, name := range f.names {
		if v, err := f.check(t, put(t, ""), name); err != nil || !v.Proof.ByPieces() || v.Damaged.Count() > 0 {
			t.Errorf("%s: %v, %v, damaged %v", name, v.Proof, err, v.Damaged)
		}
		for _, at := range []int64{0, f.sizes[i] / 2, f.sizes[i] - 1} {
			dir := put(t, "", begins[name]+at)
			v, err := f.check(t, dir, name, seed)
			if kind(err) != download.Mismatch || v.Proof.Valid() || v.Damaged.FirstGap(at) == at {
				t.Errorf("%s, byte %d: %v, %v, damaged %v", name, at, v.Proof, err, v.Damaged)
			}
			f.mends(t, v, begins[name], f.sizes[i])
		}
	}
	for name, tt := range map[string]struct {
		inside int64 // an offset in a piece that is not shared; 0: it has none
		want   string
	}{
		"a": {1, "bytes 262144-262243 were not checked: their pieces in x.torrent also cover root/b, which is not " +
			"beside this file"},
		"b": {0, "bytes 0-299 were not checked"},
		"c": {261750, "bytes 0-261743,523888-524294 were not checked"},
		"d": {261750, "bytes 0-261736 were not checked"},
	} {
		without := strings.Replace("abcd", name, "", 1)
		v, err := f.check(t, put(t, without), name)
		if kind(err) != download.NoEvidence || v.Proof.Valid() || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s alone: %v, %v, want %q", name, v.Proof, err, tt.want)
		}
		if tt.inside == 0 {
			continue
		}
		v, err = f.check(t, put(t, without, begins[name]+tt.inside), name, seed)
		if kind(err) != download.Mismatch || v.Damaged.Count() != 1 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s alone and damaged: %v, damaged %v", name, err, v.Damaged)
		}
		f.mends(t, v, begins[name], f.sizes[slices.Index(f.names, name)])
	}
	// a byte of the neighbour is wrong, and one of its own
	v, err := f.check(t, put(t, "", 5, begins["b"]), "a", seed)
	if kind(err) != download.Mismatch || v.Damaged.String() != "0-262243" {
		t.Errorf("beside a damaged one: %v, damaged %v", err, v.Damaged)
	}
	f.mends(t, v, 0, f.sizes[0])
	if _, err := f.check(t, put(t, "", begins["b"]), "a"); !strings.Contains(fmt.Sprint(err),
		"possibly root/b or root/c beside it is damaged instead") {
		t.Errorf("beside a damaged one: %v", err)
	}
	short := put(t, "")
	if err := os.Truncate(filepath.Join(short, "b"), 299); err != nil {
		t.Fatal(err)
	}
	if _, err := f.check(t, short, "a"); kind(err) != download.NoEvidence {
		t.Errorf("beside one that is cut off: %v", err)
	}
}

// mends replaces the file with the right one.
func (f folder) mends(t *testing.T, v download.Verdict, at, size int64) {
	t.Helper()
	client := download.Client{HTTP: &httpsource.Client{}}
	defer client.HTTP.CloseIdle()
	_, err := client.Repair(t.Context(), v, nil)
	if got, failed := os.ReadFile(v.Path); err != nil || failed != nil || !bytes.Equal(got, f.data[at:at+size]) {
		t.Errorf("%s is not mended: %v, %v", v.Path, err, failed)
	}
}
