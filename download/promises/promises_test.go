package promises

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/verify"
)

var (
	now    = time.Unix(1_900_000_000, 0)
	strong = Promise{HTTPS: verify.SHA256}
	signed = Promise{OpenPGP: true}
	none   = Promise{}
)

func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// memory is a Memory in a folder that is not there yet.
func memory(t *testing.T) *Memory {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "state", "braid", "promises"))
}

func save(t *testing.T, m *Memory, now time.Time) {
	t.Helper()
	if err := m.Save(now); err != nil {
		t.Fatal(err)
	}
}

// broken tells whether m says that u offers less than before.
func broken(t *testing.T, m *Memory, u *url.URL, offered Promise, now time.Time) bool {
	t.Helper()
	err := m.Check(u, offered, now)
	var e *BrokenError
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	return err != nil
}

func TestKeptForTheNextRun(t *testing.T) {
	m, u := memory(t), parseURL(t, "https://mirror.example.org/secret/disk.iso")
	if broken(t, m, u, none, now) {
		t.Error("nothing was promised yet")
	}
	m.Keep(u, Promise{HTTPS: verify.SHA256, HTTP: verify.SHA512, OpenPGP: true, SMIME: true, Pieces: true}, now)
	save(t, m, now)
	m = Open(m.path)
	err := m.Check(u, Promise{OpenPGP: true}, now)
	want := "this URL gave sha-256 over https before, and now gives no digest; it named an S/MIME signature before, and now names none"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if broken(t, m, u, Promise{HTTPS: verify.SHA256, OpenPGP: true, SMIME: true}, now) {
		t.Error("what is kept is broken")
	}
	if broken(t, m, parseURL(t, "https://mirror.example.org/other"), none, now) {
		t.Error("another URL promised nothing")
	}
}

// Proves rule 62: the file is for the user only, and tells nobody what was downloaded.
func TestFileTellsNothing_Rule62(t *testing.T) {
	m := memory(t)
	m.Keep(parseURL(t, "https://me:pass@mirror.example.org/secret/disk.iso#part"), strong, now)
	save(t, m, now)
	data, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"me", "pass", "mirror", "example", "secret", "disk", "iso", "part"} {
		if strings.Contains(string(data), word) {
			t.Errorf("%q is in %s", word, data)
		}
	}
	for path, want := range map[string]os.FileMode{m.path: 0o600, filepath.Dir(m.path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want mode %o", path, info.Mode(), err, want)
		}
	}
}

func TestWhichURLsAreOne(t *testing.T) {
	const first = "https://example.org/a/b%20c"
	for _, tt := range []struct {
		url  string
		same bool
	}{
		{first, true}, {"https://EXAMPLE.org:443/a/b%20c", true}, {"https://me:pass@example.org/a/b%20c", true}, {first + "#x", true}, {first + "?", true},
		{"http://example.org/a/b%20c", false}, {"http://example.org:443/a/b%20c", false}, {"https://example.org:444/a/b%20c", false}, {"https://example.net/a/b%20c", false},
		{"https://example.org/a/b", false}, {"https://example.org/A/b%20c", false}, {first + "/", false},
		{first + "?file=1", false}, {"ftp://example.org/a/b%20c", false},
	} {
		m := memory(t)
		m.Keep(parseURL(t, first), strong, now)
		if got := broken(t, m, parseURL(t, tt.url), none, now); got != tt.same {
			t.Errorf("%s: %v, want %v", tt.url, got, tt.same)
		}
	}
	m := memory(t)
	for _, s := range []string{first + "?file=1", "ftp://example.org/", "file:///a", "https:///a", "mailto:a"} {
		m.Keep(parseURL(t, s), strong, now)
	}
	m.Keep(nil, strong, now)
	m.Forget(nil)
	if len(m.urls) > 0 || broken(t, m, nil, none, now) {
		t.Errorf("kept %v", m.urls)
	}
	m.Keep(parseURL(t, "https://example.org"), strong, now)
	if !broken(t, m, parseURL(t, "https://example.org/"), none, now) {
		t.Error("an empty path is /")
	}
}

// Only the user takes back what a server promised.
func TestKeepNeverLowers(t *testing.T) {
	m, u := memory(t), parseURL(t, "https://example.org/a")
	m.Keep(u, Promise{HTTPS: verify.SHA256, Pieces: true}, now)
	m.Keep(u, Promise{OpenPGP: true, SMIME: true}, now)
	m.Keep(u, Promise{HTTP: verify.MD5}, now)
	m.Keep(u, none, now)
	save(t, m, now)
	m = Open(m.path)
	m.Keep(u, none, now)
	if k, _ := keyOf(u); m.urls[k].Promise != (Promise{verify.SHA256, verify.MD5, true, true, true}) {
		t.Errorf("%+v", m.urls)
	}
	if !broken(t, m, u, strong, now) || !broken(t, m, u, signed, now) {
		t.Errorf("%+v", m.urls)
	}
	m.Forget(u)
	if broken(t, m, u, none, now) {
		t.Error("not forgotten")
	}
	m.Keep(u, signed, now)
	save(t, m, now)
	if m = Open(m.path); !broken(t, m, u, none, now) || broken(t, m, u, signed, now) {
		t.Error("what was forgotten came back from the file")
	}
	m.Forget(u)
	save(t, m, now)
	if m = Open(m.path); len(m.urls) > 0 {
		t.Error("not forgotten in the file")
	}
}

// Two programs that end at the same time lose nothing, and bring back nothing that the other forgot.
func TestSaveKeepsWhatOthersWrote(t *testing.T) {
	m := memory(t)
	shared, gone, mine, yours := parseURL(t, "https://h/shared"), parseURL(t, "https://h/gone"), parseURL(t, "https://h/mine"), parseURL(t, "https://h/yours")
	m.Keep(gone, strong, now)
	save(t, m, now)
	a, b := Open(m.path), Open(m.path)
	a.Keep(mine, strong, now)
	a.Keep(shared, strong, now)
	a.Forget(gone)
	b.Keep(yours, signed, now)
	b.Keep(shared, signed, now.Add(-48*time.Hour))
	save(t, a, now)
	save(t, b, now)
	m = Open(m.path)
	both := Promise{HTTPS: verify.SHA256, OpenPGP: true}
	for u, want := range map[*url.URL]Promise{shared: both, mine: strong, yours: signed, gone: none} {
		k, _ := keyOf(u)
		if got := m.urls[k]; got.Promise != want || want != none && u != yours && got.day != dayOf(now) {
			t.Errorf("%v: %+v, want %+v", u, got, want)
		}
	}
	if len(b.urls) != 3 {
		t.Errorf("the second does not know what the first wrote: %v", b.urls)
	}
}

func TestSaveWithNothingNew(t *testing.T) {
	m, u := memory(t), parseURL(t, "https://example.org/a")
	m.Keep(u, none, now)
	m.Forget(u)
	save(t, m, now)
	if _, err := os.Stat(m.path); err == nil {
		t.Fatal("written with nothing to say")
	}
	m.Keep(u, strong, now)
	save(t, m, now)
	if err := os.Remove(m.path); err != nil {
		t.Fatal(err)
	}
	m.Keep(u, strong, now)
	broken(t, m, u, none, now)
	save(t, m, now)
	if _, err := os.Stat(m.path); err == nil {
		t.Error("written with nothing new to say")
	}
}

// A promise is forgotten a year after it was last asked for.
func TestPromisesGetOld(t *testing.T) {
	u := parseURL(t, "https://example.org/a")
	for _, tt := range []struct {
		name string
		use  func(m *Memory, at time.Time)
		want bool
	}{
		{"not used", func(*Memory, time.Time) {}, false},
		{"checked", func(m *Memory, at time.Time) { m.Check(u, strong, at) }, true},
		{"checked and broken", func(m *Memory, at time.Time) { m.Check(u, none, at) }, true},
		{"kept", func(m *Memory, at time.Time) { m.Keep(u, none, at) }, true},
	} {
		m := memory(t)
		m.Keep(u, strong, now)
		save(t, m, now)
		m = Open(m.path)
		tt.use(m, now.Add(Old/2))
		save(t, m, now.Add(Old/2))
		if m = Open(m.path); broken(t, m, u, none, now.Add(Old)) != tt.want {
			t.Errorf("%s: after a year broken is %v", tt.name, !tt.want)
		}
	}
	m := memory(t)
	m.Keep(u, strong, now)
	if !broken(t, m, u, none, now.Add(Old-24*time.Hour)) {
		t.Error("forgotten too early")
	}
	m.Keep(parseURL(t, "https://example.org/b"), strong, now.Add(3*Old))
	save(t, m, now.Add(3*Old))
	if got := Open(m.path).urls; len(got) != 1 {
		t.Errorf("the old one is in the file: %v", got)
	}
	m = memory(t)
	m.Keep(u, strong, now)
	save(t, m, now)
	m = Open(m.path)
	m.Keep(u, signed, now.Add(Old))
	before := broken(t, m, u, signed, now.Add(Old))
	save(t, m, now.Add(Old))
	if m = Open(m.path); before || broken(t, m, u, signed, now.Add(Old)) {
		t.Error("what was forgotten counts again")
	}
}

// A clock that was wrong leaves no promise that stays for ever, and no file that cannot be read.
func TestWrongClocks(t *testing.T) {
	m, u := memory(t), parseURL(t, "https://example.org/a")
	m.Keep(u, strong, time.Unix(-1e9, 0))
	save(t, m, time.Unix(-1e9, 0))
	m = Open(m.path)
	m.Keep(u, strong, now.Add(100*Old))
	save(t, m, now.Add(100*Old))
	if m = Open(m.path); m.Problem() != "" || !broken(t, m, u, none, now) {
		t.Errorf("%s, %v", m.Problem(), m.urls)
	}
	save(t, m, now)
	if m = Open(m.path); broken(t, m, u, none, now.Add(Old)) {
		t.Error("still there after a year")
	}
	m = Open(m.path)
	m.Keep(u, strong, time.Unix(1<<55, 0))
	save(t, m, time.Unix(1<<55, 0))
	if m = Open(m.path); m.Problem() != "" {
		t.Error(m.Problem())
	}
}

func TestBounded(t *testing.T) {
	const last, step = maxURLs + 2*slack, time.Hour / 2
	m := memory(t)
	most := Promise{verify.SHA512, verify.SHA512, true, true, true}
	for i := range last + 1 {
		m.Keep(parseURL(t, fmt.Sprintf("https://h/%d", i)), most, now.Add(time.Duration(i)*step))
		if len(m.urls) > maxURLs+slack || len(m.dirty) > maxURLs+slack {
			t.Fatalf("%d URLs, %d new", len(m.urls), len(m.dirty))
		}
	}
	end := now.Add(last * step)
	save(t, m, end)
	if info, err := os.Stat(m.path); err != nil || info.Size() > maxFile {
		t.Fatalf("%v, %v", info.Size(), err)
	}
	m = Open(m.path)
	if !broken(t, m, parseURL(t, fmt.Sprintf("https://h/%d", last)), none, end) {
		t.Error("the newest is forgotten")
	}
	if broken(t, m, parseURL(t, "https://h/1000"), none, end) {
		t.Error("one of the oldest is not")
	}
	other := Open(m.path)
	other.Keep(parseURL(t, "https://h/other"), most, end)
	m.Keep(parseURL(t, "https://h/more"), most, end)
	save(t, other, end)
	save(t, m, end)
	if got := Open(m.path); len(got.urls) != maxURLs || !broken(t, got, parseURL(t, "https://h/other"), none, end) || !broken(t, got, parseURL(t, "https://h/more"), none, end) {
		t.Errorf("%d URLs: %s", len(got.urls), got.Problem())
	}
}

// Goroutines of a batch share one Memory.
func TestTogether(t *testing.T) {
	m := memory(t)
	var wg sync.WaitGroup
	for i := range 8 {
		u := parseURL(t, fmt.Sprintf("https://h/%d", i%4))
		wg.Go(func() {
			m.Keep(u, strong, now)
			broken(t, m, u, strong, now)
			m.Forget(u)
			m.Keep(u, signed, now)
			if err := m.Save(now); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(m.urls) != 4 {
		t.Errorf("%v", m.urls)
	}
}

func TestWithoutAFile(t *testing.T) {
	u := parseURL(t, "https://example.org/a")
	m := Open("")
	m.Keep(u, strong, now)
	if !broken(t, m, u, none, now) || m.Save(now) != nil || m.Problem() != "" {
		t.Error("a Memory without a file knows nothing")
	}
	var nobody *Memory
	nobody.Keep(u, strong, now)
	nobody.Forget(u)
	if broken(t, nobody, u, none, now) || nobody.Save(now) != nil || nobody.Problem() != "" {
		t.Error("the nil Memory knows something")
	}
}

func TestPath(t *testing.T) {
	for _, tt := range []struct{ state, home, want string }{
		{"/s", "/home/me", "/s/braid/promises"}, {"", "/home/me", "/home/me/.local/state/braid/promises"},
		{"relative", "/home/me", "/home/me/.local/state/braid/promises"}, {"/s", "", "/s/braid/promises"}, {"", "", ""},
	} {
		if got := Path(tt.state, tt.home); got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.state, tt.home, got, tt.want)
		}
	}
}
