package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"braid/internal/option"
)

var flagWord = regexp.MustCompile(`(?:^|[ :;])(--?[A-Za-z][A-Za-z-]*[0-9]*)`)

// TestForeignFlags: flags of other programs are refused with a hint, and the flags that hints name exist.
func TestForeignFlags(t *testing.T) {
	known := getShapes()
	for line := range strings.Lines(foreignFlags(t)) {
		flag, hint, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if _, ok := known[strings.TrimLeft(flag, "-")]; ok {
			t.Errorf("%s exists", flag)
		}
		named := flagWord.FindAllStringSubmatch(hint, -1)
		if len(named) == 0 && strings.TrimSpace(hint) == "" {
			t.Errorf("%s: the hint %q names no flag", flag, hint)
		}
		for _, m := range named {
			if _, ok := known[strings.TrimLeft(m[1], "-")]; !ok && !strings.Contains(hint, "curl") {
				t.Errorf("%s: the hint names %s, which does not exist", flag, m[1])
			}
		}
		lines := [][]string{{"get", "http://127.0.0.1/a", flag}, {"get", flag, "x", "http://127.0.0.1/a"},
			{"http://127.0.0.1/a", flag}}
		if strings.HasPrefix(flag, "--") {
			lines = append(lines, []string{"get", flag + "=true", "http://127.0.0.1/a"})
		} else {
			lines = append(lines, []string{"get", "-q" + flag[1:], "http://127.0.0.1/a"}, []string{"get", flag + "-",
				"http://127.0.0.1/a"})
		}
		for _, line := range lines {
			code, out, err := command(t, line...)
			if code != exitUsage || out != "" || !strings.HasPrefix(err, "braid: usage "+flag+": ") ||
				!strings.Contains(err, hint) {
				t.Errorf("%q: exit %d, %q, %q", line, code, out, err)
			}
		}
	}
	for flag := range strings.FieldsSeq("-O -C -k -t -T -n -m -Z --silent --retry --no-check-certificate " +
		"--allow-overwrite --output") {
		if option.Foreign(flag) == "" {
			t.Errorf("%s has no hint", flag)
		}
	}
	for _, line := range [][]string{{"-fsSL", "u"}, {"-sSLO", "u"}, {"-s", "u"}} {
		if _, _, err := command(t, append([]string{"get"}, line...)...); !strings.Contains(err, "for curl -s use -q") {
			t.Errorf("%q: %s", line, err)
		}
	}
	// So they are at the root, where get is not named.
	for line, want := range map[string]string{
		"-fsSL http://127.0.0.1/a": "braid get URL; for curl -s use -q", "-O u": "-o NAME names the file",
		"-X POST u": "sends no other requests",
		"-r 0-5 u":  "braid downloads whole files", "--compressed u": "without compression",
		"-v u": "flags follow the command: braid get -v", "-L u": "flags follow the command: braid get -L",
	} {
		if code, _, err := command(t, strings.Fields(line)...); code != exitUsage || !strings.Contains(err, want) {
			t.Errorf("%s: exit %d, %s", line, code, err)
		}
	}
	if !slices.Contains(ignoredByGet, "L") {
		t.Error("-L is not accepted")
	}
}

func foreignFlags(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../internal/option/foreign.txt")
	if err != nil || !strings.Contains(string(data), "\n--retry  ") {
		t.Fatal(err)
	}
	return string(data)
}
