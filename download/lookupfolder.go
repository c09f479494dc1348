package download

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"braid/internal/lookup"
	"braid/source"
	"braid/verify"
)

// Limits of what lookups remember of folders in a run.
const (
	mostFolders  = 16
	mostShared   = 8         // lists of one folder
	mostKept     = 256 << 10 // bytes of a list that is kept for other files
	folderAge    = 10 * time.Minute
	emptyAge     = time.Minute // until a folder is looked at again that has nothing of a file
	mostAbsent   = 3           // of lists that are named after their file, until a folder is taken to have none
	maxFoundList = 4 << 20     // bytes of a list
)

// folders are what lookups found in folders, for all downloads of a run. A folder is looked at once.
type folders struct {
	mu  sync.Mutex
	all map[string]*folder
}

// A folder is what lookups found in one.
type folder struct {
	begun time.Time
	index once[listing]

	mu     sync.Mutex
	lists  map[string]*once[answered]
	misses int
}

// at returns what is known of a folder since no longer than age; nothing if that is older.
func (x *folders) at(key string, age time.Duration) *folder {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := x.all[key]
	if d != nil && time.Since(d.begun) < age {
		return d
	}
	if x.all == nil || len(x.all) >= mostFolders {
		x.all = map[string]*folder{}
	}
	d = &folder{begun: time.Now(), index: newOnce[listing](), lists: map[string]*once[answered]{}}
	x.all[key] = d
	return d
}

// list returns a list of the folder for all its files, or one for this file if there are many.
func (d *folder) list(name string) *once[answered] {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lists[name]
	if l == nil {
		fresh := newOnce[answered]()
		if l = &fresh; len(d.lists) < mostShared {
			d.lists[name] = l
		}
	}
	return l
}

// note counts whether a list that is named after its file was missing, and missed reports whether no more are asked
// for.
func (d *folder) note(missing bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.misses++; !missing {
		d.misses = 0
	}
}

func (d *folder) missed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.misses >= mostAbsent
}

// A once has a value that is made once for all who get it. Those who come meanwhile wait.
type once[T any] struct {
	turn  chan struct{} // one at a time
	value T
	made  bool
}

func newOnce[T any]() once[T] { return once[T]{turn: make(chan struct{}, 1)} }

// get returns the value. What make returns is kept if it says so. If ctx ends first, make is called all the same, and
// finds out itself.
func (o *once[T]) get(ctx context.Context, make func() (value T, keep bool)) T {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		value, _ := make()
		return value
	}
	if !o.made {
		value, keep := make()
		if !keep {
			return value
		}
		o.value, o.made = value, true
	}
	return o.value
}

// answered is the answer to a request of a lookup.
type answered struct {
	data []byte
	last *url.URL       // that answered
	page bool           // by its media type it is a web page
	over verify.Channel // the least trusted answer of the chain
	by   string         // a host of the chain that is not the asked server
	date time.Time      // Last-Modified
	err  error
}

// A listing is what the index of a folder lists.
type listing struct {
	answered
	names []string
}

// Why an answer is of no use.
var (
	errOtherFolder = errors.New("it leads to another folder")
	errPage        = errors.New("a page, and no list")
)

// fetch brings something small from the asked server, or from where that leads.
func (f *finder) fetch(ctx context.Context, u *url.URL, most int64) answered {
	o := f.req.optionsFor(u, f.req.Named, false)
	o.Referer = nil
	data, a, err := fetchSmall(ctx, f.http, u, o, most)
	return newAnswered(data, a, err, u, f.own)
}

// own reports whether an answer is from the asked server, or from where its forge delivers files.
func (f *finder) own(u *url.URL) bool {
	return lookup.SameHost(f.at, u) || f.asks != nil && f.asks.Delivers(u)
}

func newAnswered(data []byte, a source.Answer, err error, u *url.URL, own func(*url.URL) bool) answered {
	got := answered{data: data, last: u, over: channelOf(a), date: a.LastModified, err: err}
	for _, h := range a.Hops {
		got.last, got.page = h.URL, isPage(h.Header)
		if !own(h.URL) {
			got.by = source.HostPort(h.URL)
		}
	}
	return got
}

// isPage reports whether an answer is a web page by its media type.
func isPage(header map[string][]string) bool {
	media, _, _ := strings.Cut(http.Header(header).Get("Content-Type"), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "text/html" || media == "application/xhtml+xml"
}
