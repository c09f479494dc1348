package option

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The table has each option and each letter once, a fate for each, and refers to options that get has.
func TestAria2Table(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Aria2Options() {
		for _, name := range []string{o.Name, o.Letter} {
			if seen[name] && name != "" {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		kind, target, _ := strings.Cut(o.Fate, ":")
		switch kind {
		case aria2Own, Aria2Ignored, Aria2Warned, Aria2Refused:
		case aria2Unless:
			if !isBool(target) || !o.isSwitch() || o.Note == "" {
				t.Errorf("%s: %s", o.Name, o.Fate)
			}
		case aria2Flag:
			i := slices.IndexFunc(Of(Get), func(known Option) bool { return known.Name() == target })
			if i < 0 || (Of(Get)[i].Kind == Switch) != o.isSwitch() {
				t.Errorf("%s: %s", o.Name, o.Fate)
			}
		default:
			t.Errorf("%s: %s", o.Name, o.Fate)
		}
		if !slices.Contains([]string{"none", "bool", "maybe", "text"}, o.value) || kind == Aria2Refused && o.Note == "" {
			t.Errorf("%+v", o)
		}
	}
	if n := len(Aria2Options()); n != 198 {
		t.Errorf("%d options", n)
	}
}

// TestAria2Page: doc/aria2.md lists each option in the right section.
func TestAria2Page(t *testing.T) {
	page, err := os.ReadFile("../../doc/aria2.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range Aria2Options() {
		heading := map[string]string{Aria2Ignored: "Ignored", Aria2Warned: "With a warning", Aria2Refused: "Refused"}[o.Fate]
		if strings.HasPrefix(o.Fate, aria2Unless) {
			heading = "Refused"
		}
		if heading == "" {
			heading = "Honoured"
		}
		_, section, _ := strings.Cut(string(page), "\n### "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		if !strings.Contains(section, "`--"+o.Name+"`") {
			t.Errorf("%s is not under %s", o.Name, heading)
		}
	}
}

func TestParseAria2(t *testing.T) {
	for _, tt := range []struct{ words, settings, operands, unknown, err string }{
		{words: "-c -x16 -j 16 -s16 --min-split-size 1M -- u",
			settings: "continue=true max-connection-per-server=16 max-concurrent-downloads=16 split=16 " +
				"min-split-size=1M", operands: "u"},
		{words: "u --out=x -d y v", settings: "out=x dir=y", operands: "u v"},
		{words: "-cq", settings: "continue=true quiet=true"},
		{words: "-cx16", settings: "continue=true max-connection-per-server=16"},
		{words: "-cfalse -Ztrue", settings: "continue=false force-sequential=true"},
		{words: "--continue u", settings: "continue=true", operands: "u"},
		{words: "--max-conn=3 --allow-o", settings: "max-connection-per-server=3 allow-overwrite=true"},
		{words: "--max=3 --what=x -Y u - --", operands: "u -", unknown: "--max --what -Y"},
		{words: "--help --version", settings: "help= version="},
		{words: "-- -c", operands: "-c"},
		{words: "-o", err: "--out: needs a value"},
		{words: "--split", err: "--split: needs a value"},
		{words: "--continue=1", err: "--continue: write true or false"},
		{words: "--check-certificate=false", err: "--check-certificate: braid does not support this value"},
		{words: "--check-certificate --enable-rpc=false", settings: "check-certificate=true enable-rpc=false"},
		{words: "--daemon", err: "--daemon: braid does not support this value"},
		{words: "--select-file=1", err: "--select-file: braid does not support this value"},
	} {
		l, err := ParseAria2(strings.Fields(tt.words))
		var settings []string
		for _, s := range l.Settings {
			settings = append(settings, s.Name+"="+s.Value)
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.err || err == nil && (strings.Join(settings, " ") != tt.settings ||
			strings.Join(l.Operands, " ") != tt.operands || strings.Join(l.Unknown, " ") != tt.unknown) {
			t.Errorf("%s: %v, %q, %q, %v", tt.words, settings, l.Operands, l.Unknown, err)
		}
	}
}

func TestParseAria2Conf(t *testing.T) {
	l, err := ParseAria2Conf("# x\n\nsplit=4\n dir = ${HOME}/d \nnosuch=1\nspli=3\nquiet\n")
	if err != nil || len(l.Settings) != 2 || l.Settings[1] != (Setting{4, "dir", "${HOME}/d"}) ||
		strings.Join(l.Unknown, " ") != "nosuch spli quiet" {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := ParseAria2Conf("split=4\ndaemon=true\n"); err == nil ||
		err.Error() != "line 2: --daemon: braid does not support this value" {
		t.Error(err)
	}
}

func TestAria2List(t *testing.T) {
	for list, want := range map[string]string{
		"u\tv\n out=x\n": "u\tv\n out=x\n",
		"u\n\tout=x\r\n": "u\n out=x\n",
		"u\n allow-overwrite=true\n split=4\nv\n":                    "u\n overwrite=true\n\nv\n",
		"u\n max-download-limit=1K\n gid=1\n":                        "u\n limit-rate=1K\n\n",
		"u\n http-user=a\n # x\n http-passwd=b\nv\n http-passwd=c\n": "u\n\n\n user=a:b\nv\n\n",
		"u\n follow-torrent=false\n follow-metalink=mem\n":           "u\n no-metalink=true\n\n",
		"u\n out\n":                            "u\n out\n",
		"u\n referer=*\n referer=http://x/\n":  "u\n\n referer=http://x/\n",
		"u\n auto-file-renaming=false\n dir=d": "u\n rename=false\n dir=d\n",
	} {
		if got, _, err := Aria2List(list); got != want || err != nil {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
	if _, ignored, err := Aria2List("u\n split=4\n what=x\n bt-max-peers=3\nv\n stop=2\n what=y\n"); err != nil ||
		strings.Join(ignored, " ") != "stop what" {
		t.Errorf("%q, %v", ignored, err)
	}
	if _, _, err := Aria2List("u\n\n check-certificate=false\n"); err == nil ||
		err.Error() != "line 3: --check-certificate: braid does not support this value" {
		t.Error(err)
	}
}

// FuzzAria2List: a translated list has the same lines, and only options that lists have.
func FuzzAria2List(f *testing.F) {
	f.Add("u\n out=x\n split=4\n")
	f.Add("http://h/a\thttp://h/b\n\thttp-user=a\n http-passwd=b\r\n#x\n")
	f.Fuzz(func(t *testing.T, list string) {
		own, _, err := Aria2List(list)
		if err != nil {
			return
		}
		if n, m := len(slices.Collect(lines(list))), strings.Count(own, "\n"); n != m {
			t.Fatalf("%d lines became %d", n, m)
		}
		for e, err := range Entries(own) {
			if err != nil {
				break
			}
			for _, o := range e.Options {
				if _, known := InList(o.Name); !known && !strings.HasPrefix(strings.TrimSpace(e.URIs[0]), "{") &&
					!isJSON(strings.TrimSpace(strings.Split(own, "\n")[e.Line-1])) {
					t.Fatalf("%q: %s", own, o.Name)
				}
			}
		}
	})
}
