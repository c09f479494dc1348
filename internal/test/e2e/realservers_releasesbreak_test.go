//go:build realservers

package e2e

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestRealReleasesBreaking_Rule80 kills a watcher of three projects without warning, while each makes twenty releases a
// minute: an nginx that lists a folder, a forge with an Atom feed, and one with an API. Files and lists are uploaded in
// halves and late, some never, and some releases are removed. Every version that stays up comes into place, none after
// a newer one and none that differs from its list, and the link never leads to nothing.
//
// scripts/nightly has ten minutes of it (BRAID_RELEASES_TIME), and BRAID_RELEASES_SEED repeats the releases and kills.
func TestRealReleasesBreaking_Rule80(t *testing.T) { breakReleases(t, false) }

// TestRealFleetReleasesBreaking_Rule80 is the same for a fleet. A watcher and two workers are killed; one of the three
// runs the queue.
func TestRealFleetReleasesBreaking_Rule80(t *testing.T) { breakReleases(t, true) }

func breakReleases(t *testing.T, fleet bool) {
	t.Parallel()
	length, seed := 10*time.Second, rand.Uint64N(1e9)
	if text := os.Getenv("BRAID_RELEASES_TIME"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := strconv.ParseUint(os.Getenv("BRAID_RELEASES_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("BRAID_RELEASES_SEED=%d", seed)
	b := newReleasesBreaking(t, seed, fleet)
	end := time.Now().Add(length)
	var makers, others sync.WaitGroup
	over := make(chan struct{})
	for i, p := range b.projects {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		makers.Go(func() { p.release(random, end) })
		others.Go(func() { p.observe(over) })
	}
	others.Go(func() { b.kill(over) })
	makers.Wait()
	close(over)
	others.Wait()
	for _, p := range b.projects {
		p.mu.Lock()
		t.Logf("%s: %d releases, %d of them waited for, %d seen in place", p.name, p.version, p.waited, len(p.seen))
		p.mu.Unlock()
		b.once(p)
	}
	t.Logf("%d kills", b.kills)
}

// A releasesBreaking is a watcher, or a watcher and two workers, that are killed.
type releasesBreaking struct {
	t        *testing.T
	agents   []*follower
	placed   string // the beginning of a line in their logs for each placed file
	random   *rand.Rand
	projects []*brokenProject
	kills    int
}

// once checks that no version was put in place twice, according to the logs.
func (b *releasesBreaking) once(p *brokenProject) {
	seen := map[string]bool{}
	for _, agent := range b.agents {
		log, err := os.ReadFile(agent.log.Name())
		if err != nil {
			b.t.Fatal(err)
		}
		for _, line := range regexp.MustCompile(fmt.Sprintf(b.placed, p.name)).FindAllSubmatch(log, -1) {
			if file := string(line[1]); seen[file] {
				b.t.Errorf("%s was put in place twice", file)
			} else {
				seen[file] = true
			}
		}
	}
}

// A brokenProject makes releases. Its files are in a folder that nginx or the test itself serves.
type brokenProject struct {
	t    *testing.T
	name string
	dir  string // on the server
	link string
	feed string         // "", atom or api
	late sync.WaitGroup // unfinished uploads

	mu      sync.Mutex
	version int
	listed  []int
	seen    []int
	waited  int
}

func newReleasesBreaking(t *testing.T, seed uint64, fleet bool) *releasesBreaking {
	b := &releasesBreaking{t: t, random: rand.New(rand.NewPCG(seed, 99)), placed: `msg="new version" watch=%s url=(\S+)`}
	dir := t.TempDir()
	agent := func(args ...string) {
		a := &follower{t: t, dir: dir, config: filepath.Join(dir, "watch.toml"), args: args}
		b.agents = append(b.agents, a)
		var err error
		if a.log, err = os.Create(filepath.Join(dir, fmt.Sprint("log", len(b.agents)))); err != nil {
			t.Fatal(err)
		}
	}
	files := filepath.Join(dir, "files")
	if fleet {
		b.placed = `msg=done job=files/(%s-\S+) .* unchanged=false`
		queue := []string{"--queue", "embedded:" + filepath.Join(dir, "queue"), "--lease", "5s"}
		agent(slices.Concat([]string{"watch"}, queue, []string{filepath.Join(dir, "watch.toml")})...)
		for range 2 {
			agent(slices.Concat([]string{"work"}, queue, []string{"--to", filepath.Join(dir, "out")})...)
		}
		files = filepath.Join(dir, "out", "files")
	} else {
		agent()
	}
	var text strings.Builder
	text.WriteString("state = 'state'\nhost-gap = '1ms'\n")
	for _, feed := range []string{"", "atom", "api"} {
		p := &brokenProject{t: t, name: "p" + feed, dir: publicDir(t), feed: feed}
		p.link = filepath.Join(files, p.name)
		var at string
		if feed == "" {
			at = "http://" + nginx.start(t, site{root: p.dir, index: true, log: filepath.Join(publicDir(t), "log"),
				name: "folder"})
		} else {
			s := httptest.NewServer(http.HandlerFunc(p.serve))
			t.Cleanup(s.Close)
			at = s.URL
		}
		fmt.Fprintf(&text, "[feed.%[1]s]\nurl = '%[2]s/%[3]s'\nevery = '1s'\n[watch.%[1]s]\nfeeds = ['%[1]s']\nurl = "+
			"'%[2]s/%[1]s-{version}.bin'\n"+
			"dir = 'files'\nlink = '%[1]s'\nkeep = 3\n", p.name, at, feed)
		b.projects = append(b.projects, p)
	}
	err := os.WriteFile(filepath.Join(dir, "watch.toml"), []byte(text.String()), 0o600)
	if err = errors.Join(err, os.MkdirAll(files, 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, a := range b.agents {
			a.kill()
			a.log.Close()
			if log, err := os.ReadFile(a.log.Name()); t.Failed() {
				t.Logf("%s%v", log[max(0, len(log)-20000):], err)
			}
		}
	})
	for _, a := range b.agents {
		a.start()
	}
	return b
}

// kill kills a process at random moments and starts it again.
func (b *releasesBreaking) kill(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(200+b.random.IntN(3000)) * time.Millisecond):
		}
		a := b.agents[b.random.IntN(len(b.agents))]
		a.kill()
		b.kills++
		a.start()
	}
}

// content returns the file of a version, which begins with its number.
func (p *brokenProject) content(version int) []byte {
	head := fmt.Sprintf("%d %s\n", version, p.name)
	data := make([]byte, 300_000)
	rand.NewChaCha8(sha256.Sum256([]byte(head))).Read(data)
	return append([]byte(head), data...)
}

func (p *brokenProject) file(version int) string {
	return fmt.Sprintf("%s-1.%d.0.bin", p.name, version)
}

// write writes a part of a file into the folder of the server, in place.
func (p *brokenProject) write(name string, data []byte) {
	if err := os.WriteFile(filepath.Join(p.dir, name), data, 0o644); err != nil {
		p.t.Error(err)
	}
}

// upload uploads the rest of a version: its file, and then its list.
func (p *brokenProject) upload(version int) {
	data := p.content(version)
	p.write(p.file(version), data)
	p.write(p.file(version)+".sha256", fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(data), p.file(version)))
}

// uploadAtOnce uploads a version so that it is ready as soon as its file is seen.
func (p *brokenProject) uploadAtOnce(version int) {
	data := p.content(version)
	p.write(p.file(version)+".sha256", fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(data), p.file(version)))
	p.write(".new", data) // no index has it
	if err := os.Rename(filepath.Join(p.dir, ".new"), filepath.Join(p.dir, p.file(version))); err != nil {
		p.t.Error(err)
	}
}

// list lists a version in the feed.
func (p *brokenProject) list(version int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.listed = version, append(p.listed, version)
}

// remove removes a version with its files.
func (p *brokenProject) remove(version int) {
	p.mu.Lock()
	p.listed = slices.DeleteFunc(p.listed, func(v int) bool { return v == version })
	p.mu.Unlock()
	for _, ending := range []string{".sha256", ""} {
		if err := os.Remove(filepath.Join(p.dir, p.file(version)+ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.t.Error(err)
		}
	}
}

// release makes releases until end, and a last one. It waits for some of those that stay up.
func (p *brokenProject) release(random *rand.Rand, end time.Time) {
	defer p.late.Wait()
	for version := 1; ; version++ {
		last := time.Now().After(end)
		kind := random.IntN(10)
		if version == 1 || last {
			kind = 0
		}
		switch {
		case kind < 5:
			p.uploadAtOnce(version)
			p.list(version)
			if last || kind < 2 {
				p.await(version)
			}
		case kind < 7: // half uploaded, then completed
			data := p.content(version)
			p.list(version)
			p.write(p.file(version), data[:len(data)/2])
			late := time.Duration(random.IntN(2000)) * time.Millisecond
			p.late.Go(func() {
				time.Sleep(late)
				p.upload(version)
			})
		case kind < 8: // without its list
			p.write(p.file(version), p.content(version))
			p.list(version)
		case kind < 9: // only listed
			p.list(version)
		default:
			p.upload(version)
			p.list(version)
			time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
			p.remove(version)
		}
		if last {
			return
		}
		time.Sleep(time.Duration(2000+random.IntN(2000)) * time.Millisecond)
	}
}

// await waits until a version is in place.
func (p *brokenProject) await(version int) {
	for {
		p.mu.Lock()
		done := slices.Contains(p.seen, version)
		if done {
			p.waited++
		}
		p.mu.Unlock()
		if done || p.t.Failed() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// observe reads the file that the link leads to all the time.
func (p *brokenProject) observe(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(5 * time.Millisecond):
		}
		if _, err := os.Lstat(p.link); errors.Is(err, fs.ErrNotExist) && len(p.seen) == 0 {
			continue // the first version is not in place yet
		}
		data, err := os.ReadFile(p.link)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			p.t.Errorf("%s: the link leads to nothing: %v", p.name, err)
			return
		}
		version := 0
		fmt.Sscan(string(data), &version)
		if string(data) != string(p.content(version)) {
			p.t.Errorf("%s: %d bytes are in place, which are not the file of version %d", p.name, len(data), version)
			return
		}
		p.mu.Lock()
		switch n := len(p.seen); {
		case n > 0 && version < p.seen[n-1]:
			p.t.Errorf("%s: version %d came after %d", p.name, version, p.seen[n-1])
		case n == 0 || version > p.seen[n-1]:
			p.seen = append(p.seen, version)
		}
		p.mu.Unlock()
	}
}

// serve serves the feed and the files of a forge.
func (p *brokenProject) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	p.mu.Lock()
	list := slices.Clone(p.listed[max(0, len(p.listed)-10):])
	p.mu.Unlock()
	slices.Reverse(list)
	switch name {
	case "atom":
		fmt.Fprint(w,
			`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>x:1</id><title>Releases</title><updated>2026-11-01T00:00:00Z</updated>`)
		for _, v := range list {
			fmt.Fprintf(w,
				`<entry><id>x:1.%d.0</id><title>v1.%[1]d.0</title><updated>2026-11-01T00:00:00Z</updated><link href="http://%[2]s/tags/v1.%[1]d.0"/></entry>`, v, r.Host)
		}
		fmt.Fprint(w, "</feed>")
		return
	case "api":
		var items []string
		for _, v := range list {
			var assets []string
			for _, ending := range []string{"", ".sha256"} {
				state := "starter"
				if _, err := os.Stat(filepath.Join(p.dir, p.file(v)+ending)); err == nil {
					state = "uploaded"
				}
				assets = append(assets, fmt.Sprintf(`{"browser_download_url":"http://%s/%s","state":%q}`, r.Host,
					p.file(v)+ending, state))
			}
			items = append(items,
				fmt.Sprintf(`{"tag_name":"v1.%[1]d.0","html_url":"http://%[2]s/tags/%[1]d","assets":[%[3]s]}`, v,
					r.Host, strings.Join(assets, ",")))
		}
		fmt.Fprint(w, "["+strings.Join(items, ",")+"]")
		return
	}
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.Base(name)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, name, time.Time{}, strings.NewReader(string(data)))
}
