package serve

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"braid/verify"
	"braid/verify/sums"
)

// listed returns the names in a list, in order, and checks that their digests are those of the files in dir.
func listed(t *testing.T, dir, list string) (names []string) {
	t.Helper()
	read, err := sums.Read(sumsName, []byte(list))
	if err != nil {
		t.Fatalf("%v in %q", err, list)
	}
	for e, wrong := range read.Lines() {
		body, err := os.ReadFile(filepath.Join(dir, e.Name))
		if wrong != nil || err != nil {
			t.Fatal(wrong, err)
		}
		if want, _ := sum(t.Context(), strings.NewReader(string(body))); e.Digest != want {
			t.Errorf("%s: %v, want %v", e.Name, e.Digest, want)
		}
		names = append(names, e.Name)
	}
	return names
}

// A list is generated for a folder without SHA256SUMS. It has the folder's own files, and sha256sum accepts it.
func TestSums_V8(t *testing.T) {
	files := map[string]string{
		"d/b.iso": "2", "d/a b*.iso": "1", "d/ä": "", "d/empty": "", "d/b.iso.asc": "x", "d/sub/c": "3", "d/.hidden": "h",
		"d/x.part": "p", "d/-": "stdin", "other/y": "y",
	}
	w := start(t, files, Options{Meta4: true})
	a := w.get("/d/SHA256SUMS")
	dir := filepath.Join(w.dir, "d")
	if got := strings.Join(listed(t, dir, a.body), "|"); a.status != 200 || got != "a b*.iso|b.iso|b.iso.asc|empty|ä" {
		t.Errorf("%d with %q", a.status, got)
	}
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") || a.digest(t).Algorithm() != verify.SHA256 {
		t.Errorf("sent with %v", a.header)
	}
	if page := w.get("/d/").body; !strings.Contains(page, `<a href="SHA256SUMS">SHA256SUMS</a>`+"\n") {
		t.Errorf("the index is %q", page)
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--strict", "-c")
	check.Dir, check.Stdin = dir, strings.NewReader(a.body)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum -c: %v\n%s", err, out)
	}
	n := w.log.count("hashed")
	w.get("/d/b.iso")
	w.get("/d/SHA256SUMS")
	if again := w.log.count("hashed"); n != 5 || again != 0 {
		t.Errorf("hashed %d files, and then %d again", n, again)
	}
	put(t, dir, "b.iso", "new") // without a change of the folder
	listed(t, dir, w.get("/d/SHA256SUMS").body)
}

// There is no list where the folder has one or a signature of one, and none of a folder that is empty, absent or too large.
func TestNoSums(t *testing.T) {
	secret, _ := newKey(t, time.Hour)
	w := start(t, map[string]string{
		"own/SHA256SUMS": "mine", "own/a": "1", "signed/SHA256SUMS.sig": "x", "signed/a": "1", "folder/SHA256SUMS/": "",
		"folder/a":   "1",
		"none/sub/a": "1", "none/.b": "2", "big/": "",
	}, Options{SecretKey: secret})
	w.get("/own/SHA256SUMS").want(t, 200, "mine")
	for _, path := range []string{
		"/signed/SHA256SUMS", "/signed/SHA256SUMS.asc", "/none/SHA256SUMS", "/none/SHA256SUMS.asc", "/absent/SHA256SUMS",
		"/folder/SHA256SUMS.asc", "/own/SHA256SUMS.minisig", "/own/a/SHA256SUMS", "/own/SHA256SUMS/",
	} {
		if a := w.get(path); a.status != 404 {
			t.Errorf("%s: %d %q", path, a.status, clip(a.body))
		}
	}
	for _, folder := range []string{"/own/", "/signed/", "/folder/", "/none/"} {
		if n := strings.Count(w.get(folder).body, `"SHA256SUMS"`); n > 1 || n == 1 && folder != "/own/" {
			t.Errorf("%s: %d times in the index", folder, n)
		}
	}
	big := filepath.Join(w.dir, "big")
	for i := range maxSums + 1 {
		if err := os.WriteFile(filepath.Join(big, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if a := w.get("/big/SHA256SUMS"); a.status != 404 || strings.Contains(w.get("/big/").body, "SHA256SUMS") {
		t.Errorf("of a large folder: %d", a.status)
	}
}

// Proves V8: the generated list is signed.
func TestSumsSigned_V8(t *testing.T) {
	secret, public := newKey(t, time.Hour)
	w := start(t, map[string]string{"a": content, "d/b": content}, Options{SecretKey: secret})
	for _, folder := range []string{"/", "/d/"} {
		list := w.get(folder + "SHA256SUMS")
		if sig := w.get(folder + "SHA256SUMS.asc"); list.status != 200 || sig.status != 200 ||
			!good(t, sig.body, list.body, public) ||
			!strings.Contains(w.get(folder).body, `"SHA256SUMS.asc"`) {
			t.Errorf("%s: %d, signature %d %q", folder, list.status, sig.status, sig.body)
		}
	}
	if a := start(t, map[string]string{"a": content}, Options{}).get("/SHA256SUMS.asc"); a.status != 404 {
		t.Errorf("without a key: %d", a.status)
	}
}

// A list whose files are not hashed in time is refused for now (V9). The file that is being hashed is finished for the
// next request.
func TestSumsLater_V9(t *testing.T) {
	dir, release := t.TempDir(), make(chan bool)
	put(t, dir, "a", content)
	put(t, dir, "b", content)
	w := open(t, dir, Options{}, func(s *Server) {
		s.sumsTime = time.Millisecond
		s.digests.sum = func(ctx context.Context, r io.Reader) (verify.Digest, error) {
			<-release
			return sum(ctx, r)
		}
	})
	if a := w.get("/SHA256SUMS"); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", a.status, a.header)
	}
	close(release)
	w.s.sumsTime = time.Minute
	if got := listed(t, dir, w.get("/SHA256SUMS").body); len(got) != 2 {
		t.Errorf("then of %q", got)
	}
}
