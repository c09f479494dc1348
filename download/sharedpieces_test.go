package download_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// A folder has the files of a torrent as a web seed has them: by name, one after another.
type folder struct {
	names []string
	sizes []int64
	data  []byte
}

// serve starts a web seed with files that differ from the torrent's at some offsets.
func (f folder) serve(t *testing.T, wrong ...int64) string {
	data := bytes.Clone(f.data)
	for _, off := range wrong {
		data[off] ^= 1
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := int64(0)
		for i, name := range f.names {
			if r.URL.Path == "/root/"+name {
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data[at:at+f.sizes[i]]))
				return
			}
			at += f.sizes[i]
		}
		http.NotFound(w, r)
	})
	s := mirrortest.New(t, []byte{}, mirrortest.Handler(h))
	return "http://" + s.Addr + "/"
}

// torrent returns the torrent of the folder.
func (f folder) torrent(seeds ...string) []byte {
	m := verify.NewPieceMaker(verify.SHA1, piece)
	m.Write(f.data)
	var sums, list, urls strings.Builder
	for i := range m.Pieces().Count() {
		sums.Write(m.Pieces().Digest(i).Bytes())
	}
	for i, name := range f.names {
		fmt.Fprintf(&list, "d6:lengthi%de4:pathl%d:%see", f.sizes[i], len(name), name)
	}
	for _, u := range seeds {
		fmt.Fprintf(&urls, "%d:%s", len(u), u)
	}
	return fmt.Appendf(nil, "d4:infod5:filesl%se4:name4:root12:piece lengthi%de6:pieces%d:%se8:url-listl%see",
		list.String(), piece, sums.Len(), sums.String(), urls.String())
}

// get downloads a file of the torrent into a new folder.
func (f folder) get(t *testing.T, name string, seeds ...string) (*run, download.Result, error) {
	t.Helper()
	d := readTorrent(t, f.torrent(seeds...))
	chosen, err := d.Choose([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t, seeds[0])
	r.req.URL = nil
	if r.req, err = d.Request(d.Files.At(chosen[0]), r.req); err != nil {
		t.Fatal(err)
	}
	res, err := r.client.Get(t.Context(), r.req)
	return r, res, err
}

// Every piece of a torrent of several files is checked, those at the ends of a file with the neighbours'
// bytes. If a web seed has wrong bytes, another's are used or the file gets no name. Proves rule 43.
func TestPiecesThatFilesShare_Rule43(t *testing.T) {
	t.Parallel()
	f := folder{names: []string{"a", "b", "c", "d"}, sizes: []int64{piece + 100, 300, 2*piece + 7, 2 * piece}}
	for _, n := range f.sizes {
		f.data = append(f.data, made(n, uint64(n))...)
	}
	good := f.serve(t)
	begins := map[string]int64{"a": 0, "b": piece + 100, "c": piece + 400, "d": 3*piece + 407}
	for i, name := range f.names {
		start, end := begins[name], begins[name]+f.sizes[i]
		for what, wrong := range map[string][]int64{
			"nothing": nil, "first byte": {start}, "last byte": {end - 1}, "well inside": {start + f.sizes[i]/2},
			"before it": {max(0, start-1)}, "behind it": {min(end, int64(len(f.data))-1)},
		} {
			bad := f.serve(t, wrong...)
			r, res, err := f.get(t, name, bad, good)
			if err != nil {
				t.Fatalf("%s, %s wrong: %v", name, what, err)
			}
			checkedOnly(t, res, byTorrent)
			if got, err := os.ReadFile(res.Path); err != nil || !bytes.Equal(got, f.data[start:end]) {
				t.Errorf("%s, %s wrong: the file is wrong, %v", name, what, err)
			}
			if again, err := r.client.Get(t.Context(), r.req); err != nil || !again.AlreadyComplete {
				t.Errorf("%s: once more: %+v, %v", name, again, err)
			}
			if wrong == nil || what == "before it" && start == 0 {
				continue
			}
			r, _, err = f.get(t, name, bad)
			if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Mismatch {
				t.Errorf("%s, %s wrong, and nobody else: %v", name, what, err)
			}
			if _, err := os.Stat(r.dir + "/root/" + name); err == nil {
				t.Errorf("%s, %s wrong, and nobody else: it exists", name, what)
			}
		}
	}
}

// A piece that many files share is not fetched for one of them: each would be a request to each web seed.
// Only a few web seeds are asked for one.
func TestPieceOfManyFiles_Rule43(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]int{1000: 0, 20: 8 * 21} {
		f := folder{data: made(int64(n)*10, 3)}
		for i := range n {
			f.names, f.sizes = append(f.names, fmt.Sprintf("f%d", i)), append(f.sizes, 10)
		}
		asked := atomic.Int32{}
		counted := mirrortest.New(t, []byte{}, mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := f.data[:10]
			if asked.Add(1)%2 == 0 {
				b = f.data[10:20]
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
		})))
		var seeds []string
		for i := range 30 {
			seeds = append(seeds, fmt.Sprintf("http://%s/%d/", counted.Addr, i))
		}
		_, _, err := f.get(t, "f7", seeds...)
		e, ok := errors.AsType[*download.Error](err)
		if most == 0 && (!ok || e.Kind != download.NoEvidence || !strings.Contains(e.Error(), "200 files")) {
			t.Errorf("%d files: %v", n, err)
		}
		if got := int(asked.Load()); err == nil || got > most {
			t.Errorf("%d files: %v after %d requests", n, err, got)
		}
	}
}

// Right parts of two web seeds are combined.
func TestEdgesOfTwoSeeds_Rule43(t *testing.T) {
	t.Parallel()
	f := folder{names: []string{"a", "b"}, sizes: []int64{piece/2 + 1, piece}, data: made(piece+piece/2+1, 3)}
	_, res, err := f.get(t, "b", f.serve(t, 5), f.serve(t, piece-1, piece+5))
	if err != nil {
		t.Fatal(err)
	}
	checkedOnly(t, res, byTorrent)
}

// A plan of a file that shares pieces shows them as the download would use them. It fetches none of them,
// even if a web seed is wrong or silent. If a file of that name may be the right one, the plan ends as the
// download would. Proves rule 43.
func TestPlanSharedPieces_Rule43(t *testing.T) {
	t.Parallel()
	f := folder{names: []string{"a", "b"}, sizes: []int64{piece + 100, piece}}
	for _, n := range f.sizes {
		f.data = append(f.data, made(n, uint64(n))...)
	}
	var asked atomic.Int64
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	}))
	defer silent.Close()
	for what, seed := range map[string]string{"right": f.serve(t), "wrong": f.serve(t, piece+101), "silent": silent.URL + "/"} {
		d := readTorrent(t, f.torrent(seed))
		chosen, err := d.Choose([]string{"a"})
		if err != nil {
			t.Fatal(err)
		}
		r := newRun(t, seed)
		r.req.URL = nil
		if r.req, err = d.Request(d.Files.At(chosen[0]), r.req); err != nil {
			t.Fatal(err)
		}
		if h, err := r.plan(); err != nil || h.Pieces == "" || h.File.BestPieces().Count() != 2 {
			t.Errorf("%s: pieces %q of %d, %v", what, h.Pieces, h.File.BestPieces().Count(), err)
		}
		if what == "silent" {
			continue
		}
		path, err := r.req.Path()
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.data[:f.sizes[0]], 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
		if h, err := r.plan(); (err == nil && h.Done != nil) != (what == "right") {
			t.Errorf("%s, and the file is there: %v", what, err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("a silent web seed was asked %d times", n)
	}
}

// A web seed that drips has one time limit for all parts of a shared piece, and is asked last for the next
// one: the others wait for it. Proves rules 21 and 43.
func TestPieceOfDrippingSeed_Rule21_Rule43(t *testing.T) {
	t.Parallel()
	f := folder{}
	for i := range 20 { // in two pieces: the middle file has a part of both
		f.names, f.sizes = append(f.names, fmt.Sprintf("f%d", i)), append(f.sizes, piece/10)
	}
	f.sizes[9] += 100
	f.data = made(20*(piece/10)+100, 3)
	asked := atomic.Int32{} // for neighbours
	drips := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/root/f9" {
			asked.Add(1)
		}
		var start, end int64
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &start, &end)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, end, piece/10))
		w.WriteHeader(http.StatusPartialContent)
		for r.Context().Err() == nil {
			w.Write([]byte{0})
			http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond) // it drips
		}
	}))
	t.Cleanup(drips.Close)
	d := readTorrent(t, f.torrent(drips.URL+"/", f.serve(t)))
	chosen, err := d.Choose([]string{"f9"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t, "http://unused.example/")
	r.client.Timeout, r.req.URL = 10*time.Second, nil
	if r.req, err = d.Request(d.Files.At(chosen[0]), r.req); err != nil {
		t.Fatal(err)
	}
	res, err := r.client.Get(t.Context(), r.req)
	if err != nil {
		t.Fatal(err)
	}
	checkedOnly(t, res, byTorrent)
	if n := asked.Load(); n > 1 {
		t.Errorf("the seed that drips was asked for %d neighbours", n)
	}
}
