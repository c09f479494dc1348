package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

const lirsLine = "LIRS,1794272400,1794279000,32400,7,http://h.example/pub/a.iso,t,a,http://k.example/,\n"

// feedFile writes a feed and returns its path.
func feedFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shortened is what is told of the file at path, which is called as the user called it, without its folder.
func shortened(told, path string) string {
	return strings.ReplaceAll(told, filepath.Dir(path)+"/", "")
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFeedCheck(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		flags      string
		code       int
		out, err   string // parts, separated by |
	}{
		{"without errors", lirsLine, "", exitDone, "x: note: |[not-gzip]|x: lirs, euc-jp: 1 record without errors; 1 note\n", ""},
		{"compressed", zipped(t, lirsLine), "", exitDone, "x: lirs, euc-jp, gzip: 1 record without errors\n", ""},
		{"repaired", lirsLine + strings.TrimSuffix(lirsLine, ",\n") + "\n", "", exitProtocol,
			"x:2: repair: the record does not end with a comma [no-trailing-comma]\n|1 record without errors, " +
				"1 repaired", "check x: only tolerant readers accept 1 record of 2"},
		{"lost", lirsLine + "LIRS,1,\n", "", exitProtocol,
			"x:2: error: |[too-few-fields]|1 record without errors, 1 lost", "check x: no reader accepts 1 record of 2"},
		{"both", lirsLine + "LIRS,1,\n" + strings.TrimSuffix(lirsLine, ",\n") + "\n", "", exitProtocol,
			"1 repaired, 1 lost", "no reader accepts 1 record of 3, and only tolerant readers accept 1 more"},
		{"repaired in one way and lost by another", "LIRS,,x,0,0,http://h.example/,t,a,0,\n", "", exitProtocol,
			"repair: last_modified is empty|error: last_detected is not a number|0 records without errors, 1 lost",
			"no reader accepts"},
		{"none", "<html>", "", exitProtocol, "",
			"feed x: not a feed of a known format: it begins with \"<html>\" (name the format of the feed with --from FORMAT"},
		{"empty", "", "", exitProtocol, "", "it is empty"},
		{"forced", "<html>", "--from|hina-di", exitProtocol, "x: hina-di", "feed x: line 1: not a hina-di feed"},
		{"forced, and read whole", "<html>\n", "--from|lirs", exitProtocol, "x:1: error: |[no-record-header]|1 lost",
			"no reader accepts"},
		{"forced, empty", "", "--from|lirs", exitDone, "x: lirs, euc-jp: 0 records", ""},
		{"forced, in other words", lirsLine, "--from|atom", exitProtocol, "x: news", "neither RSS"},
		{"too large", lirsLine, "--max-size|10", exitLimit, "",
			"feed x: line 1: more than 10 octets (raise the limit with --max-size SIZE"},
		{"too many", lirsLine + lirsLine, "--max-entries|1", exitLimit, "1 record without errors",
			"more than 1 records (raise the limit with --max-entries N"},
		{"cut", "\x1f\x8b" + zipped(t, lirsLine)[2:20], "--from|lirs", exitProtocol, "", "unexpected EOF"},
		{"hostile", "LIRS,\x1b]0;\x07\xc2\x9b,1,0,0,http://h.example/,t,a,0,\n", "", exitProtocol,
			`last_modified is not a number: "`, ""},
	} {
		path := feedFile(t, "x", tt.text)
		code, out, err := command(t, append(append([]string{"feed", "check"}, split(tt.flags)...), path)...)
		if code != tt.code {
			t.Errorf("%s: exit code %d\n%s%s", tt.name, code, out, err)
		}
		out, err = shortened(out, path), shortened(err, path)
		for _, want := range strings.Split(tt.out, "|") {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, out)
			}
		}
		if !strings.Contains(err, tt.err) || (err == "") != (code == exitDone) || strings.ContainsAny(out+err, "\x1b\x07\u009b") {
			t.Errorf("%s: %q, want %q", tt.name, err, tt.err)
		}
		if code, _, _ := command(t, append(append([]string{"feed", "check", "--json"}, split(tt.flags)...),
			path)...); code != tt.code {
			t.Errorf("%s: exit code %d with --json", tt.name, code)
		}
	}
}

// Proves rule 61: whatever is in a feed, --json is JSON in UTF-8.
func TestFeedJSON_Rule61(t *testing.T) {
	for _, text := range []string{
		"LIRS,1794272400,1,0,0,http://h.example/,\x1b[31m\u202e\xff\xfe,a\x00,0,\n",
		"HINA/2.2\nUser-Agent: \xff\n\nURL: http://h.example/\nTitle: \xff\x80\nTitle: \x9b\n\nURL: " +
			"http://h.example/2\nX-A: \xff\n\n",
		"@FILE { http://h.example/\nTitle{5}:\t\x1b\xff\x00\u00ad\nIcon{2}:\t\xff\xfe\n}\n",
		"<rss><channel><item><title>\xff&#x202e;</title><link>http://h.example/</link></item></channel></rss>",
	} {
		for _, verb := range []string{"check", "show"} {
			_, out, err := command(t, "feed", verb, "--json", feedFile(t, "\x1bname\xff", text))
			if out == "" || strings.ContainsAny(out+err, "\x1b\u202e\x00\u00ad") {
				t.Errorf("%s %q: %q, %q", verb, text, out, err)
			}
			for line := range strings.Lines(out) {
				var e map[string]any
				if json.Unmarshal([]byte(line), &e) != nil || e["event"] == nil || strings.ToValidUTF8(line, "") != line {
					t.Errorf("%s %q: %q", verb, text, line)
				}
			}
		}
		if _, out, err := command(t, "feed", "show", feedFile(t, "x", text)); strings.ContainsAny(out+err,
			"\x1b\u202e\x00\u00ad") {
			t.Errorf("%q shows %q, %q", text, out, err)
		}
	}
}

func TestFeedShow(t *testing.T) {
	text := lirsLine + "LIRS,0,0,0,0,http://h.example/gone,0,0,0,\n" + "LIRS,1\n" +
		"LIRS,999999999999999,1,0,0,HTTP://H.example/pub/x/b.iso,T 2,0,0,\n"
	path := feedFile(t, "x", text)
	code, out, err := command(t, "feed", "show", path)
	const want = "2026-11-10 01:00:00 UTC       7 B  http://h.example/pub/a.iso  t\n" +
		"not reached                     -  http://h.example/gone\n" +
		"-                               -  HTTP://H.example/pub/x/b.iso  T 2\n"
	if code != exitDone || out != want || shortened(err, path) != "x: 1 record could not be read and is left out (braid "+
		"feed check shows why)\n" {
		t.Errorf("exit code %d, %s, %q", code, out, err)
	}
	for glob, want := range map[string]int{
		"http://h.example/pub/*.iso": 1, "http://h.example/pub/**.iso": 2, "http://h.example/*": 1, "**": 3,
		"HTTP://H.example/pub/x/b.iso": 1,
		"http://h.example/pub/?.iso":   0, "http://h.example/pub/[a].iso": 0, "h.example": 0,
	} {
		if _, out, _ := command(t, "feed", "show", "--match", glob, path); strings.Count(out, "\n") != want {
			t.Errorf("%s: %q", glob, out)
		}
	}
	if code, out, _ := command(t, "feed", "show",
		feedFile(t, "y", lirsLine+strings.Repeat("x", 70000))); code != exitLimit || !strings.HasPrefix(out, "2026-11-10") {
		t.Errorf("what came before the limit: exit code %d, %q", code, out)
	}
}

func TestFeedConvert(t *testing.T) {
	path := feedFile(t, "x",
		lirsLine+"LIRS,0,0,0,0,http://h.example/gone,0,0,0,\nLIRS,1\nLIRS,1794272400,1794279000,0,0,mailto:x,\u4E02,0,0,\n")
	for to, want := range map[string]struct {
		parts, left string
	}{
		"lirs": {lirsLine, "1 record omitted: 1 could not be read, 0 cannot be written as lirs"},
		"hina-di": {"HINA/2.2beta\r\n|charset=EUC-JP|URL: http://h.example/pub/a.iso\r\n|Content-Length: 7\r\n\r\n",
			"1 record omitted: 1 could not be read, 0"},
		"soif": {"@FILE { http://h.example/pub/a.iso\n|File-Size{1}:\t7\n|@FILE { mailto:x\n",
			"2 records omitted: 1 could not be read, 1 cannot"},
		"atom": {"<id>urn:x-antenna:x</id>|<title>t</title>|length=\"7\"", "3 records omitted: 1 could not be read, 2 cannot"},
	} {
		code, out, err := command(t, "feed", "convert", "--to", to, path)
		if code != exitDone || !strings.HasPrefix(shortened(err, path), "x: "+want.left) {
			t.Errorf("%s: exit code %d, %q", to, code, err)
		}
		for _, part := range strings.Split(want.parts, "|") {
			if !strings.Contains(out, part) {
				t.Errorf("%s: no %q in\n%s", to, part, out)
			}
		}
		if code, checked, _ := command(t, "feed", "check", feedFile(t, "again", out)); to != "lirs" && code != exitDone {
			t.Errorf("%s is not to the letter: %s", to, checked)
		}
	}
}

// TestFeedConvertToFile: a file is there when all went well, and one that is there stays otherwise.
func TestFeedConvertToFile(t *testing.T) {
	good, bad := feedFile(t, "good", lirsLine), feedFile(t, "bad", lirsLine+strings.Repeat("x", 70000))
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	convert := func(args ...string) int {
		t.Helper()
		code, text, _ := command(t, append([]string{"feed", "convert", "--to", "soif", "-o", out}, args...)...)
		if text != "" {
			t.Errorf("%q on standard output", text)
		}
		return code
	}
	if code := convert(bad); code != exitLimit {
		t.Errorf("exit code %d", code)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	if code := convert(good); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	first, _ := os.ReadFile(out)
	if code := convert(good); code != exitLocal {
		t.Errorf("a file that is there: exit code %d", code)
	}
	if code := convert("--overwrite", bad); code != exitLimit {
		t.Errorf("exit code %d", code)
	}
	if now, _ := os.ReadFile(out); len(first) == 0 || !bytes.Equal(first, now) {
		t.Errorf("%q became %q", first, now)
	}
	if code := convert("--overwrite", good); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	os.Remove(out)
	if err := os.Symlink(good, out); err != nil {
		t.Fatal(err)
	}
	if code := convert("--overwrite", good); code != exitLocal { // rule 4
		t.Errorf("a link: exit code %d", code)
	}
}

func TestFeedOverHTTP(t *testing.T) {
	for _, tt := range []struct {
		name    string
		body    string
		options []mirrortest.Option
		flags   string
		code    int
		want    string
	}{
		{"plain", lirsLine, nil, "", exitDone, "/antenna.lirs?key=***: lirs, euc-jp: 1 record"},
		{"compressed by the server", zipped(t, lirsLine), []mirrortest.Option{mirrortest.ContentEncoding("gzip")}, "",
			exitDone, "gzip: 1 record without errors\n"},
		{"twice", zipped(t, zipped(t, lirsLine)), []mirrortest.Option{mirrortest.ContentEncoding("gzip")}, "", exitDone,
			"gzip: 1 record without errors\n"},
		{"another coding", lirsLine, []mirrortest.Option{mirrortest.ContentEncoding("br")}, "", exitProtocol, "Content-Encoding"},
		{"not there", lirsLine, []mirrortest.Option{mirrortest.Status(404)}, "", exitRefused, "404"},
		{"a password", lirsLine, []mirrortest.Option{mirrortest.Status(401)}, "", exitAuth, "-u USER:PASSWORD"},
		{"cut", lirsLine, []mirrortest.Option{mirrortest.CutAfter(10)}, "", exitNetwork, "body ends at byte 10"},
		// long enough for the answer to begin
		{"silent", lirsLine, []mirrortest.Option{mirrortest.StallAfter(10)}, "--timeout|5s", exitNetwork, "no byte for 5 s"},
		{"silent from the beginning", lirsLine, []mirrortest.Option{mirrortest.StallAfter(0)}, "--timeout|200ms",
			exitNetwork, ""},
		{"slow for ever", lirsLine, []mirrortest.Option{mirrortest.Rate(5)}, "--max-time|300ms", exitLimit,
			"not done within 0.3 s (raise the limit with --max-time TIME"},
		{"no answer within the time", lirsLine, []mirrortest.Option{mirrortest.Latency(time.Hour)}, "--max-time|300ms",
			exitLimit, "not done within 0.3 s (raise the limit with --max-time TIME"},
		{"slow, and within the time", lirsLine, []mirrortest.Option{mirrortest.Rate(1000)}, "--max-time|1m", exitDone,
			"1 record"},
		{"more than is read", strings.Repeat(lirsLine, 10_000), nil, "--max-size|1K", exitLimit, "more than 1024 octets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mirrortest.New(t, []byte(tt.body), append(tt.options, mirrortest.Name("antenna.lirs"))...)
			url := strings.Replace(s.URL, "http://", "http://me:s3cret@", 1) + "?key=s3cret"
			code, out, err := command(t, append(append([]string{"feed", "check"}, split(tt.flags)...), url)...)
			if code != tt.code || !strings.Contains(out+err, tt.want) || strings.Contains(out+err, "s3cret") {
				t.Errorf("exit code %d, %q, %q; want %d, %q", code, out, err, tt.code, tt.want)
			}
		})
	}
}

// TestFeedInterrupted: Ctrl-C ends the wait for a server, with the exit code for that.
func TestFeedInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	asked := func(*http.Request) bool {
		cancel(&signalError{syscall.SIGINT})
		return false
	}
	s := mirrortest.New(t, []byte(lirsLine), mirrortest.StallAfter(10), mirrortest.When(asked))
	var out, err bytes.Buffer
	if code := run(ctx, []string{"braid", "feed", "check", s.URL}, streams{in: &bytes.Buffer{}, out: &out,
		err: &err}); code != 130 || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("exit code %d, %q, %q", code, out.String(), err.String())
	}
}

// TestFeedInterruptedAtAPipe: so does it where nothing comes on standard input.
func TestFeedInterruptedAtAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		io.WriteString(w, lirsLine)
		cancel(&signalError{syscall.SIGINT})
	}()
	var out, stderr bytes.Buffer
	code := run(ctx, []string{"braid", "feed", "check", "-"}, streams{in: r, out: &out, err: &stderr})
	if <-cancelled; code != 130 {
		t.Errorf("exit code %d, %q, %q", code, out.String(), stderr.String())
	}
}

// TestFeedOutputFails: who is not read stops, and says so.
func TestFeedOutputFails(t *testing.T) {
	path := feedFile(t, "x", strings.Repeat(lirsLine, 1000))
	for _, line := range []string{"check|--json", "show", "show|--json", "convert|--to|lirs"} {
		var err bytes.Buffer
		args := append(append([]string{"braid", "feed"}, split(line)...), path)
		if code := run(t.Context(), args, streams{in: &bytes.Buffer{}, out: &brokenPipe{},
			err: &err}); code != exitLocal || !strings.Contains(err.String(), "write standard output") {
			t.Errorf("%s: exit code %d, %q", line, code, err.String())
		}
	}
}

func TestFeedFind(t *testing.T) {
	page := `<title>x</title><link rel=alternate type=application/x-lirs title="All &#x1b;[31m" href="/antenna.lirs.gz?a=1"><link rel=alternate type=application/atom+xml href=atom.xml>`
	find := func(body string, flags string, options ...mirrortest.Option) (code int, out, err string) {
		s := mirrortest.New(t, []byte(body), append(options, mirrortest.Name("dir/page"))...)
		code, out, err = command(t, append(append([]string{"feed", "find"}, split(flags)...), s.URL)...)
		return code, strings.ReplaceAll(out, "http://"+s.Addr, "http://here"), err
	}
	code, out, err := find(page, "")
	const want = "lirs\thttp://here/antenna.lirs.gz?a=1\tAll \\x1b[31m\natom\thttp://here/dir/atom.xml\t\n"
	if code != exitDone || out != want || err != "" {
		t.Errorf("exit code %d, %q, want %q; %q", code, out, want, err)
	}
	if _, out, _ := find(page, "--json"); strings.Count(out, `"event":"feed"`) != 2 ||
		!strings.Contains(out, `"format":"lirs","type":"application/x-lirs"`) {
		t.Error(out)
	}
	if _, out, _ := find(zipped(t, page), "", mirrortest.ContentEncoding("gzip")); out != want {
		t.Errorf("compressed: %q", out)
	}
	if _, out, _ := find("", "", mirrortest.Header("Link",
		`</r>; rel=alternate; type="application/rss+xml"; title=R`)); out != "rss\thttp://here/r\tR\n" {
		t.Errorf("a header field: %q", out)
	}
	if _, out, _ := find(lirsLine, ""); out != "lirs (itself)\thttp://here/dir/page\t\n" {
		t.Errorf("a feed: %q", out)
	}
	if code, out, err := find("<html>", ""); code != exitOther || out != "" || !strings.Contains(err, "the page names no feed") {
		t.Errorf("none: exit code %d, %q, %q", code, out, err)
	}
}

// A growing feed is lines without end, and remembers how much memory was in use when it was read.
type growing struct {
	lines, left int
	rest        string
	most        uint64
}

func (g *growing) Read(p []byte) (int, error) {
	if g.rest == "" {
		if g.left == 0 {
			return 0, io.EOF
		}
		if g.left--; g.left%(g.lines/4) == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			g.most = max(g.most, m.HeapAlloc)
		}
		g.rest = lirsLine
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// Proves rule 52: what check and show keep does not depend on how long the feed is.
func TestFeedMemory_Rule52(t *testing.T) {
	for _, verb := range []string{"check", "show"} {
		var most [2]uint64
		for i, lines := range []int{1000, 100_000} {
			g := &growing{lines: lines, left: lines}
			var err bytes.Buffer
			if code := run(t.Context(), []string{"braid", "feed", verb, "-"}, streams{in: g, out: io.Discard,
				err: &err}); code != exitDone {
				t.Fatalf("exit code %d, %s", code, err.String())
			}
			most[i] = g.most
		}
		if most[1] > most[0]+1<<20 {
			t.Errorf("%s: %d KiB in use with a thousand lines, and %d with a hundred thousand", verb, most[0]>>10, most[1]>>10)
		}
	}
}
