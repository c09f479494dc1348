package speeds

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var now = time.Unix(1_900_000_000, 0)

func TestRememberedAcrossRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "speeds")
	m := Open(path)
	m.Learn(now, Speed{"a.example:80", 4e6, 40 * time.Millisecond})
	m.LearnTogether(now, 9e6)
	if err := m.Save(now); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v: only the user should read whom he visits", info, err)
	}
	m = Open(path)
	if rate, rtt := m.Hint("a.example:80", now.Add(time.Hour)); rate != 4e6 || rtt != 40*time.Millisecond {
		t.Errorf("hint %v %v", rate, rtt)
	}
	if got := m.Together(now); got != 9e6 {
		t.Errorf("together %v", got)
	}
	if rate, _ := m.Hint("b.example:80", now); rate != 0 {
		t.Errorf("a stranger has %v", rate)
	}
	if rate, _ := m.Hint(together, now); rate != 0 {
		t.Errorf("all together are no host: %v", rate)
	}
}

func TestHintsGetOldAndAreMixed(t *testing.T) {
	m := Open("")
	m.Learn(now, Speed{"a:80", 4e6, time.Millisecond})
	for _, tt := range []struct {
		after time.Duration
		want  float64
	}{{Old - 1, 4e6}, {Old, 0}, {-2 * time.Hour, 0}} {
		if rate, _ := m.Hint("a:80", now.Add(tt.after)); rate != tt.want {
			t.Errorf("after %v: %v, want %v", tt.after, rate, tt.want)
		}
	}
	m.Learn(now, Speed{"a:80", 2e6, 0})
	if rate, rtt := m.Hint("a:80", now); rate != 3e6 || rtt != time.Millisecond {
		t.Errorf("mixed %v %v", rate, rtt)
	}
	m.Learn(now, Speed{Host: "a:80"})
	if rate, _ := m.Hint("a:80", now); rate != 0 {
		t.Errorf("it failed and has %v", rate)
	}
	m.Learn(now, Speed{"a:80", 2e6, 0})
	if rate, _ := m.Hint("a:80", now); rate != 2e6 {
		t.Errorf("after a failure it begins anew: %v", rate)
	}
}

// Two programs that end at the same time lose nothing but what both learned.
func TestSaveKeepsWhatOthersWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "speeds")
	a, b := Open(path), Open(path)
	a.Learn(now, Speed{"a:80", 1e6, 0})
	b.Learn(now, Speed{"b:80", 2e6, 0})
	for _, m := range []*Memory{a, b} {
		if err := m.Save(now); err != nil {
			t.Fatal(err)
		}
	}
	m := Open(path)
	for host, want := range map[string]float64{"a:80": 1e6, "b:80": 2e6} {
		if rate, _ := m.Hint(host, now); rate != want {
			t.Errorf("%s: %v", host, rate)
		}
	}
	os.Remove(path)
	if err := m.Save(now); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("written with nothing new to say")
	}
}

func TestOnlyPlainNames(t *testing.T) {
	m := Open("")
	for _, host := range []string{"", "a", "user@a:80", "a:80/path", "a:80?q", "a b:80", "a:80\n", "\x1b[2J:80", "*", "*:80", "ü:80", strings.Repeat("a", 300) + ":80"} {
		m.Learn(now, Speed{host, 1e6, 0})
	}
	if len(m.hosts) != 0 {
		t.Errorf("learned %v", m.hosts)
	}
}

func TestBounded(t *testing.T) {
	m := Open(filepath.Join(t.TempDir(), "speeds"))
	for i := range 3 * maxHosts {
		m.Learn(now.Add(time.Duration(i)*time.Second), Speed{fmt.Sprintf("h%d:80", i), 1e6, 0})
	}
	if len(m.hosts) != maxHosts || len(m.dirty) > maxHosts {
		t.Fatalf("%d hosts, %d new", len(m.hosts), len(m.dirty))
	}
	end := now.Add(3 * maxHosts * time.Second)
	if rate, _ := m.Hint(fmt.Sprintf("h%d:80", 3*maxHosts-1), end); rate == 0 {
		t.Error("the newest is forgotten")
	}
	if err := m.Save(end); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(m.path); info.Size() > maxFile {
		t.Errorf("%d bytes", info.Size())
	}
	if got := len(load(m.path)); got != maxHosts {
		t.Errorf("%d read back", got)
	}
}

// Whatever is in the file, nothing fails.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "garbage": "\x00\xff\xfe", "other version": "braid speeds 2\na:80 1 1 1\n", "huge": header + "\n" + strings.Repeat("x", maxFile),
	} {
		path := filepath.Join(dir, name)
		os.WriteFile(path, []byte(text), 0o600)
		m := Open(path)
		if len(m.hosts) != 0 {
			t.Errorf("%s: knows %v", name, m.hosts)
		}
		m.Learn(now, Speed{"a:80", 1e6, 0})
		if err := m.Save(now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if rate, _ := Open(path).Hint("a:80", now); rate != 1e6 {
			t.Errorf("%s: not written anew", name)
		}
	}
	if m := Open(dir); len(m.hosts) != 0 {
		t.Error("a folder was read")
	}
	var none *Memory
	none.Learn(now, Speed{"a:80", 1e6, 0})
	none.LearnTogether(now, 1)
	if rate, _ := none.Hint("a:80", now); rate != 0 || none.Together(now) != 0 || none.Save(now) != nil {
		t.Error("the nil Memory knows something")
	}
}

// FuzzParse: reading never fails and stays within bounds; what is written is read back the same.
func FuzzParse(f *testing.F) {
	f.Add(header + "\na.example:80 4000000 40000 1900000000\n* 9000000 0 1900000000\n")
	f.Add(header + "\n[::1]:80 1 2 3\nx 1 2 3\na:80 -1 2 3\na:80 99999999999999999999 1 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		hosts := parse(strings.NewReader(text))
		if len(hosts) > maxHosts {
			t.Fatalf("%d hosts", len(hosts))
		}
		for h, e := range hosts {
			if h != together && !plain(h) || e.rate < 0 || e.rate > maxRate || e.rtt < 0 || e.rtt > maxRTT {
				t.Fatalf("%q %+v", h, e)
			}
		}
		again := parse(strings.NewReader(string(format(hosts))))
		if !maps.Equal(hosts, again) {
			t.Fatalf("read back %v, was %v", again, hosts)
		}
	})
}
