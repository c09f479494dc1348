package rpc

import (
	"encoding/hex"
	"path/filepath"
	"strconv"

	"braid/byterange"
	"braid/daemon/queue"
)

// A view is an entry with the state of its download and the content of its document. Answers to clients are made from it.
type view struct {
	queue.Entry
	live  *queue.Live // nil if no download of the entry is running
	about *about
	dir   string
	only  int    // number of the entry's file in the document; 0 for all files
	waits string // what the entry is waiting for
}

// view returns the view of e and subtracts its size from v.room.
func (v *visit) view(e queue.Entry) view {
	if v.why == nil {
		v.why = v.queue.Why()
	}
	w := view{Entry: e, dir: v.settings.folderOf(&e), waits: v.why(e.GID)}
	described := e
	// The entry is for one file in its parent's document.
	if parent, ok := v.queue.Entry(e.Following); ok && len(e.URIs) == 0 && len(e.Document) == 0 {
		described = parent
		w.only, _ = strconv.Atoi(e.Options["select-file"])
	}
	w.about = v.handler.documents.about(&described)
	long := len(w.about.files) + len(w.about.uris) // each takes some hundred bytes
	if live, ok := v.queue.Live(e.GID); ok && e.Status == queue.Active {
		w.live = &live
		long += 3*len(live.Sources) + 20 // 20 for the bitfield
	}
	for _, uri := range e.URIs {
		long += len(uri) / 100 // the answer lists each URI twice
	}
	v.room -= 1 + long/10
	return w
}

// tell returns the values for keys of each entry. They are computed after the visit to the queue.
func (v *visit) tell(entries []queue.Entry, keys []string) (any, error) {
	views := make([]view, len(entries))
	for i, e := range entries {
		if views[i] = v.view(e); v.room < 0 {
			return nil, errTooLarge
		}
	}
	return later(func() any {
		list := make([]map[string]any, len(views))
		for i := range views {
			list[i] = views[i].status(keys)
		}
		return list
	}), nil
}

func (v *visit) tellStatus(p *params) (any, error) {
	g, keys := p.gid(v.queue, 0), p.strings(1, false)
	if p.err != nil {
		return nil, p.err
	}
	e, _ := v.queue.Entry(g)
	w := v.view(e)
	return later(func() any { return w.status(keys) }), nil
}

func (v *visit) tellActive(p *params) (any, error) {
	keys := p.strings(0, false)
	return v.tell(v.queue.Active(), keys)
}

func (v *visit) tellWaiting(p *params) (any, error) {
	_, waiting, _ := v.queue.Count()
	return v.page(p, v.queue.Waiting, waiting)
}

func (v *visit) tellStopped(p *params) (any, error) {
	_, _, stopped := v.queue.Count()
	return v.page(p, v.queue.Stopped, stopped)
}

// page returns the part of a list that the parameters select. The list has count entries. The size of the answer is
// checked before entries are copied.
func (v *visit) page(p *params, list func(offset, n int) []queue.Entry, count int) (any, error) {
	offset, n, keys := p.integer(0), p.atLeast(1, 0), p.strings(2, false)
	if p.err != nil {
		return nil, p.err
	}
	reach := count - offset
	if offset < 0 {
		reach = count + offset + 1
	}
	if min(n, reach) > v.room {
		return nil, errTooLarge
	}
	return v.tell(list(offset, n), keys)
}

// keys maps each key of an entry's status to the function for its value. ok is false if the entry has no such value.
var keys = map[string]func(w *view) (value any, ok bool){
	"gid":             func(w *view) (any, bool) { return w.GID.String(), true },
	"status":          func(w *view) (any, bool) { return w.Status.String(), true },
	"totalLength":     func(w *view) (any, bool) { return digits(max(0, w.size())), true },
	"completedLength": func(w *view) (any, bool) { return digits(w.done()), true },
	"uploadLength":    func(w *view) (any, bool) { return digits(w.now().Given), true },
	"downloadSpeed":   func(w *view) (any, bool) { return digits(w.now().Speed), true },
	"uploadSpeed":     func(*view) (any, bool) { return "0", true },
	"connections":     func(w *view) (any, bool) { return digits(int64(w.now().Connections)), true },
	"pieceLength":     func(w *view) (any, bool) { return digits(w.pieceLength()), true },
	"numPieces":       func(w *view) (any, bool) { return digits(w.pieces()), true },
	"bitfield":        func(w *view) (any, bool) { return w.bitfield(), w.pieces() > 0 && !w.Began.IsZero() },
	"dir":             func(w *view) (any, bool) { return w.dir, true },
	"files":           func(w *view) (any, bool) { return w.files(), true },
	"errorCode":       func(w *view) (any, bool) { return strconv.Itoa(w.code()), w.stopped() },
	"errorMessage":    func(w *view) (any, bool) { return w.message(), w.stopped() },
	"followedBy":      func(w *view) (any, bool) { return w.followers(), len(w.FollowedBy) > 0 },
	"following":       func(w *view) (any, bool) { return w.Following.String(), w.Following != 0 },
	"infoHash":        func(w *view) (any, bool) { return w.about.hash, w.about.hash != "" },
	"bittorrent":      func(w *view) (any, bool) { return w.about.bittorrent, w.about.hash != "" },
	"numSeeders":      func(w *view) (any, bool) { return "0", w.about.hash != "" },
	"seeder":          func(w *view) (any, bool) { return strconv.FormatBool(w.now().Seeding), w.about.hash != "" },
}

// status returns the values for the keys in asked or, if it is empty, for all of aria2's keys. "braid" must be in asked.
func (w *view) status(asked []string) map[string]any {
	object := make(map[string]any, 20)
	for _, key := range asked {
		if key == "braid" {
			object[key] = w.braid()
		} else if make := keys[key]; make != nil {
			if value, ok := make(w); ok {
				object[key] = value
			}
		}
	}
	if len(asked) > 0 {
		return object
	}
	for key, make := range keys {
		if value, ok := make(w); ok {
			object[key] = value
		}
	}
	return object
}

// braid returns the values that aria2 has no keys for.
func (w *view) braid() map[string]any {
	sources := []any{}
	for _, s := range w.now().Sources {
		sources = append(sources, map[string]any{"url": s.URL, "host": s.Host, "state": s.State, "working": s.Working,
			"speed": s.Speed, "bytes": s.Bytes})
	}
	return map[string]any{
		"verified": w.Outcome.Verified, "kind": w.Outcome.Kind, "message": w.Outcome.Message, "hint": w.Outcome.Hint,
		"waits": w.waits, "watch": w.Watch, "worker": w.now().Worker, "attempts": w.Outcome.Attempts,
		"added": w.Added, "began": w.Began, "ended": w.Ended, "priority": w.Priority, "sources": sources,
	}
}

// code returns aria2's error code for the outcome of the entry.
func (w *view) code() int {
	if w.Outcome.Code == 0 && w.Outcome.Kind != "" {
		return 1
	}
	return w.Outcome.Code
}

// message returns why the entry failed, and what the user can do next.
func (w *view) message() string {
	if w.Outcome.Message == "" || w.Outcome.Hint == "" {
		return w.Outcome.Message
	}
	return w.Outcome.Message + "; " + w.Outcome.Hint
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

func (w *view) stopped() bool { return w.Status >= queue.Complete }

func (w *view) now() *queue.Live {
	if w.live == nil {
		return &queue.Live{}
	}
	return w.live
}

// size returns the total size of the entry's files, or -1 if it is unknown.
func (w *view) size() int64 {
	if w.live != nil {
		return w.live.Size
	}
	return w.Size
}

func (w *view) done() int64 {
	if w.live != nil {
		return w.live.Done
	}
	return w.Done
}

// mostPieces limits the number of bits in a bitfield.
const mostPieces = 10_240

// pieceLength returns 1 MiB, doubled until the file has at most mostPieces pieces. These pieces are only for clients.
func (w *view) pieceLength() int64 {
	length := int64(1 << 20)
	for (w.size()-1)/mostPieces >= length { // cannot overflow: length stays below size
		length *= 2
	}
	return length
}

func (w *view) pieces() int64 {
	if w.size() <= 0 {
		return 0
	}
	return (w.size()-1)/w.pieceLength() + 1
}

// bitfield returns one bit per piece, in hexadecimal digits. The first piece has the highest bit. A bit is set if the
// whole piece is on disk. If the ranges on disk are unknown, all bytes on disk count as the beginning of the file.
func (w *view) bitfield() string {
	length, pieces := w.pieceLength(), w.pieces()
	have := w.now().Have
	if w.live == nil || have.Count() == 0 {
		have = byterange.NewSet(byterange.Range{End: w.done()})
	}
	bits := make([]byte, (pieces+7)/8)
	for r := range have.All() {
		last := r.End / length
		if r.End >= w.size() {
			last = pieces
		}
		for i := (r.Start + length - 1) / length; i < last; i++ {
			bits[i/8] |= 0x80 >> (i % 8)
		}
	}
	return hex.EncodeToString(bits)
}

func (w *view) followers() (list []string) {
	for _, g := range w.FollowedBy {
		list = append(list, g.String())
	}
	return list
}

// A file is one file of a download. A place is a URI of the file.
type (
	file struct {
		Completed string  `json:"completedLength"`
		Index     string  `json:"index"`
		Length    string  `json:"length"`
		Path      string  `json:"path"`
		Selected  string  `json:"selected"`
		URIs      []place `json:"uris"`
	}
	place struct {
		Status string `json:"status"`
		URI    string `json:"uri"`
	}
)

// files returns the files of the download. Only torrents have several.
func (w *view) files() []file {
	if w.about.hash != "" && len(w.about.files) > 0 {
		return w.torrentFiles()
	}
	length, path := w.size(), w.Path
	if length < 0 && len(w.about.files) > 0 {
		length = w.about.files[0].size
	}
	if w.live != nil && w.live.Path != "" {
		path = w.live.Path
	}
	if w.about.hash != "" && path == "" {
		path = "[METADATA]" + w.about.name
	}
	return []file{{digits(w.done()), "1", digits(max(0, length)), path, "true", w.places()}}
}

func (w *view) torrentFiles() []file {
	files, before := []file{}, int64(0)
	for i, f := range w.about.files {
		if w.only != 0 && w.only != i+1 {
			continue
		}
		done := min(max(0, w.done()-before), f.size) // as if the files came one after the other
		before += f.size
		files = append(files, file{
			digits(done), strconv.Itoa(len(files) + 1), digits(f.size), filepath.Join(w.dir, filepath.FromSlash(f.path)),
			strconv.FormatBool(queue.Selected(w.Options["select-file"], i+1)), []place{},
		})
	}
	return files
}

// places returns the URIs of the file. Like aria2, it lists a URI in use as waiting, too: another connection may use it.
func (w *view) places() []place {
	places, uris := []place{}, w.URIs
	if w.about.hash != "" {
		uris = nil
	} else if len(uris) == 0 {
		uris = w.about.uris
	}
	if w.Status == queue.Active || w.stopped() {
		for _, uri := range uris {
			places = append(places, place{"used", masked(uri, w.GID)})
		}
	}
	for _, uri := range uris {
		places = append(places, place{"waiting", masked(uri, w.GID)})
	}
	return places
}

func (v *visit) getFiles(p *params) (any, error) {
	g := p.gid(v.queue, 0)
	if p.err != nil {
		return nil, p.err
	}
	e, _ := v.queue.Entry(g)
	w := v.view(e)
	return later(func() any { return w.files() }), nil
}

// unstopped returns the view of the entry in the first parameter. For a stopped entry, the error begins with otherwise.
func (v *visit) unstopped(p *params, otherwise string) view {
	g := p.gid(v.queue, 0)
	if p.err != nil {
		return view{about: &about{}}
	}
	e, _ := v.queue.Entry(g)
	w := v.view(e)
	if w.stopped() {
		p.fail("%s GID#%s", otherwise, g)
	}
	return w
}

func (v *visit) getURIs(p *params) (any, error) {
	w := v.unstopped(p, "No URI data is available for")
	return w.places(), nil
}

// getPeers returns an empty list. Clients find peers among the sources.
func (v *visit) getPeers(p *params) (any, error) {
	v.unstopped(p, "No peer data is available for")
	return []any{}, nil
}

func (v *visit) getServers(p *params) (any, error) {
	const none = "No active download for"
	w := v.unstopped(p, none)
	if p.err == nil && w.live == nil {
		p.fail("%s GID#%s", none, w.GID)
	}
	servers := []any{}
	for _, s := range w.now().Sources {
		if s.Working {
			servers = append(servers, map[string]any{"uri": s.URL, "currentUri": s.URL, "downloadSpeed": digits(s.Speed)})
		}
	}
	return []any{map[string]any{"index": "1", "servers": servers}}, nil
}

func (v *visit) getGlobalStat(*params) (any, error) {
	active, waiting, stopped := v.queue.Count()
	var speed int64
	for _, e := range v.queue.Active() {
		if live, ok := v.queue.Live(e.GID); ok {
			speed += live.Speed
		}
	}
	return map[string]any{
		"downloadSpeed": digits(speed), "uploadSpeed": "0", "numActive": strconv.Itoa(active),
		"numWaiting": strconv.Itoa(waiting),
		"numStopped": strconv.Itoa(stopped), "numStoppedTotal": strconv.Itoa(stopped),
	}, nil
}
