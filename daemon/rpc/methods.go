package rpc

import (
	"maps"
	"slices"
	"time"

	"braid/daemon/queue"
	"braid/internal/mask"
)

// A visit is the state of one request of a client while it uses the queue.
type visit struct {
	handler  *Handler
	queue    *queue.Queue
	settings settings
	secrets  secrets
	now      time.Time
	why      func(queue.GID) string // describes what an entry is waiting for
	room     int                    // how many more entries, or KiB of long entries, the answer may contain
	save     func() error           // writes the session after the visit; nil if it need not be written
	after    func()
}

// newVisit returns a visit that begins now. room limits the length of its answer, as the field does.
func newVisit(h *Handler, room int) *visit {
	v := &visit{handler: h, settings: settings{given: &h.Options}, now: h.Now(), room: room}
	v.secrets = secrets{&v.settings}
	return v
}

// enter gives the visit access to q. q is nil if the request has not shown the token.
func (v *visit) enter(q *queue.Queue) { v.queue, v.settings.queue = q, q }

// methods maps the names of methods to functions, except system.multicall. A function must read all its parameters and
// check p.err before it changes anything.
var methods map[string]func(*visit, *params) (any, error)

func init() { // in a function, because listMethods refers to methods
	methods = map[string]func(*visit, *params) (any, error){
		"aria2.addUri": (*visit).addURI, "aria2.addTorrent": (*visit).addTorrent, "aria2.addMetalink": (*visit).addMetalink,

		"aria2.tellStatus": (*visit).tellStatus, "aria2.tellActive": (*visit).tellActive,
		"aria2.tellWaiting": (*visit).tellWaiting, "aria2.tellStopped": (*visit).tellStopped,
		"aria2.getUris": (*visit).getURIs, "aria2.getFiles": (*visit).getFiles,
		"aria2.getServers": (*visit).getServers, "aria2.getPeers": (*visit).getPeers,
		"aria2.getGlobalStat": (*visit).getGlobalStat,

		"aria2.getOption": (*visit).getOption, "aria2.changeOption": (*visit).changeOption,
		"aria2.getGlobalOption": (*visit).getGlobalOption, "aria2.changeGlobalOption": (*visit).changeGlobalOption,
		"aria2.changeUri": (*visit).changeURI, "aria2.changePosition": (*visit).changePosition,

		"aria2.pause": (*visit).pause, "aria2.forcePause": (*visit).pause,
		"aria2.pauseAll": (*visit).pauseAll, "aria2.forcePauseAll": (*visit).pauseAll,
		"aria2.unpause": (*visit).unpause, "aria2.unpauseAll": (*visit).unpauseAll,
		"aria2.remove": (*visit).remove, "aria2.forceRemove": (*visit).remove,
		"aria2.removeDownloadResult": (*visit).forget, "aria2.purgeDownloadResult": (*visit).forgetAll,

		"aria2.getVersion": (*visit).getVersion, "aria2.getSessionInfo": (*visit).getSessionInfo,
		"aria2.saveSession": (*visit).saveSession,
		"aria2.shutdown":    (*visit).shutdown, "aria2.forceShutdown": (*visit).shutdown,
		"system.listMethods": listMethods, "system.listNotifications": listNotifications,
	}
}

const done = "OK"

// toOne calls do with the GID in the first parameter, and returns that GID as the result of the method.
func (v *visit) toOne(p *params, do func(queue.GID) error) (any, error) {
	g := p.gid(v.queue, 0)
	if p.err != nil {
		return nil, p.err
	}
	return g.String(), do(g)
}

func (v *visit) pause(p *params) (any, error)   { return v.toOne(p, v.queue.Pause) }
func (v *visit) unpause(p *params) (any, error) { return v.toOne(p, v.queue.Resume) }

func (v *visit) remove(p *params) (any, error) {
	return v.toOne(p, func(g queue.GID) error { return v.queue.Remove(v.now, g) })
}

func (v *visit) forget(p *params) (any, error) {
	_, err := v.toOne(p, v.queue.Forget)
	return done, err
}

func (v *visit) pauseAll(*params) (any, error) {
	v.queue.PauseAll()
	return done, nil
}

func (v *visit) unpauseAll(*params) (any, error) {
	v.queue.ResumeAll()
	return done, nil
}

func (v *visit) forgetAll(*params) (any, error) {
	v.queue.ForgetAll()
	return done, nil
}

var whences = map[string]queue.Whence{"POS_SET": queue.FromStart, "POS_CUR": queue.FromHere, "POS_END": queue.FromEnd}

func (v *visit) changePosition(p *params) (any, error) {
	g, position, how := p.gid(v.queue, 0), p.integer(1), p.text(2)
	whence, ok := whences[how]
	if !ok {
		p.fail("Illegal argument.")
	}
	if p.err != nil {
		return nil, p.err
	}
	return v.queue.Move(g, position, whence)
}

// changeURI removes URIs of an entry and inserts others at a position, by default at the end. It returns the number of
// removed URIs and the number of inserted URIs.
func (v *visit) changeURI(p *params) (any, error) {
	g, file, out, in, position := p.gid(v.queue, 0), p.atLeast(1, 1), p.strings(2, true), p.strings(3, true), p.position(4)
	if file > 1 {
		p.fail("fileIndex is out of range")
	}
	if p.err != nil {
		return nil, p.err
	}
	e, _ := v.queue.Entry(g)
	if e.Watch != "" {
		return nil, refuse("The download belongs to the watch %s; change its URLs in the watch's configuration.",
			mask.Quote(e.Watch, 100))
	}
	in, err := v.secrets.knownURIs(in)
	if err != nil {
		return nil, err
	}
	uris, removed := slices.Clone(e.URIs), 0
	for _, uri := range out {
		if i := slices.IndexFunc(uris, func(have string) bool { return uri == have || uri == masked(have, g) }); i >= 0 {
			uris = slices.Delete(uris, i, i+1)
			removed++
		}
	}
	if position < 0 || position > len(uris) {
		position = len(uris)
	}
	uris = slices.Insert(uris, position, in...)
	if len(uris) > 0 && hasSecret(e.Options) && !mayHave(g, uris, e.URIs) {
		return nil, refuse("The header fields and passwords of the download are only for the server of its first URI: " +
			"remove these options, change the URIs, and then set the options for the new server.")
	}
	return []int{removed, len(in)}, v.queue.ChangeURIs(g, uris)
}

func (v *visit) getVersion(*params) (any, error) {
	// Clients require a version of aria2 that has the methods they call.
	return map[string]any{"version": "1.37.0", "enabledFeatures": []string{
		"Async DNS", "BitTorrent", "GZip", "HTTPS", "Message Digest", "Metalink", "braid " + v.handler.Version,
	}}, nil
}

func (v *visit) getSessionInfo(*params) (any, error) {
	return map[string]any{"sessionId": v.handler.session}, nil
}

// saveSession makes the visit write the session to the file that the option save-session names. Without that option,
// nothing is lost: each answer is sent only after its changes are on disk.
func (v *visit) saveSession(*params) (any, error) {
	if file := v.settings.all()[sessionOption]; file != "" && v.handler.SaveSession != nil {
		text := Session(v.queue, v.handler.Listed, file == v.handler.Given[sessionOption])
		v.save = func() error { return v.handler.SaveSession(file, text) }
	}
	return done, nil
}

func (v *visit) shutdown(*params) (any, error) {
	if v.handler.Shutdown == nil {
		return nil, refuse("Clients may not shut down the daemon.")
	}
	v.after = v.handler.Shutdown
	return done, nil
}

func listMethods(*visit, *params) (any, error) {
	return append(slices.Sorted(maps.Keys(methods)), "system.multicall"), nil
}

func listNotifications(*visit, *params) (any, error) {
	var names []string
	for what := queue.OnStart; what <= queue.OnSeed; what++ {
		names = append(names, "aria2."+what.String())
	}
	return names, nil
}
