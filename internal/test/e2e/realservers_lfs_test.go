//go:build realservers

package e2e

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"braid/internal/test/mirrortest"
)

// An lfsWorld is a repository with objects, a server of them, and a user with git-lfs and braid.
type lfsWorld struct {
	t      *testing.T
	dir    string
	server *lfsServer
	oids   []string
	size   int64 // of all objects
}

// lfsConfig is what "git lfs install" and a user write. It is written as a file, because each call of git-lfs costs more
// than the transfer of small objects.
const lfsConfig = `[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge -- %f
	process = git-lfs filter-process
	required = true
[user]
	name = me
	email = me@example.org
[init]
	defaultBranch = main
`

// newLFSWorld makes a repository of count objects of size bytes.
func newLFSWorld(t *testing.T, count, size int) *lfsWorld {
	t.Helper()
	w := &lfsWorld{t: t, dir: t.TempDir(), size: int64(count) * int64(size)}
	origin := filepath.Join(w.dir, "origin")
	for _, dir := range []string{w.dir + "/home", origin} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, w.config(), lfsConfig)
	w.git(origin, "init", "-q")
	writeFile(t, filepath.Join(origin, ".gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	for i := range count {
		body := mirrortest.Generate(int64(size), uint64(i+1)).Bytes()
		w.oids = append(w.oids, fmt.Sprintf("%x", sha256.Sum256(body)))
		writeFile(t, filepath.Join(origin, fmt.Sprintf("%03d.bin", i)), string(body))
	}
	w.server = newLFSServer(t, filepath.Join(origin, ".git", "lfs", "objects"))
	writeFile(t, filepath.Join(origin, ".lfsconfig"), "[lfs]\nurl = "+w.server.URL+"/repo.git/info/lfs\n")
	w.git(origin, "add", ".")
	w.git(origin, "commit", "-q", "-m", "objects")
	return w
}

// config returns the path of the user's configuration of git.
func (w *lfsWorld) config() string { return filepath.Join(w.dir, "home", ".gitconfig") }

// agent switches braid on, as doc/git-lfs.md says.
func (w *lfsWorld) agent(args string) {
	w.t.Helper()
	writeFile(w.t, w.config(), readFile(w.t, w.config())+fmt.Sprintf(
		"[lfs]\n\tstandalonetransferagent = braid\n[lfs \"customtransfer.braid\"]\n\tpath = %s\n\targs = %s\n",
		binary, strings.TrimSpace("lfs "+args)))
}

func (w *lfsWorld) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"), "GIT_TERMINAL_PROMPT=0",
		"LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	return cmd
}

func (w *lfsWorld) try(dir string, args ...string) (string, error) {
	out, err := w.command(dir, args...).CombinedOutput()
	return string(out), err
}

func (w *lfsWorld) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.try(dir, args...)
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

// clone makes a copy without objects.
func (w *lfsWorld) clone() string {
	w.t.Helper()
	dir := filepath.Join(w.dir, "copy"+strconv.Itoa(int(time.Now().UnixNano())))
	w.git(w.dir, "-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false", "clone",
		"-q", "origin", dir)
	return dir
}

// complete wants all files to be what they are in the origin but those of the OIDs that are named, and nothing left over.
func (w *lfsWorld) complete(dir string, but ...string) {
	w.t.Helper()
	missing := strings.Join(but, " ")
	for i, oid := range w.oids {
		got := fmt.Sprintf("%x", sha256.Sum256([]byte(readFile(w.t, filepath.Join(dir, fmt.Sprintf("%03d.bin", i))))))
		_, err := os.Stat(filepath.Join(dir, ".git", "lfs", "objects", oid[:2], oid[2:4], oid))
		if want := !strings.Contains(missing, oid); (got == oid) != want || (err == nil) != want {
			w.t.Errorf("%03d.bin is %s, want %s; object: %v", i, got, oid, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".git", "lfs", "incomplete", "*"))
	if len(left) > 0 {
		w.t.Errorf("left over: %q", left)
	}
}

// TestRealLFS: git-lfs has braid bring 40 objects, with a clone and with a pull. BRAID_LFS_MIB is how much they are.
func TestRealLFS(t *testing.T) {
	t.Parallel()
	mib := 40
	if word := os.Getenv("BRAID_LFS_MIB"); word != "" {
		mib, _ = strconv.Atoi(word)
	}
	w := newLFSWorld(t, 40, mib<<20/40)
	w.agent("")
	pulled := w.clone()
	w.git(pulled, "lfs", "pull")
	w.complete(pulled)
	w.git(w.dir, "clone", "-q", "origin", "cloned")
	w.complete(filepath.Join(w.dir, "cloned"))
	if !w.server.onlyBraid() {
		t.Errorf("objects were fetched by %q", w.server.agents)
	}
	if sent := w.server.sentBytes(); sent > 2*w.size {
		t.Errorf("%d bytes for two copies of %d", sent, w.size)
	}
}

// TestRealLFSKilled: what came before git-lfs and its agents were killed does not come again.
func TestRealLFSKilled(t *testing.T) {
	t.Parallel()
	w := newLFSWorld(t, 3, 8<<20)
	w.agent("")
	dir := w.clone()
	w.server.pace = 10 * time.Millisecond
	for range 3 {
		cmd := w.command(dir, "lfs", "pull")
		cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		before, goOn := w.server.sentBytes(), w.server.holdBack(5<<20)
		defer goOn()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "some megabytes", func() bool { return w.server.sentBytes() >= before+4<<20 })
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		cmd.Wait()
		waitUntil(t, "the end of its agents", func() bool { return groupEnded(cmd.Process.Pid) })
		goOn()
	}
	w.git(dir, "lfs", "pull")
	w.complete(dir)
	if sent := w.server.sentBytes(); sent > w.size*3/2 {
		t.Errorf("%d bytes were sent of objects of %d", sent, w.size)
	}
}

// groupEnded reports whether no process of a group runs.
func groupEnded(group int) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		stat, _ := os.ReadFile(name) // PID (NAME) STATE PARENT GROUP
		_, rest, _ := strings.Cut(string(stat), ") ")
		if words := strings.Fields(rest); len(words) > 2 && words[2] == strconv.Itoa(group) && words[0] != "Z" &&
			words[0] != "X" {
			return false
		}
	}
	return true
}

// TestRealLFSFolder: a remote that is a folder comes as doc/git-lfs.md says, and as the error does.
func TestRealLFSFolder(t *testing.T) {
	t.Parallel()
	w := newLFSWorld(t, 1, 1000)
	w.agent("")
	dir := w.clone()
	w.git(dir, "config", "lfs.url", "file://"+filepath.Join(w.dir, "origin"))
	out, err := w.try(dir, "lfs", "pull")
	_, hint, _ := strings.Cut(out, "; git ")
	hint, _, _ = strings.Cut(hint, " leaves")
	if err == nil || hint == "" {
		t.Fatalf("%v\n%s", err, out)
	}
	w.git(dir, strings.Fields(hint)...)
	w.git(dir, "lfs", "pull")
	w.complete(dir)
	w.git(dir, "config", "--unset", "lfs.standalonetransferagent")
	if err := os.RemoveAll(filepath.Join(dir, ".git", "lfs", "objects")); err != nil {
		t.Fatal(err)
	}
	w.git(w.dir, "config", "--global", "lfs.file:///.standalonetransferagent", "lfs-standalone-file")
	w.git(dir, "lfs", "fetch")
	w.complete(dir)
}

// TestRealLFSTwice: two runs at once in one repository end well, and leave nothing.
func TestRealLFSTwice(t *testing.T) {
	t.Parallel()
	w := newLFSWorld(t, 3, 2<<20)
	w.agent("")
	w.server.pace = 5 * time.Millisecond
	dir := w.clone()
	other := w.command(dir, "lfs", "fetch")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	<-w.server.flow
	w.git(dir, "lfs", "pull")
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
	w.complete(dir)
}

// TestRealLFSAnswers: what servers do wrong, what they say no to, and what they want to see.
func TestRealLFSAnswers(t *testing.T) {
	t.Parallel()
	const helper = `!f() { cat >>"$HOME/asked"; echo "= $1" >>"$HOME/asked"; test "$1" = get && printf 'username=me\npassword=s3cret\n'; }; f`
	for _, tt := range []struct {
		name    string
		arrange func(w *lfsWorld)
		args    string // of braid lfs
		missing int    // the first objects
		says    string
		asked   int    // how often in batches for the first object; 0: never mind
		heard   string // by the helper of git credential
	}{
		{"a wrong object", func(w *lfsWorld) {
			w.server.bytes = map[string]string{w.oids[0]: strings.Repeat("x", 100_000)}
		}, "", 1, "sha-256 is", 1, ""},
		{"an object that is too long", func(w *lfsWorld) {
			w.server.bytes = map[string]string{w.oids[0]: strings.Repeat("x", 200_000)}
		}, "", 1, "received more than 100000 bytes", 1, ""},
		{"not there", func(w *lfsWorld) { w.server.status = map[string]int{w.oids[0]: 404} }, "", 1,
			"404 it was taken down", 1, ""},
		{"old links", func(w *lfsWorld) { w.server.refuse = map[string][]int{w.oids[0]: {403, 410, 401}} }, "", 0, "", 4, ""},
		{"no link is good", func(w *lfsWorld) {
			w.server.refuse = map[string][]int{w.oids[0]: {403, 403, 403, 403, 403}}
		}, "", 1, "status 403", 4, ""},
		{"a clock that is wrong", func(w *lfsWorld) { w.server.age = time.Hour }, "", 0, "", 1, ""},
		{"header fields", func(w *lfsWorld) { w.server.header = "secret" }, "", 0, "", 1, ""},
		{"a password", func(w *lfsWorld) {
			w.server.user = "me:s3cret"
			w.git(w.dir, "config", "--global", "credential.helper", helper)
		}, "", 0, "", 0, "= store"},
		{"a wrong password", func(w *lfsWorld) {
			w.server.user = "me:other"
			w.git(w.dir, "config", "--global", "credential.helper", helper)
		}, "", 3, "401 it refuses the credentials that git has", 0, "= erase"},
		{"no password", func(w *lfsWorld) { w.server.user = "me:other" }, "", 3,
			"requires a name and password, and git has none", 0, ""},
		{"extra header", func(w *lfsWorld) {
			w.server.user = "me:s3cret"
			w.git(w.dir, "config", "--global", "http."+w.server.URL+"/.extraHeader", "Authorization: basic bWU6czNjcmV0")
		}, "", 0, "", 1, ""},
		{"named by the server", func(w *lfsWorld) {
			w.server.transfer, w.server.header = "braid", "secret"
			w.git(w.dir, "config", "--global", "--unset", "lfs.standalonetransferagent")
		}, "", 0, "", 1, ""},
		{"named by the server, old links", func(w *lfsWorld) {
			w.server.transfer = "braid"
			w.server.refuse = map[string][]int{w.oids[0]: {403}}
			w.git(w.dir, "config", "--global", "--unset", "lfs.standalonetransferagent")
		}, "", 0, "", 2, ""},
		{"named by the server, old links that want a password", func(w *lfsWorld) {
			w.server.transfer = "braid"
			w.server.refuse = map[string][]int{w.oids[0]: {401}}
			w.git(w.dir, "config", "--global", "--unset", "lfs.standalonetransferagent")
		}, "", 0, "", 2, ""},
		{"objects that want a password", func(w *lfsWorld) {
			w.server.transfer = "braid"
			w.server.refuse = map[string][]int{w.oids[0]: {401, 401, 401, 401, 401}}
			w.git(w.dir, "config", "--global", "--unset", "lfs.standalonetransferagent")
		}, "", 1, "status 401", 0, ""},
		{"bad flag", func(*lfsWorld) {}, "--nonsense", 3, "braid: usage --nonsense: ", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newLFSWorld(t, 3, 100_000)
			w.agent(tt.args)
			tt.arrange(w)
			dir := w.clone()
			out, err := w.try(dir, "lfs", "pull")
			if (err == nil) != (tt.missing == 0) || !strings.Contains(out, tt.says) {
				t.Errorf("%v\n%s", err, out)
			}
			w.complete(dir, w.oids[:tt.missing]...)
			if n := w.server.asked(w.oids[0]); tt.asked > 0 && n != tt.asked {
				t.Errorf("%d batches, want %d", n, tt.asked)
			}
			heard, _ := os.ReadFile(filepath.Join(w.dir, "home", "asked"))
			if !strings.Contains(string(heard), tt.heard) {
				t.Errorf("the helper heard %s", heard)
			}
		})
	}
}

// TestRealLFSMirrors: what the server does not have, a mirror has, which is a copy of .git/lfs/objects; one that has it
// wrong does no harm.
func TestRealLFSMirrors(t *testing.T) {
	t.Parallel()
	w := newLFSWorld(t, 3, 1<<20)
	mirror := httptest.NewServer(http.FileServer(http.Dir(w.server.objects)))
	t.Cleanup(mirror.Close)
	wrong := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.Write(make([]byte, 1<<20)) }))
	t.Cleanup(wrong.Close)
	w.agent("--mirror " + wrong.URL + "/ --mirror " + mirror.URL)
	for _, oid := range w.oids {
		w.server.refuse[oid] = []int{404, 404, 404, 404, 404, 404, 404, 404, 404, 404}
	}
	dir := w.clone()
	w.git(dir, "lfs", "pull")
	w.complete(dir)
}

// TestRealLFSLinks: a slow server of objects names a mirror, which brings most.
func TestRealLFSLinks(t *testing.T) {
	t.Parallel()
	w := newLFSWorld(t, 1, 8<<20)
	mirror := httptest.NewServer(http.FileServer(http.Dir(w.server.objects)))
	t.Cleanup(mirror.Close)
	w.server.mirror, w.server.pace = mirror.URL, 500*time.Millisecond
	w.agent("")
	dir := w.clone()
	w.git(dir, "lfs", "pull")
	w.complete(dir)
	if sent := w.server.sentBytes(); sent > w.size/2 {
		t.Errorf("the slow server sent %d of %d bytes", sent, w.size)
	}
}

// TestRealLFSOverSSH: the server of a remote over SSH is asked there what to show to the LFS server.
func TestRealLFSOverSSH(t *testing.T) {
	t.Parallel()
	w := newLFSWorld(t, 3, 100_000)
	w.agent("")
	w.server.user = "me:s3cret"
	dir := w.clone()
	w.git(dir, "config", "lfs.url", "ssh://git@git.example.org:2222/repo.git")
	ssh := filepath.Join(w.dir, "ssh")
	writeFile(t, ssh, `#!/bin/sh
echo "$@" >>`+w.dir+`/said
echo '{"href": "`+w.server.URL+`/repo.git/info/lfs", "header": {"Authorization": "Basic bWU6czNjcmV0"}, "expires_in": 600}'
`)
	if err := os.Chmod(ssh, 0o755); err != nil {
		t.Fatal(err)
	}
	w.git(dir, "config", "core.sshCommand", ssh)
	w.git(dir, "lfs", "pull")
	w.complete(dir)
	if said := readFile(t, w.dir+"/said"); !strings.Contains(said,
		"git@git.example.org git-lfs-authenticate /repo.git download") {
		t.Error(said)
	}
}

// TestRealLFSUploads are left to git-lfs, while braid is the agent of all transfers.
func TestRealLFSUploads(t *testing.T) {
	t.Parallel()
	w := newLFSWorld(t, 3, 100_000)
	w.agent("")
	w.git(w.dir, "clone", "-q", "--bare", "origin", "bare.git")
	origin := filepath.Join(w.dir, "origin")
	w.git(origin, "remote", "add", "origin", filepath.Join(w.dir, "bare.git"))
	w.git(origin, "lfs", "push", "--all", "origin")
	if len(w.server.uploads) != len(w.oids) {
		t.Errorf("%d objects came", len(w.server.uploads))
	}
}
