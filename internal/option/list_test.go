package option

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// read returns all entries of a list, and the error that ended it.
func read(list string) (entries []Entry, err error) {
	for e, err := range Entries(list) {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func TestEntries(t *testing.T) {
	for _, tt := range []struct {
		name, list string
		want       []Entry
	}{
		{"nothing", "", nil},
		{"nothing but space", "\n \r\n\t\n# x\n  # y", nil},
		{"plain", "http://h/a\nhttp://h/b", []Entry{{1, []string{"http://h/a"}, nil}, {2, []string{"http://h/b"}, nil}}},
		{"mirrors", "a\tb \t\t c\t\n", []Entry{{1, []string{"a", "b", "c"}, nil}}},
		{"space within", "a b\n", []Entry{{1, []string{"a b"}, nil}}},
		{"options", "\n# one\na\n  out=x\n\tchecksum = sha-256=ab=\n\n # not an option\n header=A: b \nb\n", []Entry{
			{3, []string{"a"}, []Setting{{4, "out", "x"}, {5, "checksum", "sha-256=ab="}, {8, "header", "A: b"}}},
			{9, []string{"b"}, nil},
		}},
		{"the same option twice, one of them empty", "a\n out=\n out=b",
			[]Entry{{1, []string{"a"}, []Setting{{2, "out", ""}, {3, "out", "b"}}}}},
		{"from another system", "\ufeffa\r\n  out=x\r\n\r\nb\r\n",
			[]Entry{{1, []string{"a"}, []Setting{{2, "out", "x"}}}, {4, []string{"b"}, nil}}},
		{"long", strings.Repeat("a", MaxLine), []Entry{{1, []string{strings.Repeat("a", MaxLine)}, nil}}},
	} {
		if got, err := read(tt.list); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func TestEntriesRefused(t *testing.T) {
	for _, tt := range []struct {
		name, list string
		line, good int
	}{
		{"an option first", "# x\n out=a\nb", 2, 0},
		{"not an option", "a\nb\n out", 3, 1},
		{"an option without a name", "a\n =x", 2, 0},
		{"a long line", "a\n" + strings.Repeat("b", MaxLine+1) + "\nc", 2, 0},
		{"a long comment", "a\nb\n#" + strings.Repeat("b", MaxLine), 3, 1},
	} {
		got, err := read(tt.list)
		var e *Error
		if !errors.As(err, &e) || e.Line != tt.line || e.Why == "" || len(got) != tt.good {
			t.Errorf("%s: %d entries, %v", tt.name, len(got), err)
		}
	}
}

// TestEntriesStops: the iteration stops when the caller stops.
func TestEntriesStops(t *testing.T) {
	for e := range Entries("a\nb\nc") {
		if e.Line == 2 {
			break
		}
	}
}

// FuzzEntries: entries have the documented form, and have the same meaning when they are written and parsed again.
func FuzzEntries(f *testing.F) {
	for _, seed := range []string{"a\tb\n out=x\n# c\r\n\r\nd", "\ufeff a=b", " =", "a\n b",
		"\t\t\n#\na \t b\n\tx = y = z", "a\v\n\u00a0b=c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		entries, err := read(list)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(list, "\n")) {
			t.Fatalf("error %v", err)
		}
		last := 0
		var again strings.Builder
		again.WriteString("#\n") // a byte order mark in a URI is not at the start any more
		for _, e := range entries {
			write(t, &again, e, &last)
		}
		same, err := read(again.String())
		if err != nil || len(same) != len(entries) {
			t.Fatalf("%q: %d entries, %v; there were %d", again.String(), len(same), err, len(entries))
		}
		for i := range same {
			if !reflect.DeepEqual(same[i].URIs, entries[i].URIs) || !sameOptions(same[i].Options, entries[i].Options) {
				t.Fatalf("%v became %v", entries[i], same[i])
			}
		}
	})
}

// write writes an entry as a line of a list, and checks its form.
func write(t *testing.T, to *strings.Builder, e Entry, last *int) {
	t.Helper()
	bad := e.Line <= *last || len(e.URIs) == 0 || strings.HasPrefix(e.URIs[0], "#")
	*last = e.Line
	for _, uri := range e.URIs {
		bad = bad || uri == "" || uri != strings.TrimSpace(uri) || strings.ContainsAny(uri, "\t\n")
	}
	fmt.Fprintln(to, strings.Join(e.URIs, "\t"))
	for _, o := range e.Options {
		bad = bad || o.Line < *last || o.Name == "" || strings.ContainsAny(o.Name, "=\n") || strings.Contains(o.Value, "\n")
		*last = o.Line
		fmt.Fprintf(to, " %s=%s\n", o.Name, o.Value)
	}
	if bad {
		t.Fatalf("entry %+v", e)
	}
}

func sameOptions(a, b []Setting) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Value != b[i].Value {
			return false
		}
	}
	return true
}
