package antenna

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"braid/antenna/release"
)

// A shelf is how a project lists its releases.
type shelf int

const (
	atomShelf   shelf = iota // the tags, ten at a time
	limitShelf               // an API with a limit of requests an hour, ten at a time
	apiShelf                 // an API
	folderShelf              // the index page of a folder
)

func (s shelf) String() string { return [...]string{"atom", "limited api", "api", "folder"}[s] }

// listed is the number of releases that a feed lists.
const listed = 10

// A story is the history of a release. A zero time never comes.
type story struct {
	tag, version string
	marked       bool // as a pre-release, by an API only
	// listed is when the feed lists the release. file and proof are when these are uploaded.
	listed, file, proof time.Time
	replaced, removed   time.Time
}

// since reports whether a time has come.
func since(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// isThere reports whether a file that comes at a time exists and the release was not removed.
func (s *story) isThere(at, now time.Time) bool { return since(at, now) && !since(s.removed, now) }

// up returns the time from which the release is listed with its file and proof.
func (s *story) up() (at time.Time, ever bool) {
	for _, t := range []time.Time{s.listed, s.file, s.proof} {
		if t.IsZero() {
			return t, false
		}
		if t.After(at) {
			at = t
		}
	}
	return at, true
}

// digest returns the digest of the file.
func (s *story) digest(now time.Time) string {
	if since(s.replaced, now) {
		return "second file of " + s.version
	}
	return "file of " + s.version
}

// A saga is a project with its history.
type saga struct {
	shelf   shelf
	name    string
	host    string
	stories []*story // by the time of listing
	// text is the feed until that time.
	text  string
	until time.Time

	polls, asks int // requests for the feed, and for files
	inPlace     []placing
	broke       bool // the last download
}

// A placing is when a version was put in place.
type placing struct {
	at      time.Time
	version string
}

// invent returns the history of a project.
func invent(random *rand.Rand, p *saga, start time.Time, span time.Duration) {
	mean := 8 * time.Hour << random.IntN(8) // from thrice a day to every six weeks
	major, minor, patch := 1, 0, 0
	for at := start.Add(-2 * mean); at.Before(start.Add(span)); at = at.Add(time.Minute +
		time.Duration(random.ExpFloat64()*float64(mean))) {
		if patch++; random.IntN(4) == 0 {
			minor, patch = minor+1, 0
		}
		s := &story{version: fmt.Sprintf("%d.%d.%d", major, minor, patch), listed: at}
		s.file = at.Add(time.Duration(random.IntN(10)) * time.Minute)
		s.proof = s.file.Add(time.Duration(random.IntN(5)) * time.Minute) // the file is half uploaded until then
		switch kind := random.IntN(100); {
		case kind < 15:
			s.file = at.Add(time.Duration(random.IntN(8*60)) * time.Minute)
			s.proof = s.file.Add(time.Duration(random.IntN(3*60)) * time.Minute)
		case kind < 20:
			s.file = time.Time{}
		case kind < 23:
			s.proof = time.Time{}
		case kind < 30:
			if s.marked = p.shelf == apiShelf; !s.marked {
				s.version += "-rc.1"
			}
		case kind < 37:
			s.removed = at.Add(time.Duration(1+random.IntN(72*60)) * time.Minute)
		case kind < 43:
			s.replaced = at.Add(time.Duration(random.IntN(10*24*60)) * time.Minute)
		case kind < 48: // older series
			for i := range 1 + random.IntN(12) {
				old := at.Add(time.Duration(i) * time.Second)
				p.add(&story{version: fmt.Sprintf("0.%d.%d", i, random.IntN(1000)), listed: old, file: old, proof: old})
			}
			s.listed = s.listed.Add(time.Minute)
		}
		p.add(s)
	}
}

func (p *saga) add(s *story) {
	s.tag = "v" + s.version
	if p.shelf == folderShelf {
		s.listed = s.file
	}
	if p.stories = append(p.stories, s); s.listed.IsZero() {
		p.stories = p.stories[:len(p.stories)-1] // no folder lists it
	}
}

// at returns the feed at a time. A change makes it another text.
func (p *saga) at(now time.Time) string {
	if p.text != "" && now.Before(p.until) {
		return p.text
	}
	p.until = now.Add(100 * 365 * 24 * time.Hour)
	var there []*story
	for _, s := range p.stories {
		for _, t := range []time.Time{s.listed, s.file, s.proof, s.replaced, s.removed} {
			if t.After(now) && t.Before(p.until) {
				p.until = t
			}
		}
		if s.isThere(s.listed, now) {
			there = append(there, s)
		}
	}
	if p.shelf != folderShelf {
		there = there[max(0, len(there)-listed):]
	}
	p.text = map[shelf]func([]*story, time.Time) string{
		atomShelf: p.atom, limitShelf: p.api, apiShelf: p.api, folderShelf: p.folder,
	}[p.shelf](there, now)
	return p.text
}

func (p *saga) atom(list []*story, _ time.Time) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>x:` + p.name +
		`</id><title>Releases</title><updated>2000-01-01T00:00:00Z</updated>`)
	for i := range list {
		s := list[len(list)-1-i]
		fmt.Fprintf(&b,
			`<entry><id>x:%[1]s/%[2]s</id><title>%[2]s</title><updated>%[3]s</updated><link href="https://%[4]s/%[1]s/releases/tag/%[2]s"/></entry>`,
			p.name, s.tag, s.listed.UTC().Format(time.RFC3339), p.host)
	}
	return b.String() + "</feed>"
}

func (p *saga) api(list []*story, now time.Time) string {
	items := []string{`{"tag_name":"v9999.0.0","draft":true,"assets":[]}`}
	for i := range list {
		s := list[len(list)-1-i]
		var assets []string
		for name, at := range map[string]time.Time{p.file(s): s.file, p.file(s) + ".sha256": s.proof} {
			state, updated := "starter", s.listed
			if s.isThere(at, now) {
				state, updated = "uploaded", at
			}
			if since(s.replaced, now) {
				updated = s.replaced
			}
			assets = append(assets,
				fmt.Sprintf(`{"browser_download_url":"https://files.%s/%s","state":%q,"size":1000,"updated_at":%q}`,
					p.host, name, state, updated.UTC().Format(time.RFC3339)))
		}
		items = append(items,
			fmt.Sprintf(`{"tag_name":%q,"prerelease":%t,"html_url":"https://%s/%s","published_at":%q,"assets":[%s]}`,
				s.tag, s.marked, p.host, p.name, s.listed.UTC().Format(time.RFC3339), strings.Join(assets, ",")))
	}
	return "[" + strings.Join(items, ",\n") + "]"
}

func (p *saga) folder(list []*story, now time.Time) string {
	var b strings.Builder
	b.WriteString("<html><head><title>Index of /" + p.name + "/</title></head><body><h1>Index of /" + p.name +
		`/</h1><hr><pre><a href="../">../</a>` + "\n")
	for _, s := range list {
		for name, at := range map[string]time.Time{p.file(s): s.file, p.file(s) + ".sha256": s.proof} {
			if s.isThere(at, now) {
				if since(s.replaced, now) {
					at = s.replaced
				}
				name = name[strings.LastIndexByte(name, '/')+1:]
				fmt.Fprintf(&b, "<a href=\"%s\">%[1]s</a>   %s   1000\n", name, at.UTC().Format("02-Jan-2006 15:04"))
			}
		}
	}
	return b.String() + "</pre><hr></body></html>"
}

// file returns the path of the file of a release.
func (p *saga) file(s *story) string {
	if p.shelf == folderShelf {
		return p.name + "/tool-" + s.version + ".tar.gz"
	}
	return p.name + "/" + s.tag + "/tool-" + s.version + ".tar.gz"
}

// feed returns the feed of the project, and watch the watch of its releases.
func (p *saga) feed() Feed {
	return Feed{Name: p.name, URL: "https://" + p.host + "/" + p.name + "/", Max: 50 * time.Minute}
}

func (p *saga) watch(t *release.Template) Watch {
	return Watch{Name: p.name, Releases: &Releases{Template: t}, Feeds: []string{p.name}}
}

// template returns the URL of files.
func (p *saga) template() string {
	if p.shelf == folderShelf {
		return "https://" + p.host + "/" + p.name + "/tool-{version}.tar.gz"
	}
	return "https://files." + p.host + "/" + p.name + "/{tag}/tool-{version}.tar.gz"
}

// A forge has the feeds of all projects instead of the network. Its limited API answers a number of requests an hour.
type forge struct {
	projects map[string]*saga
	limit    int

	mu      sync.Mutex
	hour    time.Time
	left    int
	refused int
}

func (f *forge) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	p := f.projects[strings.Trim(req.URL.Path, "/")]
	p.polls++
	var fields []string
	if p.shelf == limitShelf {
		if hour := now.Truncate(time.Hour); !hour.Equal(f.hour) {
			f.hour, f.left = hour, f.limit
		}
		f.left--
		fields = []string{fmt.Sprintf("X-RateLimit-Limit: %d", f.limit), fmt.Sprintf("X-RateLimit-Remaining: %d", max(f.left, 0)),
			fmt.Sprintf("X-RateLimit-Reset: %d", f.hour.Add(time.Hour).Unix())}
		if f.left < 0 {
			f.refused++
			return says(http.StatusForbidden, `{"message":"API rate limit exceeded"}`, fields...), nil
		}
	}
	text := p.at(now)
	etag := fmt.Sprintf(`"%d %d"`, len(text), p.until.Unix())
	fields = append(fields, "ETag: "+etag)
	if req.Header.Get("If-None-Match") == etag {
		return says(http.StatusNotModified, "", fields...), nil
	}
	return says(http.StatusOK, text, fields...), nil
}
