//go:build linux

package torture

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// badClient is the variable that makes this program a client that misbehaves, to show that it is noticed.
const badClient = "BRAID_TORTURE_BAD"

// misdeeds are what it does, in the target folder, before it ends with 0 or as it says. Its argument is the URL.
var misdeeds = map[string]func(url string) (code int){
	"brings the file": func(string) int { return put(fileName, body) },
	"says that nothing proved it": func(string) int {
		fmt.Fprintln(os.Stderr, "file.bin: 1 MiB; unverified: no digest")
		return put(fileName, body)
	},
	"says why it failed":            func(string) int { return complain(7, "braid: no") },
	"fails without a word":          func(string) int { return 7 },
	"brings nothing":                func(string) int { return 0 },
	"brings other bytes":            func(string) int { return put(fileName, body[1:]) },
	"leaves a part":                 func(string) int { return complain(put(fileName, body[:9])+7, "braid: cut") },
	"fails and leaves the file":     func(string) int { return complain(put(fileName, body)+7, "braid: no") },
	"makes another file":            func(string) int { return put("evil", nil) + put(fileName, body) },
	"makes a file outside":          func(string) int { return put("../evil", nil) + put(fileName, body) },
	"makes a file through the link": func(string) int { return put(way+"/evil", nil) + put(fileName, body) },
	"changes a neighbour":           func(string) int { return put(neighbour, nil) + put(fileName, body) },
	"changes a neighbour's bytes": func(string) int {
		return put(neighbour, []byte("somebody elsE's\n")) + put(fileName, body)
	},
	"takes the link away":        func(string) int { os.Remove(way); return put(fileName, body) },
	"prints an escape":           func(string) int { return complain(7, "braid: \x1b[31m") },
	"prints C1":                  func(string) int { return complain(7, "braid: \u009b31m") },
	"prints what turns writing":  func(string) int { return complain(7, "braid: \u202egpj") },
	"prints a secret":            func(string) int { return complain(7, "braid: "+secret) },
	"keeps a secret":             func(string) int { return put("../home/state", []byte(secret)) + put(fileName, body) },
	"sends a secret in the path": func(url string) int { return send(url+"?"+secret, "") },
	"sends a secret in a field":  func(url string) int { return send(url, "me:"+secret) },
	"takes memory":               func(string) int { return grow(150 << 20) },
	"takes disk": func(string) int {
		return put("file.bin.part", make([]byte, 3*fileSize)) + put(fileName, body)
	},
	"hangs":     func(string) int { time.Sleep(time.Hour); return 0 },
	"is killed": func(string) int { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
	"faults":    func(string) int { syscall.Kill(os.Getpid(), syscall.SIGSEGV); select {} },
	"panics":    func(string) int { panic("no") },
}

// noticed are the classes that they belong to.
var noticed = map[string]class{
	"brings the file": right, "says that nothing proved it": unverified, "says why it failed": refused,
	"fails without a word": silent,
	"brings nothing":       nothing, "brings other bytes": wrong, "leaves a part": left, "fails and leaves the file": left,
	"makes another file": named, "makes a file outside": escape, "makes a file through the link": escape,
	"changes a neighbour":         escape,
	"changes a neighbour's bytes": escape, "takes the link away": escape, "prints an escape": raw, "prints C1": raw,
	"prints what turns writing": raw, "prints a secret": leak, "keeps a secret": leak, "sends a secret in the path": leak,
	"sends a secret in a field": leak, "takes memory": memory, "takes disk": disk, "hangs": hang, "is killed": crash,
	"faults": crash, "panics": crash,
}

func misbehave(does string) { os.Exit(misdeeds[does](os.Args[len(os.Args)-1])) }

func put(name string, data []byte) int {
	if os.WriteFile(name, data, 0o644) != nil {
		return 100
	}
	return 0
}

func complain(code int, words string) int {
	fmt.Fprintln(os.Stderr, words)
	return code
}

func send(url, user string) int {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 100
	}
	if user != "" {
		req.SetBasicAuth("me", user)
	}
	if _, err := http.DefaultClient.Do(req); err != nil {
		return 100
	}
	return put(fileName, body)
}

func grow(n int) int {
	b := make([]byte, n)
	for i := range b {
		b[i] = 1
	}
	return put(fileName, body) + int(b[0]) - 1
}

// TestMisdeeds shows that whatever a client does wrong is seen, on a real file system and over real sockets.
func TestMisdeeds(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bad := client{name: "bad", line: func(r request) ([]string, bool) { return r.urls, true }}
	for does, want := range noticed {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ask(w.serve())
			w.env = append(w.env, badClient+"="+does)
			limit := 20 * time.Second
			if want == hang {
				limit = time.Second
			}
			o, _ := w.run(bad, own, limit)
			if v := judge(o, w.limits); v.class != want {
				t.Errorf("%v (%s), want %v", v.class, v.why, want)
			}
		})
	}
	for does := range misdeeds {
		if noticed[does] == inapplicable {
			t.Errorf("%q is of no class", does)
		}
	}
}

// A failure must leave an old file as it was, and success must not.
func TestOldFile(t *testing.T) {
	for _, tt := range []struct {
		code int
		now  []byte
		want class
	}{
		{7, []byte(oldBytes), refused}, {7, nil, left}, {7, body, left}, {0, []byte(oldBytes), nothing},
		{0, body, right}, {0, body[:5], wrong},
	} {
		y, err := newYard(t.TempDir())
		check(t, err)
		name := filepath.Join(y.work, fileName)
		check(t, os.WriteFile(name, []byte(oldBytes), 0o644))
		before, err := y.look()
		check(t, err)
		check(t, os.WriteFile(name, tt.now, 0o644))
		s, err := y.state(fileName, body, before["work/"+fileName], true)
		check(t, err)
		o := observation{code: tt.code, output: "braid: why", files: map[string]state{fileName: s}}
		if v := judge(o, limits{}); v.class != tt.want {
			t.Errorf("exit code %d and %d bytes: %v (%s), want %v", tt.code, len(tt.now), v.class, v.why, tt.want)
		}
	}
}

// What the table wants is held against exit code, words and class.
func TestMeets(t *testing.T) {
	o := observation{code: 7, output: "braid: bad Digest"}
	v := judge(o, limits{})
	for _, tt := range []struct {
		want want
		good bool
	}{
		{fails(7, "digest"), true}, {fails(8, "digest"), false}, {fails(7, "etag"), false}, {isRight, false},
		{want{refused, []int{4, 7}, ""}, true}, {isUnverified, false},
	} {
		if problem := tt.want.meets(v, o); (problem == "") != tt.good {
			t.Errorf("%+v: %q", tt.want, problem)
		}
	}
}

// Every client is given every case that it has words for, and no other.
func TestLines(t *testing.T) {
	url := mirrortest.New(t, body).URL
	for _, tt := range []struct {
		request request
		can     string // the clients, by their first letters
	}{
		{request{urls: []string{url}}, "bacw"},
		{request{urls: []string{url, url + "2"}}, "ba"},
		{request{urls: []string{url}, sha256: wrongHex}, "ba"},
		{request{urls: []string{url}, user: "a:b", headers: []string{"X: y"}, ca: "ca.pem", noName: true}, "bacw"},
		{request{urls: []string{url}, maxSize: 5}, "bc"},
		{request{urls: []string{url}, flags: []string{"--json"}}, "b"},
		{request{urls: []string{url}, alone: true}, "b"},
		{request{document: "x.meta4"}, "baw"},
		{request{command: []string{"feed", "check", url}}, "b"},
	} {
		var can []byte
		for _, c := range clients {
			if _, ok := c.line(tt.request); ok {
				can = append(can, c.name[0])
			}
		}
		if !bytes.Equal(can, []byte(tt.can)) {
			t.Errorf("%+v: %s can, want %s", tt.request, can, tt.can)
		}
	}
}
