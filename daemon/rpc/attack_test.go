package rpc

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
)

// TestOneGuess_Rule68 checks that a request with many tokens is only one guess.
func TestOneGuess_Rule68(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv", Token: secret, Wait: func(context.Context, time.Duration) {}})
	var calls []any
	for i := range 3 {
		calls = append(calls, inner("aria2.getVersion", fmt.Sprint("token:guess", i)))
	}
	calls = append(calls, inner("aria2.getVersion", with()...))
	for _, body := range []string{
		object("system.multicall", 1, calls),
		"[" + object("aria2.getVersion", 1, "token:guess") + "," + object("aria2.getVersion", 2, with()...) + "]",
	} {
		if answer := say(h, body).Body.String(); strings.Contains(answer, "1.37") {
			t.Errorf("the token was found among others: %s", answer)
		}
	}
}

// TestSecretsOfPlaces_Rule70 checks that user information is masked in every URL, and that the placeholders are
// accepted.
func TestSecretsOfPlaces_Rule70(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files"})
	options := map[string]string{
		"user": "anna:HUSH1", "mirror": "http://anna:HUSH2@h/y\nhttp://HUSH3@h/z", "referer": "http://a:HUSH4@h/",
		"bt-tracker": "http://a:HUSH5@h/a,http://a:HUSH6@h/b",
	}
	gid := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, options)
	torrent := "d8:announce19:http://a:HUSH7@h/an4:infod6:lengthi1e4:name1:x12:piece lengthi16384e6:pieces20:" +
		strings.Repeat("x", 20) + "ee"
	other := result[string](t, h, "aria2.addTorrent", base64.StdEncoding.EncodeToString([]byte(torrent)))
	link := result[string](t, h, "aria2.addUri",
		[]string{"magnet:?xt=urn:btih:" + strings.Repeat("a", 40) + "&tr=http%3A%2F%2Fa%3AHUSH8%40h%2Fa"})
	for _, call := range [][]any{{"aria2.getOption", gid}, {"aria2.tellStatus", other}, {"aria2.tellStatus", link}} {
		if answer := say(h, object(call[0].(string), 1, call[1:]...)).Body.String(); strings.Contains(answer, "HUSH") ||
			strings.Contains(answer, "error") {
			t.Errorf("%v: %s", call, answer)
		}
	}
	twin := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, result[map[string]string](t, h, "aria2.getOption", gid))
	g, _ := queue.ParseGID(twin)
	after, _ := e.q.Entry(g)
	for name, want := range options {
		if after.Options[name] != want {
			t.Errorf("%s is %q after a retry, want %q", name, after.Options[name], want)
		}
	}
}

// TestOtherServer_Rule70 checks that the secrets of a download are not sent to another server that a client names.
func TestOtherServer_Rule70(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv/files"})
	for _, options := range []map[string]string{{"header": "Cookie: HUSH"},
		{"http-user": "anna", "http-passwd": "HUSH"}, {"user": "anna:HUSH"}} {
		gid := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, options)
		if _, message := attempt[[]int](t, h, "aria2.changeUri", gid, 1, []string{"http://h/x"},
			[]string{"http://page.example/x"}); !strings.Contains(message, "remove these options") {
			t.Errorf("%v: %q", options, message)
		}
		result[[]int](t, h, "aria2.changeUri", gid, 1, []string{}, []string{"http://h/y"})
		for name := range options {
			options[name] = ""
		}
		result[string](t, h, "aria2.changeOption", gid, options)
		result[[]int](t, h, "aria2.changeUri", gid, 1, []string{}, []string{"http://page.example/x"})
	}
}

// TestBounds_Rule68 checks that options cannot grow with every call, and that long entries cannot be listed again and
// again.
func TestBounds_Rule68(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv/files"})
	gid := result[string](t, h, "aria2.addUri", []string{"http://h/x", "http://h/" + strings.Repeat("x", 1<<20)},
		map[string]string{"pause": "true"})
	failed := ""
	for n := range 2 {
		many := map[string]string{}
		for i := range mostOptions - 10 {
			many[fmt.Sprintf("x-%d-%d", n, i)] = "1"
		}
		_, own := attempt[string](t, h, "aria2.changeOption", gid, many)
		_, all := attempt[string](t, h, "aria2.changeGlobalOption", many)
		failed += own + " " + all + ";"
	}
	if want := " ;More than 300 options. More than 300 options.;"; failed != want {
		t.Errorf("%q, want %q", failed, want)
	}
	result[string](t, h, "aria2.changeGlobalOption", map[string]string{"x-0-0": strings.Repeat("x", 1<<20)})
	for _, method := range []string{"aria2.tellStatus", "aria2.getUris", "aria2.getFiles", "aria2.getOption"} {
		var calls []any
		for range 100 {
			calls = append(calls, inner(method, gid))
		}
		w := say(h, object("system.multicall", 1, calls))
		if w.Body.Len() > 128<<20 || !strings.Contains(w.Body.String(), "too large") {
			t.Errorf("%s: %d bytes", method, w.Body.Len())
		}
	}
}

// TestHugeSize checks that the largest possible size has a valid number of pieces.
func TestHugeSize(t *testing.T) {
	for _, size := range []int64{1<<62 + 1, math.MaxInt64} {
		w := view{Entry: queue.Entry{Size: size}, about: &about{}}
		if n := w.pieces(); n <= 0 || n > mostPieces || w.pieceLength() <= 0 {
			t.Errorf("%d: %d pieces", size, n)
		}
	}
}
