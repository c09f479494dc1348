package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"braid/internal/listen"
)

// A lockedBuffer is written by the command and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var servedAt = regexp.MustCompile(`^serving \S+ at (http://127\.0\.0\.1:\d+/)\n`)

// serveFolder runs "braid serve" on a free port; the function it returns ends it and gives its exit code.
func serveFolder(t *testing.T, words ...string) (address string, stderr *lockedBuffer, end func() int) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs lockedBuffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"braid", "serve", "--listen", "127.0.0.1:0"}, words...), streams{out: &out, err: &errs})
	}()
	waitFor(t, "address", func() bool { return servedAt.MatchString(out.String()) })
	return servedAt.FindStringSubmatch(out.String())[1], &errs, func() int {
		cancel()
		return <-code
	}
}

func TestServe(t *testing.T) {
	dir, list := t.TempDir(), filepath.Join(t.TempDir(), "mirrors")
	for name, data := range map[string]string{filepath.Join(dir, "a.iso"): "abc", list: "# ours\n\nhttp://m2/;pri=2\n"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address, stderr, end := serveFolder(t, "-v", "--mirror", "http://m1/;pri=1;geo=de;pref", "--mirrors", list,
		"--max-links=2", "--limit-rate", "2M", dir)
	answer, err := http.Get(address + "a.iso")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	links := strings.Join(answer.Header["Link"], "\n")
	if string(body) != "abc" || !strings.Contains(links, "<http://m1/a.iso>") || !strings.Contains(links, "<http://m2/a.iso>") {
		t.Errorf("%q with %v", body, answer.Header)
	}
	waitFor(t, "log", func() bool { return strings.Contains(stderr.String(), "path=/a.iso status=200") })
	http.DefaultClient.CloseIdleConnections()
	if code := end(); code != exitDone {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if files, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "braid",
		"digests-????????????????")); len(files) != 1 {
		t.Errorf("the digests are remembered in %q", files)
	}
}

// TestServeSums: a client that receives no Digest finds the generated list beside the file.
func TestServeSums_Rule77(t *testing.T) {
	t.Setenv("BRAID_NO_LOOKUP", "false")
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "a.iso")
	if err := os.WriteFile(filepath.Join(dir, "a.iso"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	address, _, end := serveFolder(t, dir)
	defer end()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) },
		ModifyResponse: func(r *http.Response) error {
			for _, field := range []string{"Digest", "Repr-Digest", "Link"} {
				r.Header.Del(field)
			}
			return nil
		},
	}
	front := httptest.NewServer(proxy)
	defer front.Close()
	defer http.DefaultClient.CloseIdleConnections()
	code, _, stderr := command(t, "get", "-o", file, front.URL+"/a.iso")
	if code != exitDone || !strings.Contains(stderr, "sha-256 from SHA256SUMS beside it over http") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// TestServeQuiet: without -v only the address is said.
func TestServeQuiet(t *testing.T) {
	address, stderr, end := serveFolder(t, t.TempDir())
	if answer, err := http.Get(address + "nothing"); err != nil || answer.StatusCode != http.StatusNotFound {
		t.Errorf("%v, %v", answer, err)
	}
	http.DefaultClient.CloseIdleConnections()
	if code := end(); code != exitDone || stderr.String() != "" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestServeFails(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	dir := t.TempDir()
	for _, tt := range []struct {
		words []string
		code  int
		want  string
	}{
		{[]string{dir + "/missing"}, exitLocal, "braid: serve " + dir + "/missing: no such file or directory\n"},
		{[]string{"--listen", busy.Addr().String(), dir}, exitOther,
			"braid: listen " + busy.Addr().String() + ": bind: address already in use (choose another address with " +
				"--listen ADDRESS)\n"},
		{[]string{"--listen", "nowhere", dir}, exitUsage, "is not an address to listen on"},
		{[]string{"--mirror", "http://me:s3cret@h/", dir}, exitUsage, "user name"},
		{[]string{"--mirror-of", "http://me:s3cret@h/%zz", dir}, exitUsage, "not a URL"},
		{[]string{"--mirror-of", "http://h/", "--mirror", "http://h/", dir}, exitUsage, "cannot name mirrors"},
	} {
		code, out, err := command(t, append([]string{"serve"}, tt.words...)...)
		if code != tt.code || out != "" || !strings.HasPrefix(err, "braid: ") || !strings.Contains(err, tt.want) ||
			strings.Contains(err, "s3cret") {
			t.Errorf("%q: exit code %d, %q, %q", tt.words, code, out, err)
		}
	}
}

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:80": "http://127.0.0.1:80/", "0.0.0.0:8080": "http://localhost:8080/",
		"[::]:1": "http://localhost:1/", "[::1]:1": "http://[::1]:1/",
	} {
		addr, err := net.ResolveTCPAddr("tcp", in)
		if err != nil {
			t.Fatal(err)
		}
		if got := listen.URL("http", addr); got != want {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}

func TestCacheFile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	a, err := cacheFile("/srv/a")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := cacheFile("/srv/b")
	again, _ := cacheFile("/srv/../srv/a/")
	if a == b || a != again {
		t.Errorf("%s, %s, %s", a, b, again)
	}
}
