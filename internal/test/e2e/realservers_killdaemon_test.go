//go:build realservers

package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRealKillDaemon kills braid daemon without warning, at random moments, while files are added to its queue and
// come: small ones, with and without digests, and large ones. After all of it each download that was accepted is
// complete and right, under its own name, and none was fetched once more after it was reported complete.
func TestRealKillDaemon(t *testing.T) {
	besideOthers(t)
	rounds := killRounds(t, 20)
	k := newKilledDaemon(t)
	for round := range rounds {
		k.start()
		k.look()
		var adding sync.WaitGroup
		adding.Go(func() {
			if round%10 == 0 {
				k.add(8<<20, 1_000_000+round)
			}
			for i := range 3 {
				k.add(2000+rand.IntN(100_000), round*3+i)
			}
		})
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) // when it is killed
		k.kill()
		adding.Wait()
	}
	k.start()
	for end := time.Now().Add(3 * time.Minute); !k.look(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not complete:\n%s", k.log)
		}
	}
	k.cmd.Process.Signal(os.Interrupt) // so that it puts everything in order
	if err := k.cmd.Wait(); err != nil {
		t.Error(err)
	}
	wrong, lost := k.wrong(), k.again
	for _, err := range append(wrong, lost...) {
		t.Error(err)
	}
	tally(t, "daemon", rounds, len(wrong), len(lost))
}

// A killedDaemon is a daemon, and what it was told to download.
type killedDaemon struct {
	t           *testing.T
	server      *httptest.Server
	files, root string
	cmd         *exec.Cmd
	log         *bytes.Buffer
	url, token  string
	paths       map[string]string // of the server, by GID
	accepted    map[string]bool   // by GID: the daemon said so
	stopped     int               // entries
	again       []error           // what was fetched after it was complete

	mu       sync.Mutex
	sent     map[string]int64 // bytes of bodies, by path
	sending  map[string]int   // how many answers are not over
	complete map[string]bool  // the file was said to be complete
	// how many bytes were sent then; what was not over goes on for a moment when nobody reads it any more
	ended map[string]int64
}

func newKilledDaemon(t *testing.T) *killedDaemon {
	k := &killedDaemon{
		t: t, files: t.TempDir(), root: t.TempDir(), log: &bytes.Buffer{}, paths: map[string]string{},
		accepted: map[string]bool{}, sent: map[string]int64{}, sending: map[string]int{}, complete: map[string]bool{},
		ended: map[string]int64{},
	}
	k.server = httptest.NewServer(http.HandlerFunc(k.serve))
	t.Cleanup(k.server.Close)
	t.Cleanup(k.kill)
	return k
}

// content is the file at a path: /SIZE/NUMBER.
func content(path string) []byte {
	size := 0
	fmt.Sscanf(path, "/%d/", &size)
	data := make([]byte, size)
	rand.NewChaCha8(sha256.Sum256([]byte(path))).Read(data)
	return data
}

// serve sends a file slowly. Every other one has a digest.
func (k *killedDaemon) serve(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	k.sending[r.URL.Path]++
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.sending[r.URL.Path]--
		k.mu.Unlock()
	}()
	data := content(r.URL.Path)
	if sum := sha256.Sum256(data); sum[0]%2 == 0 {
		w.Header().Set("Digest", "sha-256="+base64.StdEncoding.EncodeToString(sum[:]))
	}
	w.Header().Set("ETag", `"1"`)
	time.Sleep(10 * time.Millisecond) // the way to the server
	http.ServeContent(&slowBody{w, k, r}, r, "", time.Time{}, bytes.NewReader(data))
}

type slowBody struct {
	http.ResponseWriter
	k *killedDaemon
	r *http.Request
}

func (b *slowBody) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		part := p[:min(len(p), 32<<10)]
		b.k.mu.Lock()
		b.k.sent[b.r.URL.Path] += int64(len(part)) // before the daemon can have it
		b.k.mu.Unlock()
		var m int
		m, err = b.ResponseWriter.Write(part)
		b.ResponseWriter.(http.Flusher).Flush()
		n, p = n+m, p[m:]
		time.Sleep(10 * time.Millisecond) // some 3 MiB/s
	}
	return n, err
}

var daemonReady = regexp.MustCompile(`rpc=(\S+)`)

func (k *killedDaemon) start() {
	k.t.Helper()
	state := filepath.Join(k.root, "state")
	k.cmd = exec.Command(binary, "daemon", "-d", k.files, "--state", state, "--rpc-listen-port", "0")
	k.cmd.Env = append(os.Environ(), "HOME="+k.root, "XDG_STATE_HOME=", "BRAID_BITTORRENT=off")
	out, err := k.cmd.StderrPipe()
	if err == nil {
		err = k.cmd.Start()
	}
	if err != nil {
		k.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for k.url = ""; k.url == "" && lines.Scan(); {
		fmt.Fprintln(k.log, lines.Text())
		if found := daemonReady.FindStringSubmatch(lines.Text()); found != nil {
			k.url = found[1]
		}
	}
	if k.url == "" {
		k.t.Fatalf("it does not begin:\n%s", k.log)
	}
	go io.Copy(io.Discard, out)
	token, err := os.ReadFile(filepath.Join(state, "token"))
	if err != nil {
		k.t.Fatal(err)
	}
	k.token = strings.TrimSpace(string(token))
}

func (k *killedDaemon) kill() {
	k.cmd.Process.Kill()
	k.cmd.Wait()
}

// call calls a method. The error is that of the connection, or the server's.
func (k *killedDaemon) call(result any, method string, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method,
		"params": append([]any{"token:" + k.token}, params...)})
	if err != nil {
		return err
	}
	resp, err := http.Post(k.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Result any
		Error  *struct{ Message string }
	}{Result: result}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return errors.New(answer.Error.Message)
	}
	return nil
}

// add adds a file. The daemon may be killed meanwhile: only what it has accepted must come.
func (k *killedDaemon) add(size, number int) {
	gid, path := fmt.Sprintf("%016x", number+1), fmt.Sprintf("/%d/%d", size, number)
	k.paths[gid] = path
	if err := k.call(new(string), "aria2.addUri", []string{k.server.URL + path}, map[string]string{"gid": gid}); err == nil {
		k.accepted[gid] = true
	}
}

// look asks what is complete, and reports whether everything is.
func (k *killedDaemon) look() bool {
	k.t.Helper()
	var stat struct{ NumActive, NumWaiting string }
	if err := k.call(&stat, "aria2.getGlobalStat"); err != nil { // first: what is over by now is among those that are listed next
		k.t.Fatal(err)
	}
	var stopped []struct{ GID, Status, ErrorMessage string }
	if err := k.call(&stopped, "aria2.tellStopped", 0, 10_000, []string{"gid", "status", "errorMessage"}); err != nil {
		k.t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range stopped {
		path := k.paths[e.GID]
		if e.Status != "complete" || path == "" {
			k.t.Fatalf("%s of %s: %s: %s", e.GID, path, e.Status, e.ErrorMessage)
		}
		k.complete[path] = true
		n, known := k.ended[path]
		switch {
		case !known && k.sending[path] == 0:
			k.ended[path] = k.sent[path]
		case known && k.sent[path] > n:
			k.again = append(k.again, fmt.Errorf("%s: %d bytes were sent when it was complete, and %d now", path, n,
				k.sent[path]))
			k.ended[path] = k.sent[path]
		}
	}
	k.stopped = len(stopped)
	return stat.NumActive == "0" && stat.NumWaiting == "0"
}

// wrong is what is not as it should be in the end.
func (k *killedDaemon) wrong() (errs []error) {
	for gid, path := range k.paths {
		if !k.complete[path] {
			if k.accepted[gid] {
				errs = append(errs, fmt.Errorf("%s was accepted, and is lost", path))
			}
			continue
		}
		name := filepath.Join(k.files, filepath.Base(path))
		data, err := os.ReadFile(name)
		if err == nil && !bytes.Equal(data, content(path)) {
			err = fmt.Errorf("%s: another file", name)
		}
		if err != nil {
			errs = append(errs, err)
		}
		if n := k.sent[path]; n >= 2*int64(len(data)) && len(data) > 256<<10 {
			errs = append(errs, fmt.Errorf("%s: %d bytes were sent for %d", path, n, len(data)))
		}
	}
	entries, err := os.ReadDir(k.files)
	if err != nil || len(entries) != k.stopped {
		errs = append(errs, fmt.Errorf("there are %d files for %d downloads (%v): %v", len(entries), k.stopped, err, entries))
	}
	return errs
}
