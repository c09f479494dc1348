package objectstore

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"braid/download"
)

// TestPartsAreEnough checks that every file up to the largest object fits in 10,000 parts of the allowed size, whether
// its size is known or not.
func TestPartsAreEnough(t *testing.T) {
	t.Parallel()
	const most = 5 << 40
	for _, size := range []int64{0, 1, minPart, minPart + 1, 80_000 * mebi, 81_000 * mebi, most, -1} {
		end, parts := size, 0
		if size < 0 {
			end = most
		}
		for off := int64(0); off < end; parts++ {
			next := partEnd(off, size)
			if n := next - off; n < minPart || n > maxPart || n%mebi != 0 {
				t.Fatalf("size %d: a part of %d bytes at %d", size, n, off)
			}
			off = next
		}
		if parts > 10_000 {
			t.Errorf("size %d: %d parts", size, parts)
		}
	}
}

func TestSplit_Rule73(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][2]string{
		"s3://bucket": {"bucket", ""}, "s3://bucket/": {"bucket", ""}, "s3://bucket/a/b.iso": {"bucket", "a/b.iso"},
		"s3://bucket/a b/": {"bucket", "a b/"},
	} {
		bucket, key, err := split(word)
		if err != nil || bucket != want[0] || key != want[1] {
			t.Errorf("%s: %q, %q, %v", word, bucket, key, err)
		}
	}
	for _, word := range []string{"", "bucket", "s3:", "s3://", "s3:///x", "s3://b:9000/x", "s3://me:secret@b/x",
		"s3://b//x", "s3://b/../x", "s3://b/./x", "https://b/x"} {
		if _, _, err := split(word); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// TestParseProfile checks that parseProfile reads the configuration file like other clients.
func TestParseProfile(t *testing.T) {
	t.Parallel()
	const file = "# mine\n[default]\nregion = eu-1\n[profile other]\nregion=us-2\ns3 =\n  addressing_style = path\n  " +
		"endpoint_url = http://s3.example.net\nendpoint_url = http://x\n; end\n"
	got, err := parseProfile(strings.NewReader(file), "other")
	if err != nil || len(got) != 4 || got["region"] != "us-2" || got["s3.addressing_style"] != "path" ||
		got["s3.endpoint_url"] != "http://s3.example.net" || got["endpoint_url"] != "http://x" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseProfile(strings.NewReader(file), "none"); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// FuzzRecord checks that parseRecord does not panic, returns only parts with their own number, and returns no parts
// without an upload if the journal is cut off.
func FuzzRecord(f *testing.F) {
	const head = `{"v":1,"endpoint":"http://x","bucket":"b","key":"k","upload":"u","token":"t","url":"","began":"2026-01-01T00:00:00Z"}` + "\n"
	const part = `{"n":1,"start":0,"size":8,"sha256":"00","etag":"e","state":{}}` + "\n"
	f.Add([]byte(head + part))
	f.Add([]byte(head + part + `{"n":0,"start":0,"size":0}` + "\n"))
	f.Add([]byte(head + part + `{"n":-1,"evidence":{"a":1}}` + "\n" + part[:20]))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := parseRecord(data)
		for n, e := range r.parts {
			if n < 1 || e.Number != n {
				t.Errorf("part %d: %+v", n, e)
			}
		}
		if cut := parseRecord(data[:len(data)/2]); len(cut.parts) > 0 && cut.none() {
			t.Error("parts of no upload")
		}
	})
}

// TestFaultOfNoStore checks that a response that is not from an object store is reported as such, without its HTML and
// without the hint to try again.
func TestFaultOfNoStore(t *testing.T) {
	t.Parallel()
	s := &Store{endpoint: "http://127.0.0.1:1", bucket: "b"}
	for _, tt := range []struct {
		answer     minio.ErrorResponse
		kind       download.Kind
		text, hint string
	}{
		{minio.ErrorResponse{StatusCode: 501, Code: "501 Unsupported method ('PUT')", Message: "<!DOCTYPE HTML>"},
			download.Usage, "answers 501 Unsupported method ('PUT')", "is this an object store?"},
		{minio.ErrorResponse{StatusCode: 405, Code: "405 Not Allowed", Message: "<html>"}, download.Usage,
			"answers 405 Not Allowed", "is this an object store?"},
		{minio.ErrorResponse{StatusCode: 502, Code: "502 Bad Gateway", Message: "<html>"}, download.Network,
			"answers 502 Bad Gateway", string(hintAgain)},
		{minio.ErrorResponse{StatusCode: 501, Code: "NotImplemented", Message: "no such header."}, download.Refused,
			"answers 501 NotImplemented: no such header", "does not support"},
	} {
		e, ok := errors.AsType[*download.Error](s.fault(t.Context(), "k", tt.answer))
		if !ok || e.Kind != tt.kind || !strings.HasSuffix(e.Err.Error(), tt.text) || !strings.Contains(string(e.Hint), tt.hint) {
			t.Errorf("%s: %+v", tt.answer.Code, e)
		}
	}
}

// TestCondition_Rule71 checks that an object is made only if there is none, or if it replaces the very object that was
// there before.
func TestCondition_Rule71(t *testing.T) {
	t.Parallel()
	for match, want := range map[string][2]string{"": {"*", ""}, "abc": {"", `"abc"`}} {
		var o minio.PutObjectOptions
		condition{match}.options(&o)
		if h := o.Header(); h.Get("If-None-Match") != want[0] || h.Get("If-Match") != want[1] {
			t.Errorf("%q: %v", match, h)
		}
	}
	u := &upload{existing: &minio.ObjectInfo{ETag: "abc"}}
	if u.condition(true).match != "abc" || u.condition(false).match != "" || (&upload{}).condition(true).match != "" {
		t.Error("another object may be replaced than the one that was there")
	}
}

// TestNewerJournal_Rule8 checks that the journal of a newer braid is distinguished from a damaged one.
func TestNewerJournal_Rule8(t *testing.T) {
	for text, want := range map[string]bool{
		`{"v":2,"upload":"u"}` + "\n": true, `{"v":1,"upload":"u"}` + "\n": false, `{"v":2,"upload":"u"}`: false,
		"x\n": false, "": false,
	} {
		if got := isNewer([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestRecord_Rule72 checks that parts that a run intended to upload again do not count, except those that it did upload
// again.
func TestRecord_Rule72(t *testing.T) {
	t.Parallel()
	r := parseRecord([]byte(`{"v":1,"upload":"u"}
{"n":1,"size":8}
{"n":2,"size":8}
{"n":3,"size":8,"etag":"old"}
{"n":0,"start":1}
{"n":3,"size":8,"etag":"new"}
{"n":2,"si`))
	if len(r.parts) != 2 || r.parts[3].ETag != "new" || r.parts[1].Size != 8 {
		t.Errorf("%+v", r)
	}
}

// TestKeep_Rule72 checks that Keep replaces the state of the part that ends at its size, and that later parts no longer
// count.
func TestKeep_Rule72(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j, err := openFile(folder, "x.upload")
	if err != nil {
		t.Fatal(err)
	}
	u := newUpload(nil, "x")
	u.journal = j
	lines := []any{heading{Version: journalVersion, Upload: "u"}}
	for n := range 3 {
		u.parts[n+1] = entry{Number: n + 1, Start: int64(8 * n), Size: 8, State: json.RawMessage(`"then"`)}
		lines = append(lines, u.parts[n+1])
	}
	for _, line := range lines {
		if err := appendLine(j, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(u.Keep(16, []byte(`"now"`)), u.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "x.upload"))
	if r := parseRecord(text); err != nil || len(r.parts) != 2 || string(r.parts[1].State) != `"then"` ||
		string(r.parts[2].State) != `"now"` {
		t.Errorf("%v: %s", err, text)
	}
}
