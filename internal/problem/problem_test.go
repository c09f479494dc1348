package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"braid/download"
	"braid/internal/partfile"
	"braid/source"
)

func TestError(t *testing.T) {
	for _, tt := range []struct {
		p    Problem
		want string
	}{
		{Problem{What: "download", Where: "http://h/a", Why: "status 404"}, "download http://h/a: status 404"},
		{Problem{What: "usage", Why: "no command", Hint: "braid --help"}, "usage: no command (braid --help)"},
		{Problem{What: "x", Where: "y", Why: "z", Kept: "nothing kept"}, "x y: z (nothing kept)"},
		{Problem{What: "x", Where: "y", Why: "z", Kept: "5 MiB kept in a.part", Hint: "run again"},
			"x y: z (5 MiB kept in a.part; run again)"},
	} {
		if got := tt.p.Error(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestGist(t *testing.T) {
	for want, p := range map[string]Problem{"a: b": {What: "x", Where: "a", Why: "b", Hint: "h"}, "b": {Why: "b"},
		"a": {Where: "a"}} {
		if got := p.Gist(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOf: Of returns the Problem in the chain. Without one, the new Problem has the text of the error.
func TestOf(t *testing.T) {
	p := Misuse("--split", "write a number", "")
	if got := Of(fmt.Errorf("outside: %w", p)); got != p {
		t.Errorf("another one: %v", got)
	}
	if got := OfDownload(p); got != p {
		t.Errorf("another one for a download: %v", got)
	}
	if got := *Of(errors.New("odd")); got != (Problem{Kind: download.Other, What: "error", Why: "odd"}) {
		t.Errorf("%+v", got)
	}
}

func TestOfDownload(t *testing.T) {
	refused := &source.Error{URL: "http://h:1/a", Host: "h:1", Fault: source.FaultRefused, Status: 404}
	for _, tt := range []struct {
		err  download.Error
		want string
	}{
		{download.Error{Where: "http://h:1/a", Err: refused}, "download http://h:1/a: status 404"},
		{download.Error{Where: "http://o/a", Err: refused}, "download http://o/a: h:1: status 404"},
		{download.Error{Where: "u"}, "download u: no reason given"},
		{download.Error{Where: "u", Err: errors.New("e"), Hint: "look"}, "download u: e (look)"},
		{download.Error{Where: "u", Err: &partfile.SpaceError{Path: "/d", Need: 2 << 20, Free: 1 << 20}},
			"download u: /d: needs 2 MiB more, but the file system has 1 MiB"},
	} {
		tt.err.Kind, tt.err.What = download.Refused, "download"
		got := OfDownload(fmt.Errorf("outside: %w", &tt.err))
		if got.Error() != tt.want || got.Kind != download.Refused || !errors.Is(got.Err, &tt.err) {
			t.Errorf("%+v, want %q", got, tt.want)
		}
	}
}

// TestLocal: the reason does not repeat the name of the file, because the message already begins with it.
func TestLocal(t *testing.T) {
	err := fmt.Errorf("open: %w", &fs.PathError{Op: "open", Path: "secret", Err: fs.ErrNotExist})
	if got := Local("folder", "d", err).WithHint("make it"); got.Kind != download.Local ||
		got.Error() != "folder d: file does not exist (make it)" {
		t.Errorf("%v", got)
	}
}
