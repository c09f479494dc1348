package rpc

import (
	"errors"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
)

// TestSession_Rule69 checks that the incomplete downloads are listed, that clients can name files only in the root, and
// that they get the error of a failed write.
func TestSession_Rule69(t *testing.T) {
	e := newEngine()
	files := map[string]string{}
	h := New(e, Options{Root: "/srv/files", SaveSession: func(file string, text []byte) error {
		if strings.HasSuffix(file, "full") {
			return errors.New("the disk is full")
		}
		files[file] = string(text)
		return nil
	}})
	result[string](t, h, "aria2.saveSession")
	if len(files) != 0 {
		t.Errorf("without a name %q was written", files)
	}
	result[string](t, h, "aria2.addUri", []string{"http://h/x", "http://i/x"}, map[string]string{
		"gid": "00000000000000aa", "pause": "true", "header": "Accept: a\nReferer: b", "save-session": "own",
	})
	result[string](t, h, "aria2.addUri", []string{"http://h/gone"}, map[string]string{"gid": "00000000000000bb", "pause": "true"})
	result[string](t, h, "aria2.remove", "00000000000000bb")
	if err := e.Do(t.Context(), func(q *queue.Queue) error {
		_, err := q.Add(time.Now(), queue.Entry{URIs: []string{"http://h/watched"}, Watch: "w"}, -1)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	result[string](t, h, "aria2.changeGlobalOption", map[string]string{"save-session": "sub/rest"})
	result[string](t, h, "aria2.saveSession")
	const want = SessionMark + "http://h/x\thttp://i/x\t\n gid=00000000000000aa\n pause=true\n header=Accept: a\n " +
		"header=Referer: b\n"
	if files["/srv/files/sub/rest"] != want {
		t.Errorf("written: %q", files)
	}
	if got := result[map[string]string](t, h, "aria2.getGlobalOption")["save-session"]; got != "/srv/files/sub/rest" {
		t.Errorf("the option is told as %q", got)
	}
	for _, file := range []string{"/etc/cron.d/x", "../x", ".", "a\x00b"} {
		if _, message := attempt[string](t, h, "aria2.changeGlobalOption",
			map[string]string{"save-session": file}); !strings.Contains(message, "is outside /srv/files") {
			t.Errorf("%q: %q", file, message)
		}
	}
	result[string](t, h, "aria2.addUri", []string{"http://me:secret@h/y"}, map[string]string{
		"gid": "00000000000000cc", "pause": "true", "header": "Cookie: secret", "http-user": "me", "http-passwd": "secret",
	})
	result[string](t, h, "aria2.saveSession")
	const told = "http://me:secret-of-00000000000000cc@h/y\t\n gid=00000000000000cc\n pause=true\n http-user=me\n" +
		" header=Cookie: secret-of-00000000000000cc\n http-passwd=secret-of-00000000000000cc\n"
	if files["/srv/files/sub/rest"] != want+told {
		t.Errorf("written with secrets: %q", files)
	}
	h.Given = map[string]string{sessionOption: "/own"}
	result[string](t, h, "aria2.changeGlobalOption", map[string]string{"save-session": "/own"})
	result[string](t, h, "aria2.saveSession")
	if own := files["/own"]; own != want+strings.ReplaceAll(told, "secret-of-00000000000000cc", "secret") {
		t.Errorf("the user's own file has %q", own)
	}
	result[string](t, h, "aria2.changeGlobalOption", map[string]string{"save-session": "full"})
	if _, message := attempt[string](t, h, "aria2.saveSession"); !strings.Contains(message, "the disk is full") {
		t.Errorf("a session that is not written: %q", message)
	}
}
