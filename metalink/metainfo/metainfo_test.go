package metainfo

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"braid/verify"
)

// dict, list and raw are values for bencode, besides strings and integers.
type (
	dict map[string]any
	list []any
	raw  string // written without encoding
)

func bencode(v any) string {
	switch v := v.(type) {
	case raw:
		return string(v)
	case int:
		return fmt.Sprintf("i%de", v)
	case string:
		return fmt.Sprintf("%d:%s", len(v), v)
	case list:
		var s strings.Builder
		for _, e := range v {
			s.WriteString(bencode(e))
		}
		return "l" + s.String() + "e"
	case dict:
		var s strings.Builder
		for _, k := range slices.Sorted(maps.Keys(v)) {
			s.WriteString(bencode(k) + bencode(v[k]))
		}
		return "d" + s.String() + "e"
	}
	panic(v)
}

// sums returns the SHA-1 digests of the pieces of data.
func sums(data string, length int) (all string) {
	for part := range slices.Chunk([]byte(data), length) {
		sum := sha1.Sum(part)
		all += string(sum[:])
	}
	return all
}

const text = "some bytes, and some more of them, in pieces of sixteen"

// single returns the info dictionary of a torrent of one file. It applies changes, in which nil deletes a key.
func single(changes dict) dict {
	return change(dict{"name": "a b.iso", "length": len(text), "piece length": 16, "pieces": sums(text, 16)}, changes)
}

func change(d, changes dict) dict {
	d = maps.Clone(d)
	for k, v := range changes {
		if d[k] = v; v == nil {
			delete(d, k)
		}
	}
	return d
}

func parse(t *testing.T, s string) Torrent {
	t.Helper()
	tor, err := Parse(strings.NewReader(s))
	if err != nil {
		t.Fatalf("%q: %v", s[:min(len(s), 200)], err)
	}
	return tor
}

func TestSingleFile(t *testing.T) {
	info := bencode(single(nil))
	tor := parse(t, bencode(dict{
		"info": raw(info), "announce": "http://never.example/", "creation date": 1, "nodes": list{list{"h", 1}},
		"announce-list": list{list{"udp://a.example:80", "wss://b.example/"}, list{"file:///x"},
			list{"https://c.example/announce"}},
		"url-list": list{"http://u:p@h.example/pub/", "https://h.example/x?y", "file:///etc/passwd", "",
			"ftp://h.example/100%25/"},
	}))
	if tor.InfoHash != sha1.Sum([]byte(info)) || string(tor.Info()) != info || tor.Size != int64(len(text)) || tor.Private {
		t.Errorf("got %+v", tor)
	}
	if got := fmt.Sprint(tor.Trackers); got != "[[udp://a.example:80] [https://c.example/announce]]" {
		t.Errorf("trackers %s", got)
	}
	f := tor.Files[0]
	if len(tor.Files) != 1 || f.Name != "a b.iso" || f.BestPieces().Count() != 4 || !f.BestPieces().Check(3, []byte(text[48:])) {
		t.Errorf("file %+v", f)
	}
	if got := fmt.Sprint(tor.Mirrors(f)); got != "[http://h.example/pub/a%20b.iso https://h.example/x?y "+
		"ftp://h.example/100%25/a%20b.iso]" {
		t.Errorf("mirrors %s", got)
	}
	if got := strings.Join(tor.Warnings, "\n"); strings.Count(got, "ignored") != 3 {
		t.Errorf("warnings %s", got)
	}
	alone := parse(t, bencode(dict{"info": raw(info), "announce": "http://t.example/a", "url-list": "http://h.example/f"}))
	if fmt.Sprint(alone.Trackers, alone.Mirrors(alone.Files[0])) != "[[http://t.example/a]] [http://h.example/f]" {
		t.Errorf("got %v %v", alone.Trackers, alone.Mirrors(alone.Files[0]))
	}
}

// several returns the info dictionary of a torrent of several files, given as pairs of name and size. A name that
// begins with "p" is a padding file.
func several(files ...any) dict {
	var entries list
	all := ""
	for i := 0; i < len(files); i += 2 {
		name, size := files[i].(string), files[i+1].(int)
		e := dict{"path": list{"d", name}, "length": size}
		if name[0] == 'p' {
			e["attr"] = "p"
			all += strings.Repeat("\x00", size)
		} else {
			all += text[:size]
		}
		entries = append(entries, e)
	}
	return dict{"name": "root", "piece length": 16, "pieces": sums(all, 16), "files": entries}
}

// TestPiecesOfSeveral checks that a file has pieces only if none of them has bytes of another file, apart from padding
// (BEP 47).
func TestPiecesOfSeveral(t *testing.T) {
	for name, tt := range map[string]struct {
		files []any
		want  string // number of pieces of each file
	}{
		"aligned":              {[]any{"a", 32, "b", 16, "c", 7}, "[a 2] [b 1] [c 1]"},
		"not aligned":          {[]any{"a", 20, "b", 28, "c", 7}, "[a 0] [b 0] [c 1]"},
		"filled":               {[]any{"a", 20, "p1", 12, "b", 16}, "[a 2] [b 1]"},
		"filled by two":        {[]any{"a", 20, "p1", 7, "p2", 5, "b", 3}, "[a 2] [b 1]"},
		"filled at the end":    {[]any{"a", 20, "p1", 3}, "[a 2]"},
		"filling that is long": {[]any{"a", 20, "p1", 28, "b", 3}, "[a 0] [b 1]"},
		"filling of a piece":   {[]any{"a", 16, "p1", 16, "b", 3}, "[a 1] [b 1]"},
		"empty":                {[]any{"a", 20, "e", 0, "p1", 12, "b", 16}, "[a 2] [e 0] [b 1]"},
	} {
		tor := parse(t, bencode(dict{"info": several(tt.files...), "url-list": list{"http://h.example/x"}}))
		var got []string
		for _, f := range tor.Files {
			base := strings.TrimPrefix(f.Name, "root/d/")
			got = append(got, fmt.Sprintf("[%s %d]", base, f.BestPieces().Count()))
			for i := range f.BestPieces().Count() {
				start, end := f.BestPieces().At(i)
				if !f.BestPieces().Check(i, []byte(text[start:end])) || f.BestPieces().Check(i, []byte(text[start+1:end+1])) {
					t.Errorf("%s: piece %d of %s", name, i, f.Name)
				}
			}
			if m := tor.Mirrors(f)[0].String(); m != "http://h.example/x/root/d/"+base {
				t.Errorf("mirror %s", m)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: pieces %v, want %s", name, got, tt.want)
		}
	}
}

// TestNames_Rule10 checks that Parse leaves out a file with an unsafe name and keeps the others (rule 10).
func TestNames_Rule10(t *testing.T) {
	for _, bad := range []list{
		{".."}, {"a", "..", "b"}, {""}, {"a", ""}, {"/etc/passwd"}, {"a/b"}, {`a\b`}, {"~x"}, {"\x00"}, {"\xff"},
		{"a\u202eb"}, {"con.txt"},
		{strings.Repeat("x", 256)}, {".bashrc"}, {"x "}, {"c:"},
	} {
		info := several("a", 32)
		files := info["files"].(list)
		info["files"] = append(files, dict{"path": bad, "length": 0})
		tor := parse(t, bencode(dict{"info": info}))
		if len(tor.Files) != 1 || len(tor.Refused) != 1 || tor.Refused[0].Reason == "" {
			t.Errorf("%q: files %v, refused %v", bad, tor.Files, tor.Refused)
		}
	}
	info := several("a", 32)
	info["files"].(list)[0].(dict)["attr"] = "l"
	for _, info := range []dict{info, change(several("a", 32), dict{"name": ".."}),
		change(several("a", 32), dict{"name": "a/b"}), single(dict{"name": "../x"})} {
		if tor := parse(t, bencode(dict{"info": info})); len(tor.Files) != 0 || len(tor.Refused) != 1 {
			t.Errorf("files %v, refused %v", tor.Files, tor.Refused)
		}
	}
}

// TestRefused_Rule41 checks which torrents Parse refuses (rule 41).
func TestRefused_Rule41(t *testing.T) {
	good := bencode(dict{"info": single(nil)})
	huge := math.MaxInt
	for name, s := range map[string]string{
		"empty": "", "no dictionary": "i1e", "goes on": good + "\nx", "cut off": good[:len(good)-2], "no info": "de",
		"info is a list": "d4:infolee",
		"too large":      "d1:a" + fmt.Sprint(MaxSize) + ":" + strings.Repeat("x", MaxSize) + "e",
		"too deep":       "d1:x" + strings.Repeat("l", 100) + strings.Repeat("e", 100) + good[1:],
		"too many":       "d1:xl" + strings.Repeat("le", maxValues) + "e" + good[1:],
		"-0":             "d1:xi-0e" + good[1:], "leading zero": "d1:xi01e" + good[1:],
		"no number": "d1:xie" + good[1:], "plus": "d1:xi+1e" + good[1:],
		"65 bits": "d1:xi9223372036854775808e" + good[1:], "endless number": "d1:xi" + strings.Repeat("1", 100) + "e" + good[1:],
		"length with zero": "d01:xi1e" + good[1:], "length beyond": "d9:x" + good[1:], "long length": "d99999999999:x",
		"key is a number": "di1ei1e" + good[1:],
		"key twice":       "d1:xi1e1:xi1e" + good[1:], "info twice": "d4:info" + bencode(single(nil)) + good[1:],
		"no name":    info(single(dict{"name": nil})),
		"no pieces":  info(single(dict{"pieces": nil})),
		"version 2":  info(single(dict{"pieces": nil, "meta version": 2, "file tree": dict{}})),
		"no length":  info(single(dict{"length": nil})),
		"both":       info(single(dict{"files": list{dict{"length": 1, "path": list{"a"}}}})),
		"negative":   info(single(dict{"length": -1})),
		"too long":   info(single(dict{"length": huge})),
		"no piece":   info(single(dict{"piece length": 0})),
		"long piece": info(single(dict{"piece length": maxPieceLength + 1})),
		"few pieces": info(single(dict{"pieces": sums(text, 16)[20:]})),
		"odd pieces": info(single(dict{"pieces": sums(text, 16) + "x"})),
		"no files":   info(dict{"name": "a", "piece length": 16, "pieces": "", "files": list{}}),
		"only pads":  info(several("p1", 16)),
		"bad path":   info(change(several("a", 16), dict{"files": list{dict{"length": 16, "path": list{1}}}})),
		"no path":    info(change(several("a", 16), dict{"files": list{dict{"length": 16, "path": list{}}}})),
		"no size":    info(change(several("a", 16), dict{"files": list{dict{"path": list{"a"}}}})),
		"overflow": info(change(several("a", 16),
			dict{"files": list{dict{"length": huge / 2, "path": list{"a"}}, dict{"length": huge / 2, "path": list{"b"}}}})),
		"same name":  info(several("a", 16, "a", 16)),
		"many files": info(several(slices.Repeat([]any{"p", 16}, maxFiles+1)...)),
	} {
		tor, err := Parse(strings.NewReader(s))
		if e, ok := errors.AsType[*Error](err); !ok || e.Why == "" {
			t.Errorf("%s: got %+v, %v", name, tor, err)
		}
	}
	parse(t, good)
	parse(t, "d1:z0:1:a0:"+good[1:]) // keys out of order are accepted
}

func info(d dict) string { return bencode(dict{"info": d}) }

func TestReadErrorIsNoFaultOfTheTorrent(t *testing.T) {
	broken := errors.New("broken")
	_, err := Parse(failing{broken})
	if err != broken {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestManyWebSeeds checks that the number of URLs of all files together is limited.
func TestManyWebSeeds(t *testing.T) {
	var seeds list
	for i := range 300 {
		seeds = append(seeds, fmt.Sprintf("http://h%d.example/", i))
	}
	few := parse(t, bencode(dict{"info": single(nil), "url-list": seeds}))
	var files []any
	for i := range maxFiles {
		files = append(files, fmt.Sprintf("f%d", i), 0)
	}
	many := parse(t, bencode(dict{"info": several(files...), "url-list": seeds}))
	if a, b := len(few.Mirrors(few.Files[0])), len(many.Mirrors(many.Files[0])); a != maxWebSeeds || b != 4 {
		t.Errorf("%d and %d places", a, b)
	}
	if len(few.Warnings) != maxWarnings {
		t.Errorf("%d warnings", len(few.Warnings))
	}
}

func TestDocument(t *testing.T) {
	i := several("a", 32, "b", 20, "c", 0)
	i["files"] = append(i["files"].(list), dict{"path": list{".."}, "length": 0})
	tor := parse(t, bencode(dict{"info": i, "url-list": "http://h.example/"}))
	d := tor.Document()
	if len(d.Files) != 3 || len(d.Refused) != 1 || d.Files[0].Name != "root/d/a" || d.Files[0].BestPieces().Count() != 2 {
		t.Fatalf("got %+v", d)
	}
	m := d.Files[2]
	if m.Size != 0 || len(m.Mirrors) != 1 || !verify.Strong(m.Claims) || verify.Strong(d.Files[1].Claims) {
		t.Errorf("got %+v", m)
	}
}

// TestFromInfo checks that FromInfo returns a torrent whose only trackers are the given ones, in one tier, because an
// info dictionary from peers has none.
func TestFromInfo(t *testing.T) {
	d := bencode(single(nil))
	for _, trackers := range [][]string{nil, {"http://a.example/", "udp://b.example:1"}} {
		tor, err := FromInfo([]byte(d), trackers)
		if err != nil || len(tor.Trackers) != min(len(trackers), 1) ||
			len(trackers) > 0 && !slices.Equal(tor.Trackers[0], trackers) {
			t.Errorf("%q: %q, %v", trackers, tor.Trackers, err)
		}
	}
	if tor, err := FromInfo([]byte("i1e"), []string{"http://a.example/"}); err == nil || len(tor.Trackers) > 0 {
		t.Errorf("no dictionary: %v, %q", err, tor.Trackers)
	}
}

// TestPath checks that Path returns the only file's name or, for a torrent of several files, their path without the
// folder that Parse puts before it.
func TestPath(t *testing.T) {
	for want, text := range map[string]string{
		"a b.iso": info(single(nil)),
		"d/x":     info(single(dict{"length": nil, "files": list{dict{"length": len(text), "path": list{"d", "x"}}}})),
	} {
		tor, err := Parse(strings.NewReader(text))
		if err != nil || len(tor.Files) != 1 || tor.Files[0].Path() != want {
			t.Errorf("%+v, %v; want %s", tor.Files, err, want)
		}
	}
}
