package metainfo

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"braid/metalink"
	"braid/verify"
)

func made(t testing.TB, name, data string) Torrent {
	t.Helper()
	m := verify.NewPieceMaker(verify.SHA1, 16)
	m.Write([]byte(data))
	tor, err := New(name, m.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	return tor
}

// TestFormat checks that Format sorts the keys and writes no others.
func TestFormat(t *testing.T) {
	tor := made(t, "a b.iso", text)
	tor.Trackers = [][]string{{"http://a.example/"}, {"udp://b.example:1", "udp://c.example:2"}}
	got, err := tor.Format("braid", []string{"http://h.example/pub/"})
	if err != nil {
		t.Fatal(err)
	}
	want := bencode(dict{
		"announce": "http://a.example/", "announce-list": list{list{"http://a.example/"}, list{"udp://b.example:1",
			"udp://c.example:2"}},
		"created by": "braid", "info": single(nil), "url-list": list{"http://h.example/pub/"},
	})
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, err := made(t, "a", "x").Format("", nil); err != nil ||
		!strings.HasPrefix(string(got), "d4:infod6:lengthi1e4:name1:a12:piece lengthi16e6:pieces20:") || !Looks(got) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNewRefuses(t *testing.T) {
	one := made(t, "a", "x").Files[0].BestPieces()
	m := verify.NewPieceMaker(verify.SHA256, 16)
	m.Write([]byte("x"))
	for name, p := range map[string]verify.Pieces{"": one, "../a": one, "a": m.Pieces(), "b": {}} {
		if _, err := New(name, p); err == nil {
			t.Errorf("a torrent of %q", name)
		}
	}
	many := verify.NewPieceMaker(verify.SHA1, 1)
	many.Write(make([]byte, MaxSize/20))
	tor, err := New("a", many.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tor.Format("", nil); err == nil {
		t.Error("a torrent that is too large")
	}
}

// FuzzParse checks that Parse does not panic, that its result is within the limits, and that the result survives a
// round trip through Format.
func FuzzParse(f *testing.F) {
	f.Add([]byte(bencode(dict{"info": single(nil), "announce": "http://t.example/", "url-list": "http://h.example/a"})))
	f.Add([]byte(bencode(dict{"info": several("a", 20, "p1", 12, "b", 3, "e", 0),
		"url-list": list{"http://h.example/%zz", "https://h/%2e/"}})))
	f.Add([]byte("d4:infod5:filesld6:lengthi0e4:pathl2:..eee4:name1:a12:piece lengthi1e6:pieces0:ee"))
	f.Add([]byte("d1:xi-9223372036854775808e4:infodee"))
	f.Fuzz(checkParse)
}

// FuzzFields is like FuzzParse for well-formed torrents with arbitrary values.
func FuzzFields(f *testing.F) {
	f.Add("root", "a", "p", "http://h.example/a b/?q", "udp://t.example", 16, 20, 12, 3)
	f.Add("..", "/", "l", "ftp://h/%2f%zz", "http://u@h/", 1, 0, 1, 0)
	f.Add("con", "a\xffb", "", "//h", "x", 1<<30, math.MaxInt, math.MaxInt, -1)
	f.Fuzz(func(t *testing.T, root, name, attr, seed, tracker string, length, a, b, c int) {
		var pieces string
		if n := (a + b + c + length - 1) / max(length, 1); n > 0 && n < 1000 {
			pieces = strings.Repeat("x", 20*n)
		}
		files := list{
			dict{"length": a, "path": list{name}}, dict{"length": b, "path": list{"x", name}, "attr": attr},
			dict{"length": c, "path": list{root, seed}},
		}
		for _, info := range []dict{
			{"name": root, "piece length": length, "pieces": pieces, "files": files},
			{"name": name, "piece length": length, "pieces": pieces, "length": a + b + c, "private": b},
		} {
			checkParse(t, []byte(bencode(dict{
				"info": info, "url-list": list{seed, tracker, "http://h.example/" + name},
				"announce-list": list{list{tracker, seed}, list{"http://" + name}},
			})))
		}
	})
}

func checkParse(t *testing.T, data []byte) {
	tor, err := Parse(bytes.NewReader(data))
	if err != nil {
		checkError(t, err)
		return
	}
	if !Looks(data) {
		t.Fatal("a torrent that does not look like one")
	}
	checkTorrent(t, tor)
	var seeds []string
	for _, u := range tor.seeds {
		seeds = append(seeds, u.String())
	}
	again, err := tor.Format("", seeds)
	if err != nil {
		return
	}
	read, err := Parse(bytes.NewReader(again))
	if err != nil {
		t.Fatalf("%q: %v", again, err)
	}
	if tor.Warnings, read.Warnings = nil, nil; !reflect.DeepEqual(tor, read) {
		t.Fatalf("was %+v, is %+v", tor, read)
	}
}

func checkError(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Offset < -1 {
		t.Fatalf("error %v of type %T", err, err)
	}
	for _, r := range e.Error() {
		if r < ' ' || r > '~' {
			t.Fatalf("unprintable: %q", e.Error())
		}
	}
}

func checkTorrent(t *testing.T, tor Torrent) {
	t.Helper()
	if len(tor.Files)+len(tor.Refused) == 0 || len(tor.Files)+len(tor.Refused) > maxFiles || len(tor.Warnings) > maxWarnings {
		t.Fatalf("%d files, %d refused, %d warnings", len(tor.Files), len(tor.Refused), len(tor.Warnings))
	}
	end, names := int64(0), map[string]bool{}
	for _, f := range tor.Files {
		if f.Offset < end || f.Size < 0 || f.Offset+f.Size > tor.Size || metalink.CheckPath(f.Name) != nil || names[f.Name] {
			t.Fatalf("file %+v after %d of %d", f, end, tor.Size)
		}
		end, names[f.Name] = f.Offset+f.Size, true
		if p := f.BestPieces(); !p.IsZero() && (p.Size() != f.Size || p.Length() != tor.PieceLength || f.Offset%p.Length() != 0) {
			t.Fatalf("%d pieces of %d for %+v", p.Count(), p.Length(), f)
		}
		for _, u := range tor.Mirrors(f) {
			if u.Host == "" || u.User != nil || u.EscapedPath() == "" && len(f.parts) > 0 {
				t.Fatalf("mirror %s", u)
			}
		}
	}
}
