package rpc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"braid/daemon/queue"
)

// result calls a method of a handler without a token, and decodes the result.
func result[T any](t testing.TB, h *Handler, method string, params ...any) (v T) {
	t.Helper()
	v, message := attempt[T](t, h, method, params...)
	if message != "" {
		t.Fatalf("%s %v: %s", method, params, message)
	}
	return v
}

// attempt is like result, but the call may fail.
func attempt[T any](t testing.TB, h *Handler, method string, params ...any) (v T, message string) {
	t.Helper()
	w := say(h, object(method, 1, params...))
	var got struct {
		Result T
		Error  *fault
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%s %v: %v: %s", method, params, err, w.Body)
	}
	if got.Error != nil {
		message = got.Error.Message
	}
	return got.Result, message
}

// TestSecrets_Rule70 checks that no answer contains a secret, and that a client that adds a download again with the
// options it got restores its secrets.
func TestSecrets_Rule70(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files", Given: map[string]string{"rpc-secret": "HUSH0", "http-passwd": "HUSH1"}})
	options := map[string]any{
		"header": []string{"Cookie: a=HUSH2", "User-Agent: x/1", "X-Key: HUSH3", "x-key: HUSH4",
			"Authorization: Basic HUSH5"},
		"http-passwd": "HUSH6", "ftp-passwd": "HUSH7", "http-user": "anna", "referer": "http://h/", "out": "x",
	}
	uris := []string{"http://h/x?key=1", "ftp://anna:HUSHa@h/x", "http://HUSHb@g:8080/x"}
	gid := result[string](t, h, "aria2.addUri", uris, options)
	result[string](t, h, "aria2.changeGlobalOption", map[string]any{"http-passwd": "HUSHc", "header": []string{"Cookie: HUSHd"}})
	g, _ := queue.ParseGID(gid)
	e.end(g, queue.Failed)
	for _, call := range [][]any{{"aria2.tellStatus", gid}, {"aria2.getOption", gid}, {"aria2.getGlobalOption"},
		{"aria2.getFiles", gid},
		{"aria2.tellStopped", 0, 9, []string{"braid", "files"}}} {
		if answer := say(h, object(call[0].(string), 1, call[1:]...)).Body.String(); strings.Contains(answer, "HUSH") {
			t.Errorf("%s gives back a secret: %s", call[0], answer)
		}
	}

	back := result[map[string]string](t, h, "aria2.getOption", gid)
	files := result[[]file](t, h, "aria2.getFiles", gid)
	var again []string
	for _, place := range files[0].URIs {
		if place.Status == "used" {
			again = append(again, place.URI)
		}
	}
	twin := result[string](t, h, "aria2.addUri", again, back)
	g2, _ := queue.ParseGID(twin)
	before, _ := e.q.Entry(g)
	after, _ := e.q.Entry(g2)
	if strings.Join(before.URIs, " ") != strings.Join(after.URIs, " ") ||
		strings.Join(after.URIs, " ") != strings.Join(uris, " ") {
		t.Errorf("URIs are %q, want %q", after.URIs, uris)
	}
	for name, want := range before.Options {
		if got := after.Options[name]; got != want {
			t.Errorf("%s is %q after a retry, want %q", name, got, want)
		}
	}

	for name, tt := range map[string]struct {
		uris    []string
		options map[string]string
	}{
		"header for another server": {[]string{"http://page.example/"}, map[string]string{"header": back["header"]}},
		"password for another server": {[]string{"http://h/", "http://page.example/"},
			map[string]string{"http-passwd": back["http-passwd"]}},
		"another option's": {[]string{"http://h/"}, map[string]string{"http-passwd": back["ftp-passwd"],
			"ftp-user": back["http-passwd"]}},
		"another header field's": {[]string{"http://h/"}, map[string]string{"header": "Accept: " + placeholder(g)}},
		"another URI's":          {[]string{strings.Replace(again[1], "@h", "@page.example", 1)}, map[string]string{}},
		"of no entry":            {[]string{"http://h/"}, map[string]string{"http-passwd": placeholder(99)}},
		"cut off":                {[]string{"http://h/"}, map[string]string{"http-passwd": "secret-of-"}},
	} {
		got, message := attempt[string](t, h, "aria2.addUri", tt.uris, tt.options)
		if !strings.Contains(message, "no longer known") {
			t.Errorf("%s: added as %s, %q", name, got, message)
		}
	}
	if _, message := attempt[string](t, h, "aria2.changeGlobalOption",
		map[string]string{"http-passwd": back["http-passwd"]}); message == "" {
		t.Error("a secret of one download became one of all")
	}
	result[string](t, h, "aria2.changeGlobalOption", map[string]string{"http-passwd": placeholder(0)})
	if got := e.q.Global()["http-passwd"]; got != "HUSHc" {
		t.Errorf("the password of all downloads is %q", got)
	}
}

// TestOptions_Rule69 checks that forbidden and invalid options are refused, and that others are stored as written.
func TestOptions_Rule69(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files"})
	const mayNot, ofAll, problem, folder, name = "may not set", "cannot be set for one download",
		"We encountered a problem", "is outside /srv/files", "is not the name of a file below"
	for _, tt := range []struct{ option, value, want string }{
		{"on-download-complete", "/bin/sh", mayNot}, {"on-anything", "", mayNot}, {"conf-path", "x", mayNot},
		{"input-file", "x", mayNot},
		{"save-session", "x", folder}, {"load-cookies", "x", mayNot}, {"ca-certificate", "x", mayNot},
		{"private-key", "x", mayNot},
		{"log", "x", mayNot}, {"rpc-secret", "x", mayNot}, {"rpc-listen-all", "true", mayNot},
		{"check-certificate", "false", "may only be true"},
		{"all-proxy", "http://p/", ofAll}, {"http-proxy", "p", ofAll}, {"https-proxy", "p", ofAll},
		{"ftp-proxy", "p", ofAll}, {"all-proxy-user", "p", ofAll},
		{"ftp-proxy-passwd", "p", ofAll}, {"no-proxy", "h", ofAll}, {"all-proxy", "", ""}, {"proxy-method", "get", ""},
		{"check-certificate", "no", "braid daemon --insecure HOST"}, {"check-certificate", "true", ""},
		{"dir", "/srv/files", ""}, {"dir", "/srv/files/", ""}, {"dir", "/srv/files/a/../b", ""}, {"dir", "sub", ""},
		{"dir", "", ""},
		{"dir", "/srv/files2", folder}, {"dir", "/srv/files/../x", folder}, {"dir", "..", folder}, {"dir", "/", folder},
		{"dir", "a/../../x", folder},
		{"dir", "a\x00b", problem}, {"out", "a.iso", ""}, {"out", "sub/a.iso", ""}, {"out", "/etc/passwd", name},
		{"out", "../x", name},
		{"out", "a/../../x", name}, {"out", "a\x00", problem}, {"out", "x/", name},
		{"split", "16", ""}, {"split", "0", problem}, {"split", "-1", problem}, {"split", "1e3", problem},
		{"max-download-limit", "1048576", ""},
		{"max-download-limit", "M", problem}, {"max-download-limit", "1 B", problem}, {"max-download-limit", "-1M", problem},
		{"checksum", "sha-224=" + strings.Repeat("0a", 28), problem},
		{"checksum", "sha-384=" + strings.Repeat("0a", 48), problem}, {"continue", "yes", problem},
		{"header", "A: b", ""}, {"header", "A: b\nC: d\n", ""},
		{"header", "none", problem}, {"header", "A: b\x00", problem}, {"header", "A b: c", problem},
		{"user-agent", "a\nB: c", problem},
		{"checksum", "sha-256=" + strings.Repeat("0a", 32), ""}, {"checksum", "sha-256=00", problem},
		{"select-file", "1,3-5", ""},
		{"select-file", "a", problem}, {"seed-ratio", "0.5", ""}, {"seed-ratio", "x", problem}, {"whatever", "anything", ""},
	} {
		before := len(e.q.Waiting(0, 1000))
		gid, message := attempt[string](t, h, "aria2.addUri", []string{"http://h/x"}, map[string]string{tt.option: tt.value})
		if tt.want == "" && message != "" || tt.want != "" && !strings.Contains(message, tt.want) {
			t.Errorf("%s=%q: %q, want %q", tt.option, tt.value, message, tt.want)
		}
		if added := len(e.q.Waiting(0, 1000)) - before; (added == 1) != (tt.want == "") {
			t.Errorf("%s=%q: %d added", tt.option, tt.value, added)
		}
		if _, other := attempt[string](t, h, "aria2.changeGlobalOption",
			map[string]string{tt.option: tt.value}); (other == "") != (tt.want == "") {
			t.Errorf("%s=%q for all: %q", tt.option, tt.value, other)
		}
		if gid == "" || tt.option == "dir" {
			continue
		}
		if got := result[map[string]string](t, h, "aria2.getOption", gid)[tt.option]; got != tt.value && tt.option != "header" {
			t.Errorf("%s is %q, want %q", tt.option, got, tt.value)
		}
		if _, other := attempt[string](t, h, "aria2.changeOption", gid, map[string]string{tt.option: tt.value}); other != "" {
			t.Errorf("%s=%q of an entry: %q", tt.option, tt.value, other)
		}
	}
	one := result[string](t, h, "aria2.addUri", []string{"http://h/x"})
	if _, message := attempt[string](t, h, "aria2.changeOption", one,
		map[string]string{"all-proxy": "http://p/"}); !strings.Contains(message, ofAll) {
		t.Errorf("a proxy for an entry: %q", message)
	}
	gid := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, map[string]any{"dir": "a/../b",
		"header": []string{"A: b", "User-Agent: c"}, "split": 4})
	got := result[map[string]string](t, h, "aria2.getOption", gid)
	if got["dir"] != "/srv/files/b" || got["split"] != "4" || !strings.HasSuffix(got["header"], "\nUser-Agent: c") {
		t.Errorf("options are %q", got)
	}
}

// TestURIs checks that a URI with an unknown scheme or a malformed digest is refused by name, and that an invalid one is
// ignored.
func TestURIs(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files"})
	for _, uri := range []string{"file:///etc/passwd", "sftp://h/x", "javascript:alert(1)", "data:,x", "gopher://h/"} {
		if _, message := attempt[string](t, h, "aria2.addUri", []string{"http://h/x", uri}); !strings.Contains(message,
			"unknown protocol") {
			t.Errorf("%s: %q", uri, message)
		}
	}
	for _, uri := range []string{"http://h/x#sha256=12", "http://h/x#sha384-AAAA", "http://h/by-hash/SHA256/12"} {
		if _, message := attempt[string](t, h, "aria2.addUri", []string{"http://h/x", uri}); !strings.Contains(message, "sha") {
			t.Errorf("%s: %q", uri, message)
		}
	}
	gid := result[string](t, h, "aria2.addUri", []string{"", "h/x", " http://h/x\n", "HTTPS://g/x", "//h/y"})
	g, _ := queue.ParseGID(gid)
	if entry, _ := e.q.Entry(g); strings.Join(entry.URIs, " ") != "http://h/x HTTPS://g/x" {
		t.Errorf("URIs are %q", entry.URIs)
	}
	result[[]int](t, h, "aria2.changeUri", gid, 1, []string{"http://h/x"}, []string{"http://f/x"}, 0)
	if entry, _ := e.q.Entry(g); strings.Join(entry.URIs, " ") != "http://f/x HTTPS://g/x" {
		t.Errorf("changed, URIs are %q", entry.URIs)
	}
}

// TestRetryPinsNothing checks that a download that is added again with the options a client got equals the first one,
// even if the global options change later.
func TestRetryPinsNothing(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files", Given: map[string]string{"max-concurrent-downloads": "3", "allow-overwrite": "true"}})
	gid := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, map[string]string{"split": "2",
		"allow-overwrite": "false", "max-tries": "5"})
	again := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, result[map[string]string](t, h, "aria2.getOption", gid))
	for _, gid := range []string{gid, again} {
		g, _ := queue.ParseGID(gid)
		entry, _ := e.q.Entry(g)
		delete(entry.Options, "dir") // the folder of the file
		if got := fmt.Sprint(entry.Options); got != "map[allow-overwrite:false split:2]" {
			t.Errorf("options are %s", got)
		}
	}
	result[string](t, h, "aria2.changeOption", gid, map[string]string{"split": "16"})
	if got := result[map[string]string](t, h, "aria2.getOption", gid)["split"]; got != "16" {
		t.Errorf("split is %s after it was changed to 16", got)
	}
	result[string](t, h, "aria2.changeGlobalOption", map[string]string{"dir": "new", "split": "4"})
	gid = result[string](t, h, "aria2.addUri", []string{"http://h/x"})
	result[string](t, h, "aria2.changeGlobalOption", map[string]string{"dir": "newer"})
	if got := result[map[string]string](t, h, "aria2.getOption", gid); got["dir"] != "/srv/files/new" || got["split"] != "4" {
		t.Errorf("added before the folder changed: %v", got)
	}
}

// TestFolder checks that a download goes to the folder in its options, else to the global one, else to the daemon's,
// else to the root.
func TestFolder(t *testing.T) {
	for _, given := range []map[string]string{nil, {"dir": "/srv/files/in"}} {
		h := New(newEngine(), Options{Root: "/srv/files", Given: given})
		home := cmp.Or(given["dir"], "/srv/files")
		dir := func(options map[string]string) string {
			gid := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, options)
			told := result[map[string]any](t, h, "aria2.tellStatus", gid, []string{"dir"})["dir"].(string)
			if option := result[map[string]string](t, h, "aria2.getOption", gid)["dir"]; option != told {
				t.Errorf("the option is %s, the folder %s", option, told)
			}
			return told
		}
		for _, tt := range []struct{ got, want string }{
			{dir(map[string]string{}), home}, {dir(map[string]string{"dir": "sub"}), home + "/sub"},
			{dir(map[string]string{"dir": "/srv/files/x"}), "/srv/files/x"},
			{result[map[string]string](t, h, "aria2.getGlobalOption")["dir"], home},
		} {
			if tt.got != tt.want {
				t.Errorf("%v: %s, want %s", given, tt.got, tt.want)
			}
		}
		result[string](t, h, "aria2.changeGlobalOption", map[string]string{"dir": "other"})
		if got := dir(map[string]string{}); got != home+"/other" {
			t.Errorf("%v: %s after the folder of all was changed", given, got)
		}
	}
}

// TestFirstServer_Rule70 checks that secrets are only for the server of the first URI. A mirror that is left over,
// moves to the front, or gets a download of its own with the placeholder, gets nothing.
func TestFirstServer_Rule70(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv/files"})
	const refused = "are only for the server of its first URI"
	origin, mirror := "http://h/x", "http://mirror.example/x"
	for _, options := range []map[string]string{{"header": "Cookie: HUSH"},
		{"http-user": "anna", "http-passwd": "HUSH"}, {"user": "anna:HUSH"}} {
		gid := result[string](t, h, "aria2.addUri", []string{origin, mirror}, options)
		for _, change := range [][]any{
			{[]string{origin}, []string{}}, {[]string{}, []string{mirror}, 0}, {[]string{origin}, []string{origin}},
			{[]string{origin, mirror}, []string{mirror}},
		} {
			if _, message := attempt[[]int](t, h, "aria2.changeUri",
				append([]any{gid, 1}, change...)...); !strings.Contains(message, refused) {
				t.Errorf("%v: %q", change, message)
			}
		}
		told := result[map[string]string](t, h, "aria2.getOption", gid)
		result[string](t, h, "aria2.addUri", []string{origin, mirror}, told)
		for _, uris := range [][]string{{mirror}, {mirror, origin}} {
			if _, message := attempt[string](t, h, "aria2.addUri", uris, told); !strings.Contains(message,
				"is for another server") {
				t.Errorf("%v: %q", uris, message)
			}
		}
		result[[]int](t, h, "aria2.changeUri", gid, 1, []string{mirror}, []string{})
	}
}

// TestUnreadable_Rule70 checks that a password is masked even if net/url cannot parse the URL.
func TestUnreadable_Rule70(t *testing.T) {
	for uri, want := range map[string]string{
		"http://a:HUSH@h/":       "http://a:secret-of-0000000000000000@h/",
		"http://a:HU%SH@h/x":     "http://secret-of-0000000000000000@h/x",
		"http://a:HUSH@h:port/x": "http://secret-of-0000000000000000@h:port/x",
		"http:/a:HUSH@h/":        "http:/secret-of-0000000000000000@h/",
		"http:a:HUSH@h/":         "http:secret-of-0000000000000000@h/",
		"a:HUSH@h":               "a:secret-of-0000000000000000@h",
		"HUSH@h":                 "secret-of-0000000000000000@h",
		"http://h/@x":            "http://h/@x",
		"http://h/x":             "http://h/x",
	} {
		if got := masked(uri, 0); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
}

// TestSizes checks that sizes are returned in bytes, however they were written, and that each returned global option
// can be set again.
func TestSizes(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv/files", Limit: func() int64 { return 12345 },
		Given: map[string]string{"max-concurrent-downloads": "0", "split": "5"}})
	for written, told := range map[string]string{"1M": "1048576", "1 MB": "1048576", "2k": "2048", "3 KiB": "3072",
		"7": "7", "0": "0"} {
		gid := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, map[string]string{"min-split-size": written,
			"max-download-limit": written})
		for name, got := range result[map[string]string](t, h, "aria2.getOption", gid) {
			if (name == "min-split-size" || name == "max-download-limit") && got != told {
				t.Errorf("%s: %s is %q, want %q", written, name, got, told)
			}
		}
	}
	all := result[map[string]string](t, h, "aria2.getGlobalOption")
	if all["max-overall-download-limit"] != "12345" || all["max-concurrent-downloads"] != "0" {
		t.Errorf("%q", all)
	}
	for name, value := range all {
		if _, message := attempt[string](t, h, "aria2.changeGlobalOption", map[string]string{name: value}); message != "" {
			t.Errorf("%s=%s: %s", name, value, message)
		}
	}
}
