package antenna

import (
	"compress/gzip"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/lirs"
	"braid/antenna/news"
	"braid/antenna/soif"
)

// The names of the feeds that are published.
const (
	fileHinaDI   = "hina.di"
	fileLIRS     = "antenna.lirs"
	fileLIRSGzip = "antenna.lirs.gz"
	fileSOIF     = "antenna.soif"
	fileAtom     = "atom.xml"
)

const now feed.Time = 1794279600

// ours returns a snapshot of the agent at http://me.example/.
func ours(records ...feed.Known) feed.Snapshot {
	return feed.Snapshot{Agent: "me/1", AgentURL: "http://me.example/", Now: now.UTC(), Records: records}
}

// own returns an observation of this antenna that is five minutes old.
func own(url string, change func(*feed.Known)) feed.Known {
	k := feed.Known{Own: true, TimeDetected: now - 300, Record: feed.Record{
		URL: url, LastModified: now - 7200, Detected: now - 300, Method: []string{"HEAD"}, Result: "200",
	}}
	if change != nil {
		change(&k)
	}
	return k
}

// relayed returns the records of a feed, as trusted records of the feed "f".
func relayed(t *testing.T, records iter.Seq2[feed.Record, error]) (list []feed.Known) {
	t.Helper()
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, feed.Known{Record: r, Feed: "f", Trusted: true})
	}
	return list
}

func hina(text string) iter.Seq2[feed.Record, error] {
	return hinadi.NewDecoder(strings.NewReader("HINA/2.2beta\r\nUser-Agent: a\r\nDate: Tue, 10 Nov 2026 02:59:00 "+
		"GMT\r\n\r\n"+text), feed.Options{}).Records()
}

// published writes a snapshot and returns the content of the files.
func published(t *testing.T, s feed.Snapshot, o FolderOptions) (map[string]string, FolderReport) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a", "b")
	report, err := WriteFolder(dir, s, o)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files, report
}

func read(t *testing.T, records iter.Seq2[feed.Record, error]) (list []feed.Record) {
	t.Helper()
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// strictly reads the written files in strict mode and checks that they have no violations.
func strictly(t *testing.T, files map[string]string) (di, l, so, atom []feed.Record) {
	t.Helper()
	o := feed.Options{Strict: true, Report: func(v feed.Violation) {
		if v.Code != "not-gzip" {
			t.Errorf("line %d: %s: %s", v.Line, v.Code, v.Text)
		}
	}}
	di = read(t, hinadi.NewDecoder(strings.NewReader(files[fileHinaDI]), o).Records())
	l = read(t, lirs.NewDecoder(strings.NewReader(files[fileLIRS]), o).Records())
	so = read(t, soif.NewDecoder(strings.NewReader(files[fileSOIF]), feed.Options{Strict: true}).Records())
	atom = read(t, news.NewDecoder(strings.NewReader(files[fileAtom]), o).Records())
	return di, l, so, atom
}

func urls(list []feed.Record) (out []string) {
	for _, r := range list {
		out = append(out, r.URL)
	}
	return out
}

func TestOwn(t *testing.T) {
	files, report := published(t, ours(
		own("HTTP://H.example:80/a/index.html", func(k *feed.Known) { k.Title, k.Size, k.Zone = "朝顔, A", 5, 32400 }),
		own("http://h.example/size", func(k *feed.Known) { k.TimeDetected = now - 6000 }),
		own("http://h.example/gone", func(k *feed.Known) { k.Failed, k.LastModified, k.Detected = true, 0, 0 }),
		own("http://me:secret@h.example/", nil),
		own("http://h.example/no url", nil),
	), FolderOptions{})
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, []string{fileLIRS, fileLIRSGzip, fileSOIF, fileAtom,
		fileHinaDI, filePage}) || !slices.Equal(slices.Sorted(slices.Values(report.Files)), got) {
		t.Errorf("the folder has %q, written are %q", got, report.Files)
	}
	di, l, so, atom := strictly(t, files)
	want := []string{"http://h.example/a/", "http://h.example/size"}
	if !slices.Equal(urls(di), want) || !slices.Equal(urls(so), want) || !slices.Equal(urls(atom), []string{want[0], want[1]}) {
		t.Errorf("hina-di %q, fileSOIF %q, fileAtom %q", urls(di), urls(so), urls(atom))
	}
	const block = "URL: http://h.example/a/\r\nDate: Tue, 10 Nov 2026 03:00:00 GMT\r\nTitle: \xc4\xab\xb4\xe9, A\r\n" +
		"Expires: Tue, 10 Nov 2026 10:55:00 GMT\r\nExpire: Tue, 10 Nov 2026 10:55:00 GMT\r\n" +
		"Last-Modified: Tue, 10 Nov 2026 01:00:00 GMT\r\nLast-Modified-Detected: Tue, 10 Nov 2026 02:55:00 GMT\r\n" +
		"Authorized: me/1\r\nAuthorized-url: http://me.example/\r\nMethod: HEAD/200\r\nContent-Length: 5\r\n\r\n"
	if !strings.Contains(files[fileHinaDI], block) ||
		!strings.HasPrefix(files[fileHinaDI], "HINA/2.2beta\r\nUser-Agent: me/1\r\nDate: Tue, 10 Nov 2026 03:00:00 GMT\r\n") {
		t.Errorf("%q", files[fileHinaDI])
	}
	const lines = "LIRS,1794272400,1794279300,32400,5,http://h.example/a/,\xc4\xab\xb4\xe9\\, A,0,http://me.example/,\n" +
		// Last-Detected is when the date was found
		"LIRS,1794272400,1794273600,0,0,http://h.example/size,0,0,http://me.example/,\n" +
		"LIRS,0,0,0,0,http://h.example/gone,0,0,http://me.example/,\n"
	if files[fileLIRS] != lines || len(l) != 3 || !l[2].Failed {
		t.Errorf("%q", files[fileLIRS])
	}
	if z, err := gzip.NewReader(strings.NewReader(files[fileLIRSGzip])); err != nil {
		t.Error(err)
	} else if plain, err := io.ReadAll(z); err != nil || string(plain) != lines {
		t.Errorf("%q, %v", plain, err)
	}
	if so[0].Expires != now-300+feed.Validity || so[0].AgentURL != "me.example" {
		t.Errorf("%+v", so[0])
	}
	if report.Unwritable != 1+3 || report.Records[fileLIRS] != 3 || report.Records[fileHinaDI] != 2 {
		t.Errorf("%+v", report)
	}
	for name, text := range files {
		if strings.Contains(text, "secret") {
			t.Errorf("%s has a password", name)
		}
	}
}

// TestRelayed checks the rules for relaying (hina-di, sections 12 and 13) with a block that violates each of them.
func TestRelayed(t *testing.T) {
	block := func(url string, change func(string) string) string {
		b := "URL: " + url + "\r\nX-Kept: as is\r\nLast-Modified: Tue, 10 Nov 2026 01:12:45 " +
			"GMT\r\nLast-Modified-Detected: Tue, 10 Nov 2026 02:58:03 GMT\r\n" +
			"Authorized: Kamome/1.4\r\nAuthorized-url: http://k.example/\r\nMethod: REMOTE/GET/200\r\n\r\n"
		if change != nil {
			b = change(b)
		}
		return b
	}
	without := func(line string) func(string) string {
		return func(b string) string { return strings.Replace(b, line, "", 1) }
	}
	with := func(line string) func(string) string {
		return func(b string) string { return strings.TrimSuffix(b, "\r\n") + line + "\r\n\r\n" }
	}
	records := relayed(t, hina(block("http://h.example/good", nil)+
		block("http://h.example/anonymous", without("Authorized: Kamome/1.4\r\n"))+
		block("http://h.example/nowhere", without("Authorized-url: http://k.example/\r\n"))+
		block("http://h.example/expired", with("Expires: Tue, 10 Nov 2026 02:59:59 GMT"))+
		block("http://h.example/ours", func(b string) string {
			return strings.Replace(b, "http://k.example/", "HTTP://ME.example", 1)
		})+
		block("http://h.example/undated", without("Last-Modified-Detected: Tue, 10 Nov 2026 02:58:03 GMT\r\n"))+
		block("http://h.example/far", func(b string) string {
			return strings.Replace(b, "REMOTE/", strings.Repeat("REMOTE/", 8), 1)
		})+
		block("http://h.example/methodless", without("Method: REMOTE/GET/200\r\n"))))
	untrusted := relayed(t, hina(block("http://h.example/untrusted", nil)))
	untrusted[0].Trusted = false
	// the newer one is chosen as a whole
	both := own("http://h.example/good", func(k *feed.Known) { k.Detected, k.Title = now-9000, "older" })
	files, report := published(t, ours(append(append(records, untrusted...), both)...), FolderOptions{})
	head := strings.Index(files[fileHinaDI], "\r\n\r\n") + 4
	want := strings.Replace(block("http://h.example/good", nil), "REMOTE/GET", "REMOTE/REMOTE/GET", 1) +
		block("http://h.example/methodless", without("Method: REMOTE/GET/200\r\n"))
	if got := files[fileHinaDI][head:]; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	refused := map[feed.Refusal]int{"no-authority": 2, "no-longer-good": 1, "own-returned": 1, "undated": 1,
		"too-many-hops": 1, feed.Untrusted: 1}
	if !reflect.DeepEqual(report.Refused, refused) {
		t.Errorf("refused: %v", report.Refused)
	}
	// The other formats have only records of this antenna.
	_, l, so, atom := strictly(t, files)
	for _, list := range [][]feed.Record{l, so, atom} {
		if len(list) != 1 || list[0].Title+" " == " " {
			t.Errorf("%+v", list)
		}
	}
	for _, name := range []string{"untrusted", "ours", "expired"} {
		if strings.Contains(files[filePage], "h.example/"+name) {
			t.Errorf("the page has %s", name)
		}
	}
	if !strings.Contains(files[filePage], "h.example/good") || !strings.Contains(files[filePage], "Kamome/1.4") {
		t.Errorf("%s", files[filePage])
	}
}

func TestRelayedLIRS(t *testing.T) {
	const line = "LIRS,1794272400,1794279000,32400,7,http://h.example/a,t,a,http://k.example/,http://h.example/check,,x,\n"
	records := relayed(t, lirs.NewDecoder(strings.NewReader(line+
		"LIRS,0,0,0,0,http://h.example/failed,0,0,http://k.example/,\n"+
		"LIRS,1794240000,1794250000,0,0,http://h.example/old,0,0,http://k.example/,\n"), feed.Options{}).Records())
	failed := own("http://h.example/A", func(k *feed.Known) {
		k.Failed, k.LastModified, k.Detected, k.TimeDetected = true, 0, 0, 0
	})
	files, _ := published(t, ours(append(records, failed)...), FolderOptions{})
	// Last-Detected, agent and extensions are inherited; a success of others counts more than our failure
	if files[fileLIRS] != line {
		t.Errorf("%q", files[fileLIRS])
	}
}

func TestRelayedSOIF(t *testing.T) {
	const object = "@DOCUMENT { http://h.example/\nUpdate-Time{10}:\t1794279483\nIcon{4}:\t\x00\xff}\n\nGatherer-Host{9}:\tg.example\n}\n"
	files, _ := published(t, ours(relayed(t, soif.NewDecoder(strings.NewReader(object), feed.Options{}).Records())...),
		FolderOptions{})
	if files[fileSOIF] != object {
		t.Errorf("%q", files[fileSOIF])
	}
}

// TestUnchanged checks that a file whose content stays the same is not written again even if others change, and that a
// link in place of a file is replaced by a regular file.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	s := ours(own("http://h.example/", nil))
	write := func() []string {
		t.Helper()
		report, err := WriteFolder(dir, s, FolderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return report.Files
	}
	write()
	if again := write(); len(again) > 0 {
		t.Errorf("written again: %q", again)
	}
	s.Now = s.Now.Add(time.Minute)
	if later := write(); !slices.Equal(later, []string{fileHinaDI, filePage}) {
		t.Errorf("a minute later: %q", later)
	}
	other := filepath.Join(t.TempDir(), "other")
	lines, _ := os.ReadFile(filepath.Join(dir, fileLIRS))
	os.WriteFile(other, lines, 0o600)
	os.Remove(filepath.Join(dir, fileLIRS))
	if err := os.Symlink(other, filepath.Join(dir, fileLIRS)); err != nil {
		t.Fatal(err)
	}
	if got := write(); !slices.Equal(got, []string{fileLIRS}) {
		t.Errorf("a link in its place: %q", got)
	}
	if info, err := os.Lstat(filepath.Join(dir, fileLIRS)); err != nil || !info.Mode().IsRegular() ||
		info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 6 {
		t.Errorf("the folder has %v", entries)
	}
}

// TestDateOfOwnBlocks checks that the Date of a block is the time of writing (section 5.7), not that of the check.
func TestDateOfOwnBlocks(t *testing.T) {
	files, _ := published(t, ours(own("http://h.example/", func(k *feed.Known) { k.Date = now - 7000 })), FolderOptions{})
	if !strings.Contains(files[fileHinaDI], "URL: http://h.example/\r\nDate: Tue, 10 Nov 2026 03:00:00 GMT\r\n") {
		t.Errorf("%q", files[fileHinaDI])
	}
}

// TestUndecodableIsNotPassedOn checks that a block with bytes that are not text in its charset is not relayed, because
// it could not be written unchanged (section 12).
func TestUndecodableIsNotPassedOn(t *testing.T) {
	const rest = "Last-Modified: Tue, 10 Nov 2026 01:00:00 GMT\r\nLast-Modified-Detected: Tue, 10 Nov 2026 02:00:00 " +
		"GMT\r\nAuthorized: a\r\nAuthorized-url: http://a.example/\r\n\r\n"
	s := feed.Snapshot{Now: now.UTC(), Agent: "me", AgentURL: "http://me.example/"}
	s.Records = relayed(t, hina("URL: http://h.example/bad\r\nTitle: \xff\xfe\xfd\r\n"+rest+
		"URL: http://h.example/good\r\nTitle: \\xFF\r\n"+rest))
	files, report := published(t, s, FolderOptions{})
	if strings.Contains(files[fileHinaDI], "/bad") || !strings.Contains(files[fileHinaDI], "/good") ||
		report.Refused["undecodable"] == 0 {
		t.Errorf("%q, %+v", files[fileHinaDI], report)
	}
}
