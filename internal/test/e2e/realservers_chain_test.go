//go:build realservers

package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
)

// A relayer is an antenna that has a file of its own, publishes what it knows, and passes on what it reads elsewhere.
type relayer struct {
	*agent
	name string
	www  string // what it publishes
	url  string // where others find it
}

// A ring is three relayers: b reads a, c reads b, and a reads c.
type ring struct {
	t      *testing.T
	files  string // folder of the server with the files
	origin string
	outer  string // folder of the server with a feed from outside, which b reads
	list   []*relayer
}

// formats are what relayers publish for each other.
var formats = map[string]feed.FormatID{"hina.di": feed.HinaDI, "antenna.lirs.gz": feed.LIRS, "antenna.soif": feed.SOIF}

func newRing(t *testing.T) *ring {
	t.Helper()
	r := &ring{t: t, files: publicDir(t), outer: publicDir(t)}
	digests := map[string]string{}
	for i, name := range []string{"a", "b", "c"} {
		data := bytes.Repeat([]byte(name), 1000+i)
		put(t, filepath.Join(r.files, name+".iso"), data, firstModified)
		digests[nginxETag(firstModified, len(data))] = base64SHA256(data)
		a := &relayer{agent: newAgent(t, t.TempDir()), name: name, www: publicDir(t)}
		a.url = "http://" + nginx.start(t, site{root: a.www}) + "/"
		r.list = append(r.list, a)
	}
	r.origin = "http://" + nginx.start(t, site{root: r.files, digests: digests}) + "/"
	outer := "http://" + nginx.start(t, site{root: r.outer}) + "/"
	for i, a := range r.list {
		from := r.list[(i+2)%3]
		text := fmt.Sprintf("state = 'state'\nhost-gap = '1ms'\nuser-agent = 'relayer-%s/1'\n[publish]\ndir = "+
			"'%s'\nagent-url = '%s'\n"+
			"[watch.own]\nurl = '%s%s.iso'\ndir = 'files'\ncheck-every = '1h'\n", a.name, a.www, a.url, r.origin, a.name)
		feeds := map[string]string{}
		for name := range formats {
			feeds[strings.ReplaceAll(name, ".", "-")] = from.url + name
		}
		if a.name == "b" {
			feeds["outer"] = outer + "outer.di"
		}
		var trust []string
		for _, u := range []string{r.list[0].url, r.list[1].url, r.list[2].url, "http://outer.example/"} {
			trust = append(trust, strconv.Quote(u))
			if host := strings.Trim(strings.TrimPrefix(u, "http://"), "/"); strings.Contains(host, ":") { // a gatherer of SOIF
				trust = append(trust, strconv.Quote(host))
			}
		}
		for name, url := range feeds {
			text += fmt.Sprintf("[feed.%s]\nurl = '%s'\nrelay = true\ntrust = [%s]\n", name, url, strings.Join(trust, ", "))
		}
		a.write("watch.toml", text)
	}
	return r
}

// round has each of the antennas look at everything once, one after the other or all at once.
func (r *ring) round(atOnce bool) {
	r.t.Helper()
	var wg sync.WaitGroup
	for _, a := range r.list {
		cmd := a.command("run", "own", "watch.toml")
		look := func() { cmd.Run() } // a file that is gone is an exit code
		if atOnce {
			wg.Go(look)
		} else {
			look()
		}
	}
	wg.Wait()
}

// reads are the records that an agent publishes in a file, by the file that they are about. They must be to the letter.
func (r *ring) reads(a *relayer, name string) map[string]feed.Record {
	r.t.Helper()
	f, err := os.Open(filepath.Join(a.www, name))
	if err != nil {
		r.t.Fatalf("%v\n%s", err, a.read("log"))
	}
	defer f.Close()
	in, format, err := antenna.OpenFeed(f, feed.Limits{})
	records := map[string]feed.Record{}
	if err != nil && formats[name] == feed.SOIF {
		return records // without records it is empty
	}
	if err != nil || format.ID != formats[name] {
		r.t.Fatalf("%s of %s: %v, %v", name, a.name, format, err)
	}
	o := feed.Options{Strict: true, Report: func(v feed.Violation) {
		if v.Weight != feed.Note {
			r.t.Errorf("%s of %s: %v", name, a.name, v)
		}
	}}
	for rec, err := range antenna.NewDecoder(format, in, o).Records() {
		about := strings.TrimSuffix(filepath.Base(rec.URL), ".iso")
		if _, twice := records[about]; twice || err != nil {
			r.t.Errorf("%s of %s: %s twice, or %v", name, a.name, about, err)
		}
		records[about] = rec
	}
	return records
}

// wantHops compares how far the records of each agent have come: -1 is one that is not there.
func (r *ring) wantHops(when string, want map[string]map[string]int) {
	r.t.Helper()
	for _, a := range r.list {
		for name := range formats {
			got := r.reads(a, name)
			if known := slices.Sorted(maps.Keys(want[a.name])); name != "hina.di" {
				known = slices.DeleteFunc(known, func(s string) bool { return s == "outer" })
				if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, known) {
					r.t.Errorf("%s: %s of %s is about %q, want %q", when, name, a.name, keys, known)
				}
				continue
			}
			hops := map[string]int{}
			for about, rec := range got {
				hops[about] = rec.Hops()
			}
			if !maps.Equal(hops, want[a.name]) {
				r.t.Errorf("%s: the records of %s have come so far: %v, want %v\n%s", when, a.name, hops, want[a.name],
					a.readFile(filepath.Join(a.www, name)))
			}
		}
	}
}

// TestRealChain: three antennas relay to each other. Method shows the way, nothing goes round twice, nobody takes back
// its own word, and what has expired or is no longer said vanishes.
func TestRealChain(t *testing.T) {
	t.Parallel() // most of it is waiting
	r := newRing(t)
	expires := time.Now().Add(20 * time.Second)
	put(t, filepath.Join(r.outer, "outer.di"),
		[]byte("HINA/2.2beta\r\nUser-Agent: outer/1\r\n\r\nURL: http://outer.example/outer.iso\r\n"+
			"Authorized: outer/1\r\nAuthorized-url: http://outer.example/\r\nLast-Modified: Sun, 01 Nov 2026 12:00:00 GMT\r\n"+
			"Expires: "+expires.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")+"\r\nMethod: GET/200\r\nX-Note: as it "+
			"was\r\n\r\n"), time.Now())
	there := func(i int) bool { return r.reads(r.list[i], "hina.di")["outer"].URL != "" }
	for r.round(false); !(there(1) && there(2)) && time.Now().Before(expires.Add(-10*time.Second)); {
		r.round(false)
	}
	if time.Now().Before(expires.Add(-2 * time.Second)) { // else the machine is too slow to see it
		if got := r.reads(r.list[1], "hina.di")["outer"]; strings.Join(got.Method, "/")+"/"+
			got.Result != "REMOTE/GET/200" || fieldOf(got, "X-Note") != "as it was" {
			t.Errorf("from outside came %+v\n%s", got, r.list[1].read("log"))
		}
		if got := r.reads(r.list[2], "hina.di")["outer"]; got.Hops() != 2 {
			t.Errorf("from outside came %+v to c", got)
		}
	}
	for i := range 4 {
		r.round(i >= 2)
	}
	time.Sleep(time.Until(expires.Add(1100 * time.Millisecond))) // in its last second it is still good
	for range 3 {
		r.round(false)
	}
	r.wantHops("in the end", map[string]map[string]int{
		"a": {"a": 0, "b": 2, "c": 1}, "b": {"a": 1, "b": 0, "c": 2}, "c": {"a": 2, "b": 1, "c": 0},
	})
	r.wantWhole()

	if err := os.Remove(filepath.Join(r.files, "a.iso")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.round(false)
	}
	for _, a := range r.list {
		if got, ok := r.reads(a, "hina.di")["a"]; ok {
			t.Errorf("%s has a record of what its agent cannot reach any more: %+v", a.name, got)
		}
	}
	if got := r.reads(r.list[0], "antenna.lirs.gz")["a"]; !got.Failed {
		t.Errorf("its own agent says %+v", got)
	}
}

// wantWhole compares what arrived with what was said first: nothing but the way differs.
func (r *ring) wantWhole() {
	r.t.Helper()
	for i, a := range r.list {
		last := r.list[(i+2)%3]
		for name, format := range formats {
			first, far := r.reads(a, name)[a.name], r.reads(last, name)[a.name]
			ours := format == feed.SOIF && first.AgentURL == strings.Trim(strings.TrimPrefix(a.url, "http://"), "/") ||
				first.AgentURL == a.url
			if !ours || first.Size == 0 || first.LastModified != feed.At(firstModified) || first.Detected == 0 {
				r.t.Errorf("%s of %s: %+v", name, a.name, first)
			}
			first, far = wayless(first), wayless(far)
			// By a round or two it may be older.
			if far.Detected > first.Detected || far.Detected < first.Detected-120 ||
				fmt.Sprint(undated(first)) != fmt.Sprint(undated(far)) {
				r.t.Errorf("%s: %s says\n%+v\nand of that comes to %s\n%+v", name, a.name, first, last.name, far)
			}
		}
	}
}

// wayless is a record without how it came.
func wayless(r feed.Record) feed.Record {
	r.Fields = slices.Clone(r.Fields)
	for i, f := range r.Fields {
		if strings.EqualFold(f.Name, "Method") {
			r.Fields[i].Value = strings.TrimPrefix(f.Value, "REMOTE/REMOTE/")
		}
	}
	r.Method, r.Line, r.Offset, r.FeedDate = nil, 0, 0, 0
	return r
}

// undated is a record without what is another with each look at the site.
func undated(r feed.Record) feed.Record {
	r.Detected, r.Date, r.Expires, r.Result = 0, 0, 0, ""
	r.Fields = slices.DeleteFunc(slices.Clone(r.Fields), func(f feed.Field) bool {
		return slices.Contains([]string{"Date", "Expires", "Expire", "Last-Modified-Detected", "Method", "Update-Time"}, f.Name)
	})
	return r
}

func fieldOf(r feed.Record, name string) string { value, _ := r.Get(name); return value }
