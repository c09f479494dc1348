package render

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"braid/download"
)

// TestVain: the user's own mirrors that failed are named once for all files, unless their hosts sent something for
// another file.
func TestVain(t *testing.T) {
	refused := errors.New("connection refused")
	at := func(host, file string) string { return "http://" + host + ".example/" + file }
	mirrors := func(file string, hosts ...string) (r download.Request) {
		for _, host := range hosts {
			u, err := url.Parse(at(host, file))
			if err != nil {
				t.Fatal(err)
			}
			r.Mirrors = append(r.Mirrors, u)
		}
		return r
	}
	failed := func(file string, hosts ...string) (r download.Result) {
		for _, host := range hosts {
			r.Sources = append(r.Sources, download.SourceResult{URL: at(host, file), Host: host + ".example:80", Err: refused})
		}
		return r
	}
	unneeded, wrong, gave := failed("x", "a"), failed("x", "a"), failed("x", "a")
	unneeded.Sources[0].Err, wrong.Sources[0].Banned, gave.Sources[0].Bytes = nil, true, 1
	type file struct {
		req download.Request
		res download.Result
	}
	for _, tt := range []struct {
		files []file
		want  string
	}{
		{nil, ""},
		{[]file{{mirrors("x"), failed("x", "a")}}, ""}, // the server's own
		{[]file{{mirrors("x", "a"), failed("y", "a")}}, ""},
		{[]file{{mirrors("x", "a"), unneeded}}, ""},
		{[]file{{mirrors("x", "a"), wrong}}, ""},
		{[]file{{mirrors("x", "a"), gave}}, ""},
		{[]file{{mirrors("x", "a"), failed("x", "a")}},
			"nothing came from your mirror http://a.example/x: connection refused"},
		{[]file{{mirrors("x", "a"), failed("x", "a")}, {mirrors("y", "a"), failed("y", "a")}},
			"nothing came from your mirror http://a.example/x: connection refused"},
		{[]file{{mirrors("y", "a"), failed("y", "a")}, {mirrors("x", "a"), gave}}, ""},
		{[]file{{mirrors("x", "a", "b"), failed("x", "b", "a")}}, "nothing came from these mirrors of yours: " +
			"http://a.example/x: connection refused; http://b.example/x: connection refused"},
		{[]file{{mirrors("x", "a", "b", "c", "d", "e"), failed("x", "a", "b", "c", "d", "e")}},
			"nothing came from these mirrors of yours: http://a.example/x: connection refused; " +
				"http://b.example/x: connection refused; http://c.example/x: connection refused; 2 more"},
	} {
		var v vain
		for _, f := range tt.files {
			v.add(f.req, f.res)
		}
		if got := v.line(); got != tt.want {
			t.Errorf("%v:\n%q, want\n%q", fmt.Sprint(tt.files), got, tt.want)
		}
	}
}
