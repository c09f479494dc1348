package rpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"braid/daemon/queue"
)

// A session is a server to which the script is played. The shapes of its answers are recorded.
type session struct {
	t     *testing.T
	rpc   string // URL of the interface
	files string // URL of a file server
	reach func(gid string, status queue.Status)
	// settle waits until running downloads have ended, so that they cause no later notification. It is nil if none run.
	settle func()
	told   []frame
}

// A frame is the response to a request: its HTTP status and type, and the shape of the body.
type frame struct{ name, text string }

// request sends a request and returns the answer.
func (s *session) request(name, method, query, body string, header ...string) map[string]any {
	s.t.Helper()
	r, err := http.NewRequest(method, s.rpc+query, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header["User-Agent"] = nil
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	text := fmt.Sprintf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	if allowed := resp.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
		text += " allowed"
	}
	var v any
	if len(data) > 0 {
		if err := json.Unmarshal(data, &v); err != nil {
			text += "\n" + string(data)
		} else {
			text += "\n" + shapeText(v)
		}
	}
	s.told = append(s.told, frame{name, text})
	object, _ := v.(map[string]any)
	return object
}

// raw posts a body unchanged.
func (s *session) raw(name, body string, header ...string) map[string]any {
	s.t.Helper()
	return s.request(name, http.MethodPost, "", body, header...)
}

// call calls a method with the token and returns its result.
func (s *session) call(method string, params ...any) any {
	s.t.Helper()
	name := method
	if len(params) > 0 {
		text, _ := json.Marshal(params)
		name += " " + string(text)
	}
	return s.named(normal(strings.ReplaceAll(name, s.files, "SERVER")), method, append([]any{"token:" + secret}, params...)...)
}

// named calls a method with these parameters alone.
func (s *session) named(name, method string, params ...any) any {
	s.t.Helper()
	return s.raw(name, object(method, "x", params...))["result"]
}

func object(method string, id any, params ...any) string {
	if params == nil {
		params = []any{}
	}
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return string(text)
}

// with returns params preceded by the token.
func with(params ...any) []any { return append([]any{"token:" + secret}, params...) }

func inner(method string, params ...any) map[string]any {
	return map[string]any{"methodName": method, "params": append([]any{}, params...)}
}

var (
	someGID  = regexp.MustCompile(`\b[0-9a-f]{16}\b`)
	someHash = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	someNum  = regexp.MustCompile(`^[0-9]+$`)
)

// normal replaces the parts that differ between runs.
func normal(s string) string {
	return someGID.ReplaceAllString(someHash.ReplaceAllString(s, "HASH"), "GID")
}

// shapeText returns the shape of a value: the types of its parts, and errors word by word.
func shapeText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(shape("", v))
	return strings.TrimSpace(b.String())
}

// openKeys identifies objects with options. The set of options may differ between programs.
const openKeys = "allow-overwrite"

func shape(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v[openKeys]; ok {
			return optionShape(v)
		}
		shapes := map[string]any{}
		for k, one := range v {
			shapes[k] = shape(k, one)
		}
		if _, ok := v["uri"]; ok && v["status"] != nil { // the sources in use at a moment are random
			shapes["status"] = "<used or waiting>"
		}
		return shapes
	case []any:
		return listShape(key, v)
	case string:
		switch {
		case key == "bitfield":
			return "<bits>"
		case key == "message" || key == "method" || key == "jsonrpc" || key == "id" || key == "status" || key == "errorCode":
			return normal(v)
		case v == "true" || v == "false":
			return "<bool>"
		case someGID.MatchString(v) && len(v) == 16:
			return "<gid>"
		case someNum.MatchString(v):
			return "<digits>"
		case v == "OK":
			return v
		}
		return "<text>"
	case float64:
		if key != "code" && key != "id" {
			return 0
		}
	}
	return v
}

// listShape returns the shapes in a list, without repetitions of the same shape.
func listShape(key string, list []any) any {
	shapes := []any{}
	var seen []string
	for _, one := range list {
		if name, ok := one.(string); ok && strings.HasPrefix(name, "aria2.") {
			seen = append(seen, name)
			continue
		}
		is := shape(key, one)
		if text := fmt.Sprint(is); !slices.Contains(seen, text) {
			seen = append(seen, text)
			shapes = append(shapes, is)
		}
	}
	if len(shapes) == 0 && len(seen) > 0 {
		slices.Sort(seen)
		return strings.Join(seen, " ")
	}
	return shapes
}

// optionShape returns the options that clients rely on.
func optionShape(options map[string]any) any {
	shapes := map[string]any{}
	for name, value := range options {
		if _, ok := value.(string); !ok {
			return fmt.Sprintf("%s is %v", name, value)
		}
		if name == "dir" || name == "header" || name == "out" || name == "max-concurrent-downloads" {
			shapes[name] = "<text>"
		}
	}
	return shapes
}

// play plays the script: each method, each error, each form of a request.
func play(s *session) {
	s.frames()
	s.transports()
	first := s.stopped()
	s.adding()
	s.waiting()
	if s.settle != nil {
		s.settle()
	}
	s.active()
	s.lists(first)
	s.globals()
	s.multicalls()
	s.documents()
	s.socket()
	s.call("aria2.forcePauseAll")
	s.call("aria2.shutdown")
}

// frames plays the valid and invalid forms of a request.
func (s *session) frames() {
	ask := func(members string) { s.raw(members, "{"+members+"}") }
	for _, body := range []string{``, `{bad`, `{}`, `[]`, `"text"`, `7`,
		`[{"id":1,"method":"system.listNotifications"},3]`, `{"jsonrpc":"2.0","id":7} x`} {
		s.raw("body "+body, body)
	}
	ask(`"jsonrpc":"2.0","method":"system.listNotifications"`)
	for _, id := range []string{`null`, `7`, `-1`, `"seven"`, `""`, `true`, `[1]`, `{}`, `7.5`,
		`123456789012345678901234567890`} {
		ask(`"jsonrpc":"2.0","id":` + id + `,"method":"system.listNotifications"`)
	}
	ask(`"id":7,"method":"system.listNotifications"`)
	ask(`"json-rpc":"2.0","id":7,"method":"system.listNotifications"`)
	ask(`"jsonrpc":"1.0","id":7,"method":"system.listNotifications"`)
	ask(`"jsonrpc":"2.0","id":7`)
	ask(`"jsonrpc":"2.0","id":7,"method":7`)
	for _, params := range []string{`{}`, `"x"`, `null`, `7`, `[]`} {
		ask(`"jsonrpc":"2.0","id":7,"method":"system.listNotifications","params":` + params)
	}
	s.raw("batch", "["+object("aria2.getSessionInfo", 1, with()...)+","+object("aria2.nope", 2, with()...)+","+
		object("aria2.tellStatus", 3, with("0123456789abcdef")...)+"]") // a shorter one is the prefix of another
	same := object("aria2.getSessionInfo", "same", with()...)
	s.raw("batch of one id", "["+same+","+same+"]")
}

// transports plays the transports of a request, and the access checks.
func (s *session) transports() {
	whole := object("aria2.getSessionInfo", "x", with()...)
	s.raw("no content type", whole)
	s.raw("form", whole, "Content-Type", "application/x-www-form-urlencoded")
	s.raw("plain", whole, "Content-Type", "text/plain;charset=UTF-8")
	s.raw("json", whole, "Content-Type", "application/json", "Accept", "application/json, text/plain, */*")
	s.raw("own origin", whole, "Origin", strings.TrimSuffix(s.rpc, "/jsonrpc"))
	s.raw("other origin", whole, "Origin", "http://page.example")
	s.request("OPTIONS", http.MethodOptions, "", "")
	s.request("preflight", http.MethodOptions, "", "", "Origin", "http://page.example", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type")
	s.request("PUT", http.MethodPut, "", whole)

	get := func(query string) { s.request("GET "+query, http.MethodGet, "?"+query, "") }
	params := url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(`["token:` + secret + `"]`)))
	get("")
	get("method=aria2.getSessionInfo&id=foo&params=" + params)
	get("method=aria2.getSessionInfo&params=" + params)
	get("method=system.listNotifications&id=foo")
	get("method=system.listNotifications&id=foo&params=%25%25")
	get("method=system.listNotifications&id=foo&params=" + base64.StdEncoding.EncodeToString([]byte("{bad")))
	get("params=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("["+whole+"]"))))

	s.named("no token", "aria2.getVersion")
	s.named("wrong token", "aria2.getVersion", "token:wrong")
	s.named("no token, no method", "aria2.nope")
	s.call("aria2.nope")
	s.call("system.nope")
	s.named("methods", "system.listMethods")
	s.call("system.listMethods")
	s.call("aria2.getVersion")
	s.call("aria2.getSessionInfo")
}

// stopped plays the calls for a complete download.
func (s *session) stopped() string {
	g, _ := s.call("aria2.addUri", []string{s.files + "/fast.bin"}).(string)
	s.reach(g, queue.Complete)
	s.call("aria2.tellStatus", g)
	s.call("aria2.tellStatus", g, []string{})
	s.call("aria2.tellStatus", g, []string{"gid", "status", "nope", "errorCode"})
	s.call("aria2.tellStatus", g, []any{1, "gid"})
	s.call("aria2.tellStatus", g, "gid")
	s.named("a prefix", "aria2.tellStatus", with(g[:8], []string{"gid"})...)
	for _, wrong := range []any{"0123456789abcdef", "zz", "", "0123456789abcdef0", 5} {
		s.call("aria2.tellStatus", wrong)
	}
	for _, method := range []string{"tellStatus", "getFiles", "getUris", "getServers", "getPeers", "getOption", "pause",
		"unpause", "remove",
		"forcePause", "forceRemove"} {
		s.call("aria2." + method)
		if method != "tellStatus" {
			s.call("aria2."+method, g)
		}
	}
	s.call("aria2.changeOption", g, map[string]string{"split": "2"})
	s.call("aria2.changePosition", g, 0, "POS_SET")
	s.call("aria2.changeUri", g, 1, []string{}, []string{s.files + "/x"})
	return g
}

// adding plays the errors of adding a download.
func (s *session) adding() {
	uri := []string{s.files + "/404"}
	s.call("aria2.addUri")
	for _, uris := range []any{[]string{}, s.files + "/fast.bin", []int{1, 2}, []string{"hello"}} {
		s.call("aria2.addUri", uris)
	}
	for _, options := range []any{
		"x", map[string]any{"split": "abc"}, map[string]any{"split": "0"}, map[string]any{"split": 3},
		map[string]any{"nonsense": "1"},
		map[string]any{"continue": true}, map[string]any{"checksum": "foo=00"}, map[string]any{"max-download-limit": "fast"},
		map[string]any{"allow-overwrite": "maybe"}, map[string]any{"rpc-secret": "other"},
		map[string]any{"check-certificate": "false"},
		map[string]any{"out": "../../../etc/passwd"},
	} {
		s.call("aria2.addUri", uri, options)
	}
	for _, position := range []any{-1, "1", 999} {
		s.call("aria2.addUri", uri, map[string]string{"pause": "true"}, position)
	}
	own := map[string]string{"gid": "00000000000000aa", "pause": "true"}
	s.named("own GID", "aria2.addUri", with(uri, own)...)
	s.named("own GID twice", "aria2.addUri", with(uri, own)...)
	for _, gid := range []string{"zz", "0000000000000000", "bb"} {
		s.call("aria2.addUri", uri, map[string]string{"gid": gid, "pause": "true"})
	}
}

// waiting plays the calls for a paused download.
func (s *session) waiting() {
	const g = "00000000000000aa"
	for _, method := range []string{"tellStatus", "getUris", "getFiles", "getServers", "getPeers", "pause"} {
		s.call("aria2."+method, g)
	}
	for _, options := range []any{
		map[string]any{"out": "new.bin", "header": []string{"A: b", "C: d"}}, map[string]string{"split": "zz"},
		map[string]string{},
		map[string]string{"nonsense": "x"}, "x",
	} {
		s.call("aria2.changeOption", g, options)
	}
	s.named("changeOption without options", "aria2.changeOption", with(g)...)
	s.call("aria2.getOption", g)
	for _, to := range [][]any{{0, "POS_SET"}, {5, "POS_END"}, {-1, "POS_CUR"}, {5, "POS_X"}, {"5", "POS_SET"}, {5}} {
		s.call("aria2.changePosition", append([]any{g}, to...)...)
	}
	s.call("aria2.removeDownloadResult", g)
}
