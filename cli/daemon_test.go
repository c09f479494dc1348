package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/metalink"
)

// A daemonRun is a daemon that runs, with a root and a state of the test.
type daemonRun struct {
	t           *testing.T
	root, state string
	log         *lockedBuffer
	url, token  string
	end         func() int
}

func newDaemonRun(t *testing.T) *daemonRun {
	t.Setenv("HOME", t.TempDir())
	return &daemonRun{t: t, root: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
}

var readyLine = regexp.MustCompile(`rpc=(http\S+)`)

// start begins it, and waits until it answers.
func (d *daemonRun) start(words ...string) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	d.log = &lockedBuffer{}
	code := make(chan int, 1)
	args := append([]string{"braid", "daemon", "-d", d.root, "--state", d.state, "--rpc-listen-port", "0"}, words...)
	go func() { code <- run(ctx, args, streams{out: io.Discard, err: d.log}) }()
	ended := false
	d.end = func() int {
		if cancel(); ended {
			return -1
		}
		ended = true
		return <-code
	}
	d.t.Cleanup(func() { d.end() })
	waitFor(d.t, "the daemon", func() bool { return readyLine.MatchString(d.log.String()) })
	d.url = readyLine.FindStringSubmatch(d.log.String())[1]
	_, word, _ := command(d.t, "daemon", "token", "--state", d.state)
	d.token = strings.TrimSpace(word)
}

// call calls a method, and returns its result, or the message of the error.
func (d *daemonRun) call(method string, params ...any) (result any, failure string) {
	d.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "1", "method": method,
		"params": append([]any{"token:" + d.token}, params...)})
	if err != nil {
		d.t.Fatal(err)
	}
	resp, err := http.Post(d.url, "application/json", bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Result any
		Error  struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		d.t.Fatal(err)
	}
	return answer.Result, answer.Error.Message
}

// status waits until an entry has stopped, and returns what is told of it.
func (d *daemonRun) status(gid any) map[string]any {
	d.t.Helper()
	var status map[string]any
	waitFor(d.t, fmt.Sprint("the end of ", gid), func() bool {
		result, failure := d.call("aria2.tellStatus", gid)
		status, _ = result.(map[string]any)
		return failure == "" && (status["status"] == "complete" || status["status"] == "error")
	})
	return status
}

func (d *daemonRun) add(url string, options map[string]string) any {
	d.t.Helper()
	gid, failure := d.call("aria2.addUri", []string{url}, options)
	if failure != "" {
		d.t.Fatal(failure)
	}
	return gid
}

// TestDaemon: what clients add comes below the root, by the options of lists, and the queue is there after a restart.
func TestDaemon(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`), mirrortest.Digest())
	d := newDaemonRun(t)
	d.start()
	first := d.add(s.URL, map[string]string{})
	below := d.add(s.URL, map[string]string{"dir": filepath.Join(d.root, "x", "y"), "out": "z/b.iso",
		"header": "X-One: 1\nX-Two: 2"})
	wrong := d.add(s.URL, map[string]string{"out": "c.iso", "checksum": "sha-256=" + strings.Repeat("0", 64)})
	if _, failure := d.call("aria2.addUri", []string{s.URL},
		map[string]string{"all-proxy": "http://127.0.0.1:1"}); !strings.Contains(failure, "all use the proxies of the daemon") {
		t.Errorf("a proxy for one download: %q", failure)
	}
	if err := os.MkdirAll(filepath.Join(d.root, "taken.iso"), 0o700); err != nil {
		t.Fatal(err)
	}
	beside := d.add(s.URL, map[string]string{"out": "taken.iso"})
	folder := d.add(s.URL, map[string]string{"out": "taken.iso", "allow-overwrite": "true"})
	d.status(first)
	through := d.add(s.URL, map[string]string{"out": "x.iso", "dir": filepath.Join(d.root, "a.iso", "y")})
	for gid, want := range map[any]string{beside: "complete", folder: "error 16", through: "error 16",
		first: "complete", below: "complete", wrong: "error 32"} {
		status := d.status(gid)
		if got := fmt.Sprint(status["status"], " ", status["errorCode"]); strings.TrimSuffix(got, " 0") != want {
			t.Errorf("%v: %s, want %s: %v", gid, got, want, status["errorMessage"])
		}
	}
	for _, name := range []string{"a.iso", "x/y/z/b.iso", "taken.1.iso"} {
		if data, err := os.ReadFile(filepath.Join(d.root, name)); err != nil || !bytes.Equal(data, s.Content.Bytes()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code := d.end(); code != exitDone {
		t.Errorf("exit code %d\n%s", code, d.log)
	}
	token := d.token
	d.start()
	if stopped, _ := d.call("aria2.tellStopped", 0, 10); len(stopped.([]any)) != 6 || d.token != token {
		t.Errorf("after a restart there are %v, and another token: %t", stopped, d.token != token)
	}
}

// TestDaemonLog: a failure is logged, and with -v each download, without what may be a secret in its URL.
func TestDaemonLog(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"), mirrortest.Digest())
	for _, words := range [][]string{nil, {"-v"}} {
		d := newDaemonRun(t)
		d.start(words...)
		d.status(d.add(strings.Replace(s.URL, "http://", "http://me:s3cret@", 1)+"?sig=s3cret",
			map[string]string{"out": "a.iso"}))
		d.status(d.add(s.URL, map[string]string{"out": "b.iso", "checksum": "sha-256=" + strings.Repeat("0", 64)}))
		waitFor(t, "the log", func() bool { return strings.Contains(d.log.String(), "download failed") })
		d.end()
		log := d.log.String()
		if got := strings.Contains(log, "download is complete") &&
			strings.Contains(log, "download begins"); got != (len(words) > 0) || strings.Contains(log, "s3cret") {
			t.Errorf("%q:\n%s", words, log)
		}
	}
}

// TestDaemonStaysInRoot: neither a name nor a symbolic link leads out of the root.
func TestDaemonStaysInRoot(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1000, 3), mirrortest.Name("a.iso"))
	d := newDaemonRun(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(d.root, "link")); err != nil {
		t.Fatal(err)
	}
	d.start()
	for _, dir := range []string{"link", "link/below", filepath.Join(d.root, "link")} {
		if status := d.status(d.add(s.URL, map[string]string{"dir": dir})); status["status"] != "error" ||
			!strings.Contains(fmt.Sprint(status["errorMessage"]), "link") {
			t.Errorf("%s: %v", dir, status)
		}
	}
	if status := d.status(d.add(s.URL, map[string]string{"out": "link/a.iso"})); status["status"] != "error" {
		t.Errorf("by its name: %v", status)
	}
	if _, failure := d.call("aria2.addUri", []string{s.URL}, map[string]string{"dir": outside}); failure == "" {
		t.Error("a folder outside was taken")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("outside is %v", left)
	}
}

// TestDaemonKeepsState: no download comes into the folder of the state, though it lies in the root.
func TestDaemonKeepsState(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1000, 3), mirrortest.Name("a.iso"))
	d := newDaemonRun(t)
	d.state = filepath.Join(d.root, "state")
	d.start()
	document := fmt.Sprintf(`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="state/x"><url>%s</url></file></metalink>`, s.URL)
	added, _ := d.call("aria2.addMetalink", base64.StdEncoding.EncodeToString([]byte(document)))
	gids, _ := added.([]any)
	describing := mirrortest.New(t, []byte(document), mirrortest.Name("a.meta4"),
		mirrortest.Document("/a.meta4", metalink.MediaType4, []byte(document)))
	gids = append(gids, d.add(describing.URL, map[string]string{}))
	for _, o := range []map[string]string{{"dir": "state"}, {"out": "state/token"}, {"dir": "state/below"}} {
		o["allow-overwrite"] = "true"
		gids = append(gids, d.add(s.URL, o))
	}
	for _, gid := range gids {
		if status := d.status(gid); status["status"] != "error" || !strings.Contains(fmt.Sprint(status["errorMessage"]),
			"this folder is reserved for the daemon") {
			t.Errorf("%v", status)
		}
	}
	if data, err := os.ReadFile(filepath.Join(d.state, tokenFile)); err != nil ||
		strings.TrimSpace(string(data)) != d.token || len(gids) != 5 {
		t.Errorf("%v, %d added", err, len(gids))
	}
}

// TestDaemonToken: the token is made once, and its file is the user's alone.
func TestDaemonToken(t *testing.T) {
	d := newDaemonRun(t)
	code, first, stderr := command(t, "daemon", "token", "--state", d.state)
	_, again, _ := command(t, "daemon", "token", "--state", d.state)
	if code != exitDone || len(first) != 65 || first != again {
		t.Errorf("%d, %q, then %q, %s", code, first, again, stderr)
	}
	if info, err := os.Stat(filepath.Join(d.state, tokenFile)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestDaemonRefuses: what makes no sense, or would let others in, begins nothing.
func TestDaemonRefuses(t *testing.T) {
	d := newDaemonRun(t)
	d.start()
	for _, tt := range []struct {
		words string
		code  int
		text  string
	}{
		{"--state " + d.state, exitLocal, "only one daemon can use each"},
		{"--rpc-listen-all", exitUsage, "in a private network --rpc-insecure"},
		{"--rpc-insecure", exitUsage, "needs --rpc-listen-all"},
		{"https://example.org/a.iso", exitUsage, "no operand"},
		{"-q -v", exitUsage, "contradicts -v"},
		{"--root " + d.root + " -d " + d.state, exitUsage, "is outside " + d.root},
		{"--state " + d.root, exitUsage, "this folder is reserved for braid"},
		{"--rpc-listen-port 70000", exitUsage, "write a port"},
		{"--rpc-listen-port " + d.url[strings.LastIndex(d.url, ":")+1:len(d.url)-len("/jsonrpc")], exitOther,
			"choose another port with --rpc-listen-port PORT"},
		{"--tls-key k", exitUsage, "--tls-cert"},
	} {
		words := append([]string{"daemon", "-d", d.root}, strings.Fields(tt.words)...)
		if !strings.Contains(tt.words, "--state") {
			words = append(words, "--state", t.TempDir())
		}
		if code, _, stderr := command(t, words...); code != tt.code || !strings.Contains(stderr, tt.text) {
			t.Errorf("%s: %d, %s", tt.words, code, stderr)
		}
	}
}

// TestDaemonGoesOn: what was paused goes on where the server gives neither a digest nor a strong ETag, if samples are
// the same. Of one that sends nothing but whole files nothing can go on, and that is what is told.
func TestDaemonGoesOn(t *testing.T) {
	const size = 32 << 20
	for name, tt := range map[string]struct {
		options []mirrortest.Option
		most    int64
	}{"ranges": {nil, size + size/2}, "whole only": {[]mirrortest.Option{mirrortest.IgnoreRange()}, 2 * size}} {
		s := mirrortest.New(t, mirrortest.Generate(size, 3), append(tt.options, mirrortest.Name("a.iso"),
			mirrortest.StallAfter(size*3/4))...)
		d := newDaemonRun(t)
		d.start("-v")
		gid := d.add(s.URL, map[string]string{})
		waitFor(t, "the middle", func() bool {
			info, err := os.Stat(filepath.Join(d.root, "a.iso.part"))
			return err == nil && info.Size() > size/2
		})
		d.call("aria2.pause", gid)
		s.Set(mirrortest.StallAfter(-1))
		d.control(exitDone, "resume", fmt.Sprint(gid))
		status := d.status(gid)
		if status["status"] != "complete" || s.Sent() > tt.most {
			t.Errorf("%s: %v; %d bytes were sent for %d", name, status, s.Sent(), size)
		}
		if names, _ := filepath.Glob(filepath.Join(d.root, "*.bad")); len(names) > 0 {
			t.Errorf("%s: left are %q", name, names)
		}
		d.end()
	}
}
