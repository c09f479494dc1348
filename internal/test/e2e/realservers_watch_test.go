//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A watchSet is a file with two versions on two nginx servers, a third one with feeds about it, and a watcher.
type watchSet struct {
	t                    *testing.T
	root, feeds, dir     string // folders of the servers and of the watcher
	origin, mirror, news string // URLs without a path
	log                  string // where the three servers log their requests
	versions             [2][]byte
	meter                meter
	gate                 gate // that TestRealWatch shuts
	agent                *agent
}

const (
	watchedSize = 6 << 20
	// watchedRate makes a download last long enough for a second source to be of use.
	watchedRate = 6 << 20
)

// firstModified is the date of the first version of the file; the second is a day younger.
var firstModified = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// newWatchSet serves the first version. The watcher looks each second at both feeds and has more lines in its configuration.
func newWatchSet(t *testing.T, lines ...string) *watchSet {
	t.Helper()
	s := &watchSet{t: t, root: publicDir(t), feeds: publicDir(t), dir: t.TempDir()}
	s.log = filepath.Join(publicDir(t), "access.log")
	digests := map[string]string{}
	for i := range s.versions {
		s.versions[i] = make([]byte, watchedSize+i)
		rand.NewChaCha8([32]byte{byte(i)}).Read(s.versions[i])
		digests[nginxETag(s.modified(i), len(s.versions[i]))] = base64SHA256(s.versions[i])
	}
	mirror := nginx.start(t, site{root: s.root, rate: watchedRate, log: s.log, name: "mirror"})
	mirror = s.gate.relay(t, mirror, s.meter.add)
	origin := nginx.start(t, site{
		root: s.root, rate: watchedRate, log: s.log, name: "origin", digests: digests,
		headers: []string{fmt.Sprintf("Link: <http://%s/disk.iso>; rel=duplicate; pri=1; pref", mirror)},
	})
	s.origin, s.mirror = "http://"+s.gate.relay(t, origin, s.meter.add), "http://"+mirror
	s.news = "http://" + nginx.start(t, site{root: s.feeds, log: s.log, name: "news"})
	s.publish(0)
	s.agent = newAgent(t, s.dir)
	s.configure(lines...)
	return s
}

// modified is when a version of the file was.
func (s *watchSet) modified(version int) time.Time { return firstModified.AddDate(0, 0, version) }

// publish puts a version of the file in place, and then tells of it in LIRS and hina-di.
func (s *watchSet) publish(version int) {
	s.t.Helper()
	at := s.modified(version)
	put(s.t, filepath.Join(s.root, "disk.iso"), s.versions[version], at)
	// nginx tells versions of a feed apart by their second and size: two of one second would be one to it.
	url, size, now := s.origin+"/disk.iso", len(s.versions[version]),
		time.Now().Add(time.Duration(version-len(s.versions))*10*time.Second)
	lirs := fmt.Sprintf("LIRS,%d,%d,0,%d,%s,Disk,0,http://agent.example/,\n", at.Unix(), now.Unix(), size, url)
	const date = "Mon, 02 Jan 2006 15:04:05 GMT"
	hina := "HINA/2.2beta\r\nUser-Agent: agent/1\r\n\r\nURL: " + url + "\r\nAuthorized: agent/1\r\nAuthorized-url: " +
		"http://agent.example/\r\n" +
		"Last-Modified: " + at.Format(date) + "\r\nLast-Modified-Detected: " + now.UTC().Format(date) +
		"\r\nMethod: HEAD/200\r\n\r\n"
	put(s.t, filepath.Join(s.feeds, "antenna.lirs"), []byte(lirs), now)
	put(s.t, filepath.Join(s.feeds, "hina.di"), []byte(hina), now)
}

// put gives a file another content in one step, as who publishes does.
func put(t testing.TB, path string, data []byte, at time.Time) {
	t.Helper()
	part := path + ".new"
	for _, err := range []error{os.WriteFile(part, data, 0o644), os.Chtimes(part, at, at), os.Rename(part, path)} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (s *watchSet) configure(lines ...string) {
	s.t.Helper()
	s.agent.write("watch.toml", fmt.Sprintf(`
state = "state"
log-level = "debug"
host-gap = "10ms"
metrics = "127.0.0.1:0"
[feed.lirs]
url = "%[1]s/antenna.lirs"
every = "1s"
[feed.hina]
url = "%[1]s/hina.di"
every = "1s"
[watch.disk]
url = "%[2]s/disk.iso"
dir = "files"
%[3]s
`, s.news, s.origin, strings.Join(lines, "\n")))
}

// requests are the lines of the servers' log that match.
func (s *watchSet) requests(pattern string) int {
	log, _ := os.ReadFile(s.log)
	return len(regexp.MustCompile("(?m)"+pattern).FindAll(log, -1))
}

// inPlace reads the file and reports which version it is, or -1 if it is none of them as a whole.
func (s *watchSet) inPlace() (version int, err error) {
	data, err := os.ReadFile(filepath.Join(s.dir, "files", "disk.iso"))
	if err != nil {
		return -1, err
	}
	return slices.IndexFunc(s.versions[:], func(v []byte) bool { return bytes.Equal(v, data) }), nil
}

// right reports which version of the file is in place, if it is one of them as a whole.
func (s *watchSet) right() (version int, ok bool) {
	version, err := s.inPlace()
	return version, err == nil && version >= 0
}

// guard looks at the file all the time until the test ends: it is never a wrong one, and once it is there, it stays there.
func (s *watchSet) guard() {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for there := false; ; {
			version, err := s.inPlace()
			if err == nil && version < 0 || err != nil && (there || !errors.Is(err, fs.ErrNotExist)) {
				s.t.Errorf("the file was wrong (or gone: %v) at some moment", err)
				return
			}
			there = err == nil
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	s.t.Cleanup(func() { close(stop); wg.Wait() })
}

// hookRuns are the lines that the program of the watch has written: the SHA-256 of the file that it was told of, and of
// that which it found.
func (s *watchSet) hookRuns() []string { return strings.Fields(s.agent.read("runs")) }

const hookLine = `run = ["/bin/sh", "-c", "echo $BRAID_FILE_SHA256=$(sha256sum <$BRAID_FILE_PATH | cut -c-64) >>../runs"]`

// runOf is the line of hookRuns that a version makes.
func (s *watchSet) runOf(version int) string {
	sum := fmt.Sprintf("%x", sha256.Sum256(s.versions[version]))
	return sum + "=" + sum
}

// TestRealWatch: the feeds change, the file comes from two servers and is verified, its program runs once; then the
// feeds answer 304 and nothing happens.
func TestRealWatch(t *testing.T) {
	t.Parallel()
	s := newWatchSet(t, hookLine)
	s.guard()
	both := []string{strings.TrimPrefix(s.origin, "http://"), strings.TrimPrefix(s.mirror, "http://")}
	s.gate.together(both...)
	s.agent.begin()
	s.agent.logs(`msg="new version" watch=disk .*size=6291456 .*evidence="sha-256 from .*Digest over http"`)
	first := s.requests(`disk\.iso`)

	s.gate.together(both...)
	s.publish(1)
	s.agent.logs(`msg="new version" watch=disk .*size=6291457 .*evidence="sha-256 from .*Digest over http"`)
	if got, want := s.hookRuns(), []string{s.runOf(0), s.runOf(1)}; !slices.Equal(got, want) {
		t.Errorf("programs were told %q, want %q", got, want)
	}
	for _, who := range []string{"origin", "mirror"} { // nginx says so a moment later
		waitUntil(t, "much of both versions from the "+who,
			func() bool { return s.requests(who+` GET /disk\.iso 20[06] [1-9]\d{5}`) >= 2 })
	}
	if version, ok := s.right(); !ok || version != 1 {
		t.Errorf("version %d is in place", version)
	}
	s.quiet(first)
	s.agent.signal(syscall.SIGTERM)
	s.agent.ends(0)
	if got := s.hookRuns(); len(got) != 2 {
		t.Errorf("programs ran %d times", len(got))
	}
}

// quiet waits for several polls of both feeds that bring nothing, and wants no other request meanwhile.
func (s *watchSet) quiet(first int) {
	s.t.Helper()
	for _, name := range []string{"antenna.lirs", "hina.di"} { // the next one may tell of what the other has told before
		n := s.requests(`news GET /` + regexp.QuoteMeta(name) + ` 304`)
		waitUntil(s.t, "polls of "+name, func() bool { return s.requests(`news GET /`+regexp.QuoteMeta(name)+` 304`) > n })
	}
	files, news := s.requests(`disk\.iso`), s.requests(`news .* 200`)
	n := s.requests(`news .* 304`)
	waitUntil(s.t, "polls that bring nothing", func() bool { return s.requests(`news .* 304`) >= n+4 })
	if more := s.requests(`disk\.iso`) - files; more != 0 || files == first || s.requests(`news .* 200`) != news {
		s.t.Errorf("%d requests for the file without news\n%s", more, s.agent.readFile(s.log))
	}
}

// kills are where the watcher is killed: when the new version has just got its name, and while its program runs.
var kills = map[string]func(s *watchSet){
	"as soon as it is in place": func(s *watchSet) {
		waitUntil(s.t, "the file", func() bool { version, ok := s.right(); return ok && version == 1 })
	},
	"while the program runs": func(s *watchSet) {
		waitUntil(s.t, "the program", func() bool { return strings.Count(s.agent.read("begun-1"), "\n") == 2 })
	},
}

// TestRealWatchKilled: what is killed between the download and its acknowledgement is repeated once with the next
// start, fetches nothing again, and ends right.
func TestRealWatchKilled(t *testing.T) {
	t.Parallel()
	for name, moment := range kills {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWatchSet(t,
				`run = ["/bin/sh", "-c", "echo $$ >>../begun-$START; cat ../fifo-$START && echo $BRAID_FILE_SHA256=$(sha256sum <$BRAID_FILE_PATH | cut -c-64) >>../runs"]`)
			t.Cleanup(s.endPrograms)
			s.guard()
			s.beginHeld("1")
			s.agent.logs(`msg="new version" watch=disk`)

			s.publish(1)
			moment(s)
			s.agent.kill()
			s.endPrograms()
			sent := s.meter.sum.Load()
			if got := s.hookRuns(); !slices.Equal(got, []string{s.runOf(0)}) {
				t.Fatalf("before the second start programs had ended: %q", got)
			}

			s.beginHeld("2")
			s.agent.logs(`(?s)msg="new version" watch=disk.*msg="new version" watch=disk`)
			s.quiet(0)
			s.agent.signal(syscall.SIGTERM)
			s.agent.ends(0)
			if got, want := s.hookRuns(), []string{s.runOf(0), s.runOf(1)}; !slices.Equal(got, want) {
				t.Errorf("programs were told %q, want %q", got, want)
			}
			if n := strings.Count(s.agent.read("begun-2"), "\n"); n != 1 {
				t.Errorf("after the kill the program was begun %d times", n)
			}
			if more := s.meter.sum.Load() - sent; more > 64<<10 {
				t.Errorf("%d bytes came after the kill", more)
			}
			if version, ok := s.right(); !ok || version != 1 {
				t.Errorf("version %d is in place", version)
			}
		})
	}
}

// beginHeld starts the watcher. Its programs wait at a FIFO of this start, and one of them may end: a program that the
// killed watcher had just begun, and that endPrograms did not see yet, does not take the place of the next start's.
func (s *watchSet) beginHeld(start string) {
	s.t.Helper()
	fifo := filepath.Join(s.dir, "fifo-"+start)
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.agent.env = []string{"START=" + start}
	s.agent.begin()
	go os.WriteFile(fifo, nil, 0)
}

// endPrograms does what a service manager does when it kills a service: the programs of the watch end, too.
func (s *watchSet) endPrograms() {
	s.t.Helper()
	for _, pid := range strings.Fields(s.agent.read("begun-1"))[1:] {
		exec.Command("kill", "-KILL", "--", "-"+pid).Run()
	}
}
