package cli

import (
	"bytes"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf8"

	"braid/internal/option"
)

// TestHelp: help is what was asked for, so it goes to standard output with exit code 0, whatever else stands in
// the line, and fits on a screen.
func TestHelp(t *testing.T) {
	for line, want := range map[string][]string{
		"--help": {"braid COMMAND", "  get ", "  probe ", "  serve ", "Examples:", "braid get https://"},
		"-h":     {"braid COMMAND"},
		"help":   {"braid COMMAND"},
		"get --help": {"braid get [FLAG]... URL...", "Examples:", "  -o, --out NAME  ",
			"  -d, -P, --dir FOLDER  ", "BRAID_OUT", "-L and -f are", "exit code shows"},
		"get -h":         {"braid get"},
		"get u -q -h -o": {},
		"help get":       {"braid get"},
		"get x --help":   {"braid get"},
		"help probe":     {"braid probe [FLAG]... URL", "Examples:"},
		"meta --help": {"braid meta [FLAG]... FILE...", "-o, --out NAME", "--sign-with FILE",
			"BRAID_PASSPHRASE", "Examples:"},
		"feed --help": {"braid feed COMMAND", "  find ", "  check ", "  show ", "  convert ", "Examples:",
			"braid feed COMMAND --help"},
		"help feed": {"braid feed COMMAND"},
		"feed check -h": {"braid feed check [FLAG]... FILE|URL|-", "--from FORMAT", "BRAID_FROM", "Examples:",
			"7: invalid, or not a feed"},
		"help feed show":        {"braid feed show [FLAG]...", "--match GLOB"},
		"feed convert x --help": {"braid feed convert --to FORMAT", "-o, --out NAME"},
		"feed find --help":      {"braid feed find [FLAG]... URL"},
		"serve --help":          {"braid serve [FLAG]... FOLDER", "--listen ADDRESS", "127.0.0.1:8080", "Examples:"},
		"verify --help": {"braid verify [FLAG]... [FILE]...", "--from URL|META", "--checksums FILE|URL",
			"12 no digest or signature", "Examples:"},
	} {
		code, out, err := command(t, strings.Fields(line)...)
		if len(want) == 0 {
			if code != exitUsage {
				t.Errorf("%s: exit code %d", line, code)
			}
			continue
		}
		if code != exitDone || err != "" {
			t.Errorf("%s: exit code %d, %q", line, code, err)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: no %q in\n%s", line, w, out)
			}
		}
		for l := range strings.Lines(out) {
			if n := utf8.RuneCountInString(l); n > helpWidth+8 && !strings.HasPrefix(l, "  braid ") {
				t.Errorf("%s: a line of %d: %s", line, n, l)
			}
		}
	}
}

// TestHelpShowsEveryFlag, under the name that works.
func TestHelpShowsEveryFlag(t *testing.T) {
	for _, c := range allCommands() {
		_, out, _ := command(t, append(strings.Fields(c.Name), "--help")...)
		for _, o := range c.Options {
			if !regexp.MustCompile(`(?m)^  (-., )*--` + o.Name() + `( |$)`).MatchString(out) {
				t.Errorf("%s: no --%s in the help", c.Name, o.Name())
			}
		}
	}
}

func TestVersion(t *testing.T) {
	for _, flag := range []string{"-V", "--version"} {
		code, out, err := command(t, flag)
		if code != exitDone || err != "" || !strings.HasPrefix(out, "braid ") || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, %q", flag, code, out, err)
		}
	}
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"},
		{Key: "vcs.time", Value: "2026-11-21T10:00:00Z"},
	}}
	end := ", revision 0123456789ab, modified"
	for _, part := range leftOut() {
		end += ", " + strings.TrimPrefix(part, "this braid was built ")
	}
	if b := buildOf(info); !strings.HasPrefix(b.String(), "v1.2.3 (go1.") || !strings.HasSuffix(b.String(), end+")") ||
		b.date != "2026-11-21" {
		t.Error(b)
	}
	if b := buildOf(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}); !strings.HasPrefix(b.String(), "devel (") {
		t.Error(b)
	}
}

// TestMisuse: wrong use is one line on standard error, with the way out, and exit code 2.
func TestMisuse(t *testing.T) {
	const u = "http://127.0.0.1:1/a"
	for _, tt := range []struct {
		line, want string // words separated by |
	}{
		{"", "missing command (braid --help"},
		{"gte", "did you mean get?"},
		{"frobnicate", "choose one of get, probe, verify, meta, serve, feed"},
		{"feed", "feed: missing command (choose one of find, check, show, convert)"},
		{"feed|chek|x", "feed chek: unknown command (did you mean check?)"},
		{"feed|http://me:s3cret@h/|x", "feed http://me:***@h/: unknown command (choose one of find"},
		{"feed|--json", "--json: unknown flag (braid feed --help)"},
		{"feed|check", "feed check: needs exactly one file or URL"},
		{"feed|check|a|b", "needs exactly one file or URL"},
		{"feed|check|--bogus|a", "--bogus: unknown flag (braid feed check --help)"},
		{"feed|check|--from|gopher|a", "--from: write one of hina-di, lirs, soif"},
		{"feed|check|--max-size|2MB|a", "--max-size: write a number of bytes"},
		{"feed|check|/nonexistent", "/nonexistent: no such file"},
		{"feed|show|http://|x", "needs exactly one file or URL"},
		{"feed|show|http://", "http://: the URL has no host"},
		{"feed|find", "needs exactly one URL"},
		{"feed|find|x.lirs", "is not an http or https URL"},
		{"feed|convert|x", "feed convert: no --to"},
		{"feed|convert|--to|rss|x", "--to: write one of hina-di, lirs, soif, atom"},
		{"help|gte", "did you mean get?"},
		{"example.org/a", "braid https://example.org/a?"},
		{"-q|get|" + u, "flags follow the command: braid get -q"},
		{"--bogus", "--bogus: unknown flag"},
		{"--mirror|x|" + u, "--mirror: unknown flag (this is an option of get: braid get --mirror)"},
		{"-o|x|" + u, "-o: unknown flag (this is an option of get: braid get -o)"},
		{"daemon|--rpc-secret=x", "--rpc-secret: unknown flag (print the token with braid daemon token"},
		{"daemon|--enable-rpc", "(leave it out: braid daemon always serves RPC)"},
		{"daemon|-i|list", "-i: unknown flag (add URLs to the daemon's queue"},
		{"daemon|--save-session=x", "(leave it out: the queue is always saved, in the folder of --state)"},
		{"daemon|--conf-path=x", "(show the settings and their file with braid config"},
		{"daemon|--max-tries=x", "(--tries N)"},
		{"daemon|--root|/nonexistent", "--root /nonexistent: no such file or directory (create the folder, or check its name)\n"},
		{"daemon|--root|/usr|-d|/tmp", "-d /tmp: is outside /usr (--root) (give -d a folder below --root"},
		{"get", "no URL"},
		{"get|--ouput|x|" + u, "did you mean --out?"},
		{"get|--quite|" + u, "did you mean --quiet?"},
		{"get|--bogus|" + u, "braid get --help"},
		{"get|" + u + "|-o", "-o: needs a value"},
		{"get|-o||" + u, "-o: the value is empty (braid get --help"},
		{"get|--out=|" + u, "--out: the value is empty"},
		{"get|-o=|" + u, "-o: the value is empty"},
		{"get|--sha256||" + u, "--sha256: the value is empty"},
		{"get|--limit-rate||" + u, "--limit-rate: the value is empty"},
		{"get|-o|x|" + u + "|" + u, "-d FOLDER"},
		{"get|--sha256|x|" + u + "|" + u, "this is the digest of one file, but several files are given"},
		{"get|--mirror|" + u + "|" + u + "|" + u, "to give mirrors of several files, use a list (-i)"},
		{"get|--sha256|abc|" + u, "--sha256: "},
		{"get|--overwrite|--no-clobber|" + u, "contradicts"},
		{"get|-qv|" + u, "contradicts"},
		{"get|-o|-|-d|x|" + u, "standard output"},
		{"get|-o|x/|" + u, "a name that ends with a slash is a folder"},
		{"get|-s|0|" + u, "--split: write a number"},
		{"get|-x|many|" + u, "--max-connection-per-server: write a number"},
		{"get|--timeout|soon|" + u, "--timeout: write a time"},
		{"get|--max-size|2MB|" + u, "--max-size: write a number of bytes"},
		{"get|--require|hash|" + u, "--require: write one of none, digest, signature"},
		{"get|--progress|dots|" + u, "--progress: write one of"},
		{"get|--quiet=maybe|" + u, "--quiet: the value must be true or false"},
		{"get|-i|list|-o|x", "this is the name of one file, but several files are given"},
		{"get|-i|list|--sha256|x", "this is the digest of one file, but several files are given"},
		{"get|-i|/nonexistent", "/nonexistent: no such file"},
		{"get|-j|0|" + u, "--max-concurrent-downloads: write auto, or a number from 1 to 1000"},
		{"get|-j|all|" + u, "--max-concurrent-downloads: write auto"},
		{"get|" + u + "|" + u, "two URLs would be saved as a: the other is an operand"},
		{"get|" + u + "|http://127.0.0.1:1/", "operand 2: the URL ends without a file name"},
		{"get|-H|x|" + u, "'NAME: VALUE'"},
		{"get|-u|x|" + u, "USER:PASSWORD"},
		{"get|--mirror|file:///a|" + u, "is not an http, https or ftp URL"},
		{"get|--mirror|ftp://h/a%0D%0Ab|" + u, "the URL has a line break or a NUL"},
		{"get|--no-ftp|--mirror|ftp://h/a|" + u, "ftp://h/a: FTP URLs are excluded by --no-ftp (leave out --no-ftp)"},
		{"get|--no-ftp|ftps://h/a", "ftps://h/a: FTP URLs are excluded by --no-ftp"},
		{"get|ftp://h/a.meta4", "a document must be on disk or at an http or https URL (save the document itself with " +
			"--no-metalink)"},
		{"get|ftp://h/a?b", "an ftp URL has no query"},
		{"get|--checksums|ftp://h/SUMS|" + u, "is not an http or https URL"},
		{"get|a.iso", "https://a.iso?"},
		{"probe", "needs exactly one URL"},
		{"probe|" + u + "|" + u, "needs exactly one URL"},
		{"serve", "needs exactly one folder"},
		{"serve|-qv|.", "contradicts"},
		{"serve|--mirror|x|.", "mirror: "},
		{"serve|--mirrors|/nonexistent|.", "/nonexistent: no such file"},
		{"serve|--max-links|0|.", "--max-links: write a number"},
	} {
		code, out, err := command(t, split(tt.line)...)
		want := exitUsage
		if strings.Contains(tt.want, "no such file") {
			want = exitLocal
		}
		if code != want || out != "" || !strings.HasPrefix(err, "braid: ") || strings.Count(err, "\n") != 1 ||
			!strings.Contains(err, tt.want) {
			t.Errorf("%q: exit code %d, %q, %q; want %q", tt.line, code, out, err, tt.want)
		}
	}
}

// TestMisuseInEnvironment: a wrong variable is named, in our words; the command line beats it.
func TestMisuseInEnvironment(t *testing.T) {
	for variable, want := range map[string]string{
		"BRAID_QUIET=maybe":    "usage BRAID_QUIET: the value must be true or false (braid get --help)",
		"BRAID_LIMIT_RATE=2MB": "usage BRAID_LIMIT_RATE: " + option.ErrSize.Error() + " (braid get --help)",
		"BRAID_TIMEOUT=a\nb":   "usage BRAID_TIMEOUT: " + option.ErrTime.Error() + " (braid get --help)",
		"BRAID_MAX_CONCURRENT_DOWNLOADS=\"all\" x": "usage BRAID_MAX_CONCURRENT_DOWNLOADS: write auto, or a number from " +
			"1 to 1000 (braid get --help)",
		"BRAID_OUT=":    "usage BRAID_OUT: the value is empty (unset the variable, or give it a value)",
		"BRAID_SHA256=": "usage BRAID_SHA256: the value is empty (unset the variable, or give it a value)",
		"BRAID_TRIES=":  "usage BRAID_TRIES: the value is empty (unset the variable, or give it a value)",
		"BRAID_MIRROR=": "usage BRAID_MIRROR: the value is empty (unset the variable, or give it a value)",
	} {
		name, value, _ := strings.Cut(variable, "=")
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if code, out, err := command(t, "get", "http://127.0.0.1:1/a"); code != exitUsage || out != "" ||
				err != "braid: "+want+"\n" {
				t.Errorf("%s: exit code %d, %q, %q", variable, code, out, err)
			}
		})
	}
	t.Setenv("BRAID_TRIES", "")
	t.Setenv("BRAID_VERBOSE", "")
	if _, _, err := command(t, "get", "--tries=1", "gopher://h/a"); !strings.Contains(err, "gopher://h/a: is not an http") {
		t.Error(err)
	}
}

// TestCommandLineBeatsEnvironment, also where it says the opposite.
func TestCommandLineBeatsEnvironment(t *testing.T) {
	const u = "http://127.0.0.1:1/a"
	for _, name := range []string{"BRAID_QUIET", "BRAID_NO_CLOBBER"} {
		t.Setenv(name, "true")
	}
	for line, want := range map[string]string{"-v": "gopher://h/a: is not", "--overwrite": "gopher://h/a: is not",
		"-q|-v": "-q: contradicts -v", "--overwrite|--no-clobber": "contradicts"} {
		if _, _, err := command(t, append([]string{"get", "gopher://h/a"}, split(line)...)...); !strings.Contains(err, want) {
			t.Errorf("%s: %q, want %q", line, err, want)
		}
	}
	t.Setenv("BRAID_VERBOSE", "true")
	if _, _, err := command(t, "get", u); !strings.Contains(err, "-q: contradicts -v") {
		t.Errorf("%q", err)
	}
}

// TestUnitsAreExplained, where a flag has them.
func TestUnitsAreExplained(t *testing.T) {
	for name, want := range map[string][]string{"get": {"\nSIZE is bytes, RATE is bytes a second, with K",
		"\nTIME is a number with a unit, as in 30s"}, "probe": {"\nTIME is a number with a unit, as in 30s"},
		"serve": {"\nRATE is bytes a second, with K"}} {
		_, out, _ := command(t, name, "--help")
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: no %q in\n%s", name, w, out)
			}
		}
	}
}

// TestMisuseInJSON: those who read JSON find the failure there.
func TestMisuseInJSON(t *testing.T) {
	code, out, _ := command(t, "get", "--json", "gopher://h/a")
	if code != exitUsage || !strings.Contains(out, `"event":"error","code":2,"what":"usage","where":"gopher://h/a"`) {
		t.Errorf("exit code %d, %s", code, out)
	}
}

// TestOutputCannotBeWritten: what was asked for and cannot be given is a failure.
func TestOutputCannotBeWritten(t *testing.T) {
	var err bytes.Buffer
	code := run(t.Context(), []string{"braid", "-V"}, streams{out: &brokenPipe{}, err: &err})
	if code != exitLocal || err.String() != "braid: write standard output: no space left\n" {
		t.Errorf("exit code %d, %q", code, err.String())
	}
}
