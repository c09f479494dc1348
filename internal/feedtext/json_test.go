package feedtext

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"braid/antenna/feed"
)

// events describes the events of a document in a line, and its error.
func events(r io.Reader) (line, code string) {
	j := NewJSON(NewReader(r, feed.Limits{}))
	var list []string
	for {
		e, err := j.Next()
		if reject, is := errors.AsType[*feed.RejectError](err); is {
			return strings.Join(list, " "), reject.Code
		} else if err == io.EOF {
			return strings.Join(list, " "), ""
		} else if err != nil {
			return strings.Join(list, " "), err.Error()
		}
		word := strings.Join(j.Path(), ".") + map[Kind]string{Scalar: "=" + e.Text, Begin: "{", End: "}",
			BeginArray: "[", EndArray: "]"}[e.Kind]
		if e.Kind == Begin && j.InArray() {
			word = "-" + word
		}
		list = append(list, word)
	}
}

func TestJSON(t *testing.T) {
	for _, tt := range []struct{ text, want, code string }{
		{`{"a":1,"b":{"c":"x","d":[true,null,{"e":-1.5e3}]},"f":"y"}`,
			`{ a=1 b{ b.c=x b.d[ b.d=true b.d= -b.d{ b.d.e=-1.5e3 b.d} b.d] b} f=y }`, ""},
		{"\xef\xbb\xbf [ {} , [ ] ] \n", `[ -{ } [ ] ]`, ""}, {`"x"`, "=x", ""}, {`{"a":"a","a":"b"}`, "{ a=a a=b }", ""},
		{"", "", "truncated"}, {" ", "", "truncated"}, {`{"a"`, "{", "truncated"}, {`[1,`, "[ =1", "truncated"},
		{`"x`, "", "truncated"},
		{`{"a":1]`, "{ a=1", "not-well-formed"}, {`[1 2]`, "[ =1", "not-well-formed"}, {`1 2`, "=1", "not-well-formed"},
		{"x", "", "not-well-formed"},
		{`{1:2}`, "{", "not-well-formed"}, {"\"a\nb\"", "", "not-well-formed"}, {`[1]]`, "[ =1 ]", "not-well-formed"},
		{strings.Repeat("[", 100) + strings.Repeat("]", 100),
			strings.TrimSpace(strings.Repeat("[ ", 100) + strings.Repeat("] ", 100)), ""},
		{strings.Repeat("[", 101), strings.TrimSpace(strings.Repeat("[ ", 100)), "nested-too-deep"},
		{"[" + strings.Repeat("\n", 5<<20) + "]", "[", "line-too-long"}, {`["` + strings.Repeat("x", 5<<20) + `"]`, "[",
			"line-too-long"},
		{`[` + strings.Repeat(`1,`, 10000) + `1]`, "[" + strings.Repeat(" =1", 10001) + " ]", ""},
	} {
		if line, code := events(strings.NewReader(tt.text)); line != tt.want || code != tt.code {
			t.Errorf("%.80s: %.200s, %s; want %.200s, %s", tt.text, line, code, tt.want, tt.code)
		}
	}
	torn := errors.New("torn")
	if line, code := events(io.MultiReader(strings.NewReader(`[1,`), iotest.ErrReader(torn))); line != "[ =1" || code != "torn" {
		t.Errorf("%s, %s", line, code)
	}
	if _, code := events(stuck{}); code != io.ErrNoProgress.Error() {
		t.Errorf("a reader that brings nothing: %s", code)
	}
}

func TestJSONLines(t *testing.T) {
	j := NewJSON(NewReader(strings.NewReader("\n[\n1,\n\n{\"a\":\n2}]\n"), feed.Limits{}))
	var lines []int
	for {
		if _, err := j.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, j.Line())
	}
	if want := []int{2, 3, 5, 6, 6, 6}; !slices.Equal(lines, want) {
		t.Errorf("%v, want %v", lines, want)
	}
}

func TestMembers(t *testing.T) {
	found := Members([]byte(`[{"a":{"b":{"c":{"d":1}}},"e":[{"f":1}],"g":"cut o`))
	for name, want := range map[string]bool{"a": true, "a.b": true, "a.b.c": true, "a.b.c.d": false, "e": true,
		"e.f": true, "f": false, "": false, "g": false} {
		if found[name] != want {
			t.Errorf("%s: %v", name, found[name])
		}
	}
	if !HasSet(found, [][]string{{"x"}, {"a", "e.f"}}) || HasSet(found, [][]string{{"a", "x"}}) || HasSet(found, nil) {
		t.Errorf("%v", found)
	}
}

// FuzzJSON: a document is read to its end if and only if it is one for encoding/json, unless it is too deep.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":null}]}`, "[]]", `"x`, "{}{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\xef\xbb\xbf") {
			return
		}
		line, code := events(strings.NewReader(text))
		if valid := json.Valid([]byte(text)); valid != (code == "") && code != "nested-too-deep" {
			t.Errorf("%q: valid %v, but %q", text, valid, code)
		}
		if again, other := events(iotest.OneByteReader(strings.NewReader(text))); again != line || other != code {
			t.Errorf("byte by byte: %s, %s; want %s, %s", again, other, line, code)
		}
	})
}
