package rpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"braid/byterange"
	"braid/daemon/queue"
)

// TestOneVisit checks that ten thousand downloads, each with a token of 64 digits, fit in one request and need one
// visit to the queue.
func TestOneVisit(t *testing.T) {
	e := newEngine()
	token := strings.Repeat("0123456789abcdef", 4)
	h := New(e, Options{Root: "/srv/files", Token: token})
	calls := make([]any, 10_000)
	for i := range calls {
		calls[i] = inner("aria2.addUri", "token:"+token,
			[]string{fmt.Sprintf("https://mirror.example.net/pub/releases/13.2/files/file%05d.tar.gz", i)},
			map[string]string{"dir": "/srv/files/sub", "out": fmt.Sprintf("file%05d.tar.gz", i)})
	}
	body := object("system.multicall", 1, calls)
	began := time.Now()
	w := say(h, body)
	t.Logf("%d bytes, added in %v", len(body), time.Since(began))
	if w.Code != 200 || e.visit != 1 {
		t.Fatalf("%d, %d visits: %.300s", w.Code, e.visit, w.Body)
	}
	if _, waiting, _ := e.q.Count(); waiting != len(calls) {
		t.Fatalf("%d wait", waiting)
	}
	began = time.Now()
	w = say(h, object("aria2.tellWaiting", 1, "token:"+token, 0, 1000))
	t.Logf("1,000 told in %v, %d bytes", time.Since(began), w.Body.Len())
}

// TestStoreFails checks that an answer does not confirm changes that may be lost.
func TestStoreFails(t *testing.T) {
	e := newEngine()
	e.err = errors.New("disk full")
	w := say(New(e, Options{Root: "/srv/files"}), object("aria2.addUri", 1, []string{"http://h/x"}))
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"code":-32603,"message":"The queue could not be stored: disk full"`) {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// TestShutdown checks that the daemon ends after it has answered.
func TestShutdown(t *testing.T) {
	for _, method := range []string{"aria2.shutdown", "aria2.forceShutdown"} {
		ended := make(chan bool, 1)
		_, url := start(t, newEngine(), Options{Shutdown: func() { ended <- true }})
		c := dial(t, url)
		c.send(object(method, 1))
		if got := shapeText(c.next()); !strings.Contains(got, "OK") {
			t.Errorf("%s: %s", method, got)
		}
		<-ended
	}
	if w := say(New(newEngine(), Options{Root: "/"}), object("aria2.shutdown", 1)); w.Code != 400 {
		t.Errorf("of a daemon that clients do not end: %s", w.Body)
	}
}

// TestAnswerFirst checks that a client gets the GID of a download before its notifications.
func TestAnswerFirst(t *testing.T) {
	e := newEngine()
	_, url := start(t, e, Options{})
	c := dial(t, url)
	for i := range 50 {
		c.send("[" + object("aria2.addUri", i, []string{"http://h/x"}) + "," + object("aria2.pauseAll", i) + "]")
		if answer, ok := c.next().([]any); !ok {
			t.Fatalf("%d: first comes %v", i, answer)
		}
		if notice := shapeText(c.next()); !strings.Contains(notice, "onDownloadPause") {
			t.Fatalf("%d: then comes %s", i, notice)
		}
	}
}

// TestSockets_Rule68 checks that each client gets all notifications, that a slow one is closed, and that the number of
// clients is limited.
func TestSockets_Rule68(t *testing.T) {
	e := newEngine()
	_, url := start(t, e, Options{})
	clients := []*client{dial(t, url), dial(t, url), dial(t, url)}
	for _, c := range clients { // the other side has subscribed too
		c.send(object("aria2.getSessionInfo", 1))
		c.next()
	}
	g := result[string](t, New(e, Options{Root: "/"}), "aria2.addUri", []string{"http://h/x"}, map[string]string{"pause": "true"})
	for range 3 {
		result[string](t, New(e, Options{Root: "/"}), "aria2.unpause", g)
		result[string](t, New(e, Options{Root: "/"}), "aria2.pause", g)
	}
	for i, c := range clients {
		for range 3 {
			want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"aria2.onDownloadPause","params":[{"gid":"%s"}]}`, g)
			if got, _ := json.Marshal(c.next()); string(got) != want {
				t.Errorf("client %d: %s, want %s", i, got, want)
			}
		}
	}
	e.mu.Lock()
	for sub := range e.subs { // like an engine with a slow client, or one that ends
		delete(e.subs, sub)
		close(sub)
	}
	e.mu.Unlock()
	for i, c := range clients {
		if _, _, err := c.conn.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "StatusGoingAway") {
			t.Errorf("client %d: %v", i, err)
		}
	}
}

// TestSlowSocket_Rule68 checks that a client that receives nothing is closed and delays no other.
func TestSlowSocket_Rule68(t *testing.T) {
	e := newEngine()
	h, url := start(t, e, Options{})
	h.patience = 50 * time.Millisecond
	dial(t, url) // never reads
	await(t, "it is open", func() bool { return e.listeners() == 1 })
	g := result[string](t, h, "aria2.addUri", []string{"http://h/x"}, map[string]string{"pause": "true"})
	calls := make([]any, 0, 2000)
	for range cap(calls) / 2 {
		calls = append(calls, inner("aria2.unpause", g), inner("aria2.pause", g))
	}
	await(t, "it is closed", func() bool {
		result[any](t, h, "system.multicall", calls)
		return e.listeners() == 0
	})
}

// TestSlowSender_Rule68 checks that a client that does not send the rest of its request is closed.
func TestSlowSender_Rule68(t *testing.T) {
	e := newEngine()
	h, url := start(t, e, Options{})
	h.patience = 50 * time.Millisecond
	c := dial(t, url)
	w, err := c.conn.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(bytes.Repeat([]byte(" "), 9000)) // more than the size of a frame; an error means that it is already closed
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, _, err := c.conn.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("it is open: %v", err)
	}
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/jsonrpc"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
	if answer, _ := io.ReadAll(conn); !bytes.HasPrefix(answer, []byte("HTTP/1.1 400 ")) {
		t.Errorf("%.100s", answer)
	}
	await(t, "nothing waits", func() bool { return h.held() == 0 && e.listeners() == 0 })
}

// TestStatus checks the status of an entry while it runs and after its end.
func TestStatus(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files"})
	gid := result[string](t, h, "aria2.addUri", []string{"http://h/x", "http://g/x"})
	g, _ := queue.ParseGID(gid)
	const mib = 1 << 20
	e.Do(context.Background(), func(q *queue.Queue) error {
		q.Start(time.Unix(1e9, 0))
		have := byterange.NewSet(byterange.Range{End: mib}, byterange.Range{Start: 2*mib - 1, End: 4 * mib},
			byterange.Range{Start: 9 * mib, End: 9*mib + 5})
		q.Progress(g, queue.Live{Path: "/srv/files/x", Done: have.Len(), Size: 9*mib + 5, Speed: 7, Connections: 2, Have: have,
			Sources: []queue.Source{{URL: "http://g/x", Host: "g", Working: true, Speed: 7}, {URL: "http://h/x", State: "gone"}}})
		return nil
	})
	status := result[map[string]any](t, h, "aria2.tellStatus", gid)
	for key, want := range map[string]string{
		"status": "active", "totalLength": "9437189", "completedLength": "3145734", "downloadSpeed": "7", "connections": "2",
		"pieceLength": "1048576", "numPieces": "10", "bitfield": "b040", "dir": "/srv/files",
	} {
		if status[key] != want {
			t.Errorf("%s is %v, want %s", key, status[key], want)
		}
	}
	servers, _ := json.Marshal(result[any](t, h, "aria2.getServers", gid))
	if want := `[{"index":"1","servers":[{"currentUri":"http://g/x","downloadSpeed":"7","uri":"http://g/x"}]}]`; string(servers) != want {
		t.Errorf("servers are %s, want %s", servers, want)
	}
	own := result[map[string]map[string]any](t, h, "aria2.tellStatus", gid, []string{"braid"})["braid"]
	if sources, _ := own["sources"].([]any); len(sources) != 2 || own["attempts"] != 1.0 {
		t.Errorf("what only braid knows: %v", own)
	}
	if got := result[map[string]string](t, h, "aria2.getGlobalStat"); got["downloadSpeed"] != "7" || got["numActive"] != "1" {
		t.Errorf("all downloads: %v", got)
	}

	e.Do(context.Background(), func(q *queue.Queue) error {
		q.Ended(time.Unix(1e9, 0), g, queue.Outcome{Kind: "network", Code: 6, Message: "no source left", Hint: "add a mirror"})
		_, err := q.Add(time.Unix(1e9, 0), queue.Entry{URIs: []string{"http://h/y"}, Following: g}, -1)
		return err
	})
	status = result[map[string]any](t, h, "aria2.tellStatus", gid[:10], []string{"status", "errorCode", "errorMessage",
		"followedBy", "bitfield"})
	next := result[[]map[string]any](t, h, "aria2.tellWaiting", 0, 1, []string{"gid", "following"})[0]
	if next["following"] != gid || fmt.Sprint(status["followedBy"]) != fmt.Sprintf("[%s]", next["gid"]) {
		t.Errorf("%v is followed by %v", status, next)
	}
	if status["errorCode"] != "6" || status["errorMessage"] != "no source left; add a mirror" ||
		status["status"] != "error" || status["bitfield"] != "e000" {
		t.Errorf("at the end: %v", status)
	}
}

// TestBitfield checks that a bit is set only for a complete piece, for files of any size.
func TestBitfield(t *testing.T) {
	for _, tt := range []struct {
		size, done int64
		pieces     int64
		want       string
	}{
		{1, 1, 1, "80"}, {1, 0, 1, "00"}, {1 << 20, 1 << 20, 1, "80"}, {1<<20 + 1, 1 << 20, 2, "80"},
		{1<<20 + 1, 1<<20 + 1, 2, "c0"},
		{9 << 20, 9 << 20, 9, "ff80"}, {0, 0, 0, ""}, {-1, 5, 0, ""},
	} {
		w := view{Entry: queue.Entry{Size: tt.size, Done: tt.done}}
		if got := w.bitfield(); got != tt.want || w.pieces() != tt.pieces {
			t.Errorf("%d of %d: %d pieces, %s, want %d, %s", tt.done, tt.size, w.pieces(), got, tt.pieces, tt.want)
		}
	}
	for size := int64(1 << 30); size > 0 && size < 1<<50; size *= 3 {
		w := view{Entry: queue.Entry{Size: size}}
		if w.pieces() > mostPieces || w.pieces() <= mostPieces/2 && w.pieceLength() > 1<<20 {
			t.Errorf("%d bytes have %d pieces of %d", size, w.pieces(), w.pieceLength())
		}
	}
}

// TestMetalinkFiles checks that each file of a document becomes an entry with a document about that file alone.
func TestMetalinkFiles(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files"})
	const text = `<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">
<file name="a"><size>5</size><url>http://h/a</url></file><file name="sub/b"><size>6</size><url>http://h/b</url></file></metalink>`
	gids := result[[]string](t, h, "aria2.addMetalink", base64.StdEncoding.EncodeToString([]byte(text)),
		map[string]string{"gid": "00000000000000aa", "out": "one", "dir": "x"}, 0)
	if len(gids) != 2 || gids[0] != "00000000000000aa" {
		t.Fatalf("GIDs are %q", gids)
	}
	for i, want := range []string{"/srv/files/x/a http://h/a", "/srv/files/x/sub/b http://h/b"} {
		g, _ := queue.ParseGID(gids[i])
		entry, _ := e.q.Entry(g)
		f := result[[]file](t, h, "aria2.getFiles", gids[i])[0]
		if got := f.Path + " " + f.URIs[0].URI; got != want || bytes.Count(entry.Document, []byte("<file")) != 1 ||
			entry.Options["out"] != "" {
			t.Errorf("file %d: %s, want %s, options %v:\n%s", i, got, want, entry.Options, entry.Document)
		}
	}
	if order := e.q.Waiting(0, 9); order[0].GID.String() != gids[0] || order[1].GID.String() != gids[1] {
		t.Error("their order is another one")
	}
	if _, message := attempt[[]string](t, h, "aria2.addMetalink",
		base64.StdEncoding.EncodeToString([]byte("hello"))); message == "" {
		t.Error("text was taken for a document")
	}
}

// TestDocuments checks that cached documents are not mixed up and that the cache is limited.
func TestDocuments(t *testing.T) {
	h := New(newEngine(), Options{Root: "/srv/files"})
	hash := func(link string, gid ...any) string {
		if len(gid) > 0 {
			result[[]int](t, h, "aria2.changeUri",
				append(gid, 1, []string{"magnet:?xt=urn:btih:" + strings.Repeat("0", 40)}, []string{link})...)
		} else {
			gid = []any{result[string](t, h, "aria2.addUri", []string{link}, map[string]string{"pause": "true"})}
		}
		is, _ := result[map[string]any](t, h, "aria2.tellStatus", gid[0], []string{"infoHash"})["infoHash"].(string)
		return is
	}
	if got := hash("magnet:?xt=urn:btih:" + strings.Repeat("0", 40)); got != strings.Repeat("0", 40) {
		t.Errorf("the hash is %q", got)
	}
	gid := result[[]map[string]any](t, h, "aria2.tellWaiting", 0, 1)[0]["gid"]
	if got := hash("magnet:?xt=urn:btih:"+strings.Repeat("a", 40), gid); got != strings.Repeat("a", 40) {
		t.Errorf("of another link the hash is %q", got)
	}
	if got := hash("http://h/x"); got != "" {
		t.Errorf("of no torrent the hash is %q", got)
	}
	d := &documents{files: mostFiles - 100, known: map[document]*about{}}
	for i := range 500 {
		d.about(&queue.Entry{GID: queue.GID(i), URIs: []string{"magnet:?xt=urn:btih:" + strings.Repeat("0", 40)}})
	}
	if len(d.known) != 400 {
		t.Errorf("%d are remembered", len(d.known))
	}
}

// TestFileOfTorrent checks that an entry for one file of a torrent has the torrent's name and hash, and only that file.
func TestFileOfTorrent(t *testing.T) {
	e := newEngine()
	h := New(e, Options{Root: "/srv/files"})
	parent := result[string](t, h, "aria2.addTorrent", base64.StdEncoding.EncodeToString([]byte(torrent)), []string{},
		map[string]string{"dir": "x"})
	g, _ := queue.ParseGID(parent)
	var child queue.GID
	e.Do(context.Background(), func(q *queue.Queue) (err error) {
		child, err = q.Add(time.Unix(1e9, 0), queue.Entry{Following: g,
			Options: map[string]string{"select-file": "2", "dir": "/srv/files/x"}}, -1)
		return err
	})
	status := result[struct {
		Files     []file
		InfoHash  string
		Following string
	}](t, h, "aria2.tellStatus", child.String())
	want := file{"0", "1", "10", "/srv/files/x/dir/b/c", "true", []place{}}
	if fmt.Sprint(status.Files) != fmt.Sprint([]file{want}) || status.InfoHash == "" || status.Following != parent {
		t.Errorf("%+v", status)
	}
	if got := result[[]file](t, h, "aria2.getFiles", parent); len(got) != 2 {
		t.Errorf("the torrent has %v", got)
	}
}

// TestSignature checks that a signature must be in base64 and for a single file.
func TestSignature(t *testing.T) {
	const two = `<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a"><url>http://h/a</url></file><file name="b"><url>http://h/b</url></file></metalink>`
	one := strings.Replace(two, `<file name="b"><url>http://h/b</url></file>`, "", 1)
	h, signed := New(newEngine(), Options{Root: "/"}), map[string]string{"signature": "iQ=="}
	for _, tt := range []struct {
		method  string
		first   any
		options map[string]string
		want    string
	}{
		{"aria2.addUri", []string{"http://h/x"}, signed, `"result":"`},
		{"aria2.addUri", []string{"http://h/x"}, map[string]string{"signature": "-----BEGIN"}, "the option '--signature'"},
		{"aria2.addMetalink", base64.StdEncoding.EncodeToString([]byte(one)), signed, `"result":["`},
		{"aria2.addMetalink", base64.StdEncoding.EncodeToString([]byte(two)), signed,
			"of one file, but the document has several"},
	} {
		if w := say(h, object(tt.method, 1, tt.first, tt.options)); !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %v: %s, want %s", tt.method, tt.options, w.Body, tt.want)
		}
	}
}
