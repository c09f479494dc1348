//go:build realservers

package e2e

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"braid/serve"
	"braid/verify/openpgp"
)

// TestRealRecipes runs what stands in doc/recipes.md, as it stands there. The names of its examples are those of servers behind
// a proxy, which the command finds in its environment.
func TestRealRecipes(t *testing.T) {
	t.Parallel()
	page := readFile(t, filepath.Join("doc", "recipes.md"))
	world := newWorld(t)
	for _, section := range strings.Split(page, "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		t.Run(strings.ReplaceAll(name, "`", ""), func(t *testing.T) {
			script, wants := blocks(text)
			if script == "" {
				t.Fatal("a recipe without commands")
			}
			out := world.run(t, script, name == recipeOfPublishers || name == recipeOfKernel)
			for _, want := range wants {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

var fenced = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

// blocks are the commands of a section, and the lines that they shall print.
func blocks(text string) (script string, wants []string) {
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		if m[1] == "sh" {
			script += m[2]
		} else {
			wants = append(wants, strings.Split(strings.TrimSpace(m[2]), "\n")...)
		}
	}
	return script, wants
}

// A world is what there is beyond the proxy.
type world struct {
	proxy     string // URL
	authority string // file
	hosts     map[string]http.Handler
	tunnels   chan net.Conn
	config    *tls.Config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pub := publicFolder(t)
	addDistributions(t, pub)
	mirrors, err := serve.ParseMirrors(strings.NewReader("https://mirror.example.net/\nhttps://mirror2.example.net/\n"))
	if err != nil {
		t.Fatal(err)
	}
	folder := func(o serve.Options) http.Handler {
		s, err := serve.New(pub, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	w := &world{tunnels: make(chan net.Conn), hosts: map[string]http.Handler{
		"example.org": folder(serve.Options{Mirrors: mirrors}), "mirror.example.net": folder(serve.Options{}),
		"mirror2.example.net": folder(serve.Options{}), "antenna.example.org": http.HandlerFunc(antennaFeed),
		"hub.example.org": http.HandlerFunc(hub), "cdn.example.net": http.HandlerFunc(weights),
		"api.example.org": http.HandlerFunc(forge),
		"go.example.org":  toolchains(t), "kernel.example.org": kernels(t),
	}}
	for host, h := range publishers() {
		w.hosts[host] = h
	}
	w.certify(t)
	beyond := httptest.NewUnstartedServer(http.HandlerFunc(w.answer))
	beyond.Listener.Close()
	beyond.Listener = &tunnelListener{w.tunnels, t.Context().Done()}
	beyond.Start()
	proxy := httptest.NewServer(http.HandlerFunc(w.connect))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close(); beyond.CloseClientConnections(); beyond.Close() })
	w.proxy = proxy.URL
	return w
}

// publicFolder has the files of the recipes.
func publicFolder(t *testing.T) string {
	t.Helper()
	dir := publicDir(t)
	pub := filepath.Join(dir, "pub")
	if err := os.Mkdir(pub, 0o755); err != nil {
		t.Fatal(err)
	}
	list := ""
	for name, body := range map[string]string{
		"hello.txt": "hello world", "disk.iso": strings.Repeat("disk ", 400_000),
		"tool.tar": strings.Repeat("tool ", 10_000), "release.tar": strings.Repeat("release ", 10_000),
	} {
		writeFile(t, filepath.Join(pub, name), body)
		list += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(body)), name)
	}
	writeFile(t, filepath.Join(pub, "SHA256SUMS"), list)
	secret := readFile(t, filepath.Join("testdata", "recipes", "release-key.secret.asc"))
	for _, name := range []string{"release.tar", "SHA256SUMS"} {
		signature, err := openpgp.Sign(strings.NewReader(readFile(t, filepath.Join(pub, name))), []byte(secret), nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(pub, name+".asc"), string(signature))
	}
	return dir
}

// antennaFeed says that the disk has changed lately.
func antennaFeed(w http.ResponseWriter, _ *http.Request) {
	now := time.Now().Unix()
	fmt.Fprintf(w, "LIRS,%d,%d,0,0,https://example.org/pub/disk.iso,disk,me,https://antenna.example.org/,\n", now-600, now-60)
}

// certify makes an authority, and one certificate for all hosts.
func (w *world) certify(t *testing.T) {
	t.Helper()
	authority, leaf := templates()
	authorityKey, leafKey := newKey(t), newKey(t)
	for host := range w.hosts {
		leaf.DNSNames = append(leaf.DNSNames, host)
	}
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, &leafKey.PublicKey, authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	w.authority = filepath.Join(t.TempDir(), "authority.pem")
	writePEM(t, w.authority, "CERTIFICATE", root)
	w.config = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: leafKey}}}
}

// answer is that of the host that is asked.
func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	host, ok := w.hosts[r.Host]
	if !ok {
		http.Error(rw, "no such host", http.StatusBadGateway)
		return
	}
	host.ServeHTTP(rw, r)
}

// connect is the proxy.
func (w *world) connect(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		w.answer(rw, r)
		return
	}
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		conn.Close()
		return
	}
	select {
	case w.tunnels <- tls.Server(conn, w.config):
	case <-time.After(2 * time.Minute):
		conn.Close()
	}
}

// A tunnelListener accepts what comes through tunnels.
type tunnelListener struct {
	tunnels chan net.Conn
	done    <-chan struct{}
}

func (l *tunnelListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.tunnels:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *tunnelListener) Close() error   { return nil }
func (l *tunnelListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// run runs a script in a folder of its own, as somebody with a home of his own. Digests are looked for if looks is set.
func (w *world) run(t *testing.T, script string, looks bool) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "release-key.asc"), readFile(t, filepath.Join("testdata", "recipes", "release-key.asc")))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if os.Getuid() != 0 { // pacman wants to be root, and is in a namespace of its own
		script = "pacman() { unshare --map-root-user pacman \"$@\"; }\n" + script
	}
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	cmd.Env = []string{
		"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, ".home"), "LC_ALL=C.UTF-8",
		"https_proxy=" + w.proxy, "http_proxy=" + w.proxy, "SSL_CERT_FILE=" + w.authority,
		fmt.Sprint("BRAID_NO_LOOKUP=", !looks),
	}
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) } // what it has started, too
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
