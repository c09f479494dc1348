package rpc

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"braid/daemon/queue"
)

const sessionOption = "save-session"

// SessionMark begins a session that [Session] wrote, which another one may replace.
const SessionMark = "# a session of braid\n"

// Session lists what is not complete, as --input-file of aria2c reads it, with the options that a list may have. An
// entry that came as a document without a link is left out: a list has no word for it. So is one of a watch, which asks
// for it again.
func Session(q *queue.Queue, listed func(name, value string) bool) []byte {
	var b bytes.Buffer
	b.WriteString(SessionMark)
	_, waiting, stopped := q.Count()
	for _, e := range slices.Concat(q.Active(), q.Waiting(0, waiting), q.Stopped(0, stopped)) {
		if e.Status == queue.Complete || e.Status == queue.Removed || e.Watch != "" || len(e.URIs) == 0 || len(e.Document) > 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\t\n gid=%s\n", strings.Join(e.URIs, "\t"), e.GID)
		if e.Status == queue.Paused {
			b.WriteString(" pause=true\n")
		}
		names := slices.Sorted(maps.Keys(e.Options))
		if i := slices.Index(names, "http-user"); i > 0 { // a password is that of the name before it
			names = slices.Insert(slices.Delete(names, i, i+1), 0, "http-user")
		}
		for _, name := range names {
			for value := range strings.SplitSeq(e.Options[name], "\n") { // fields of --header
				if listed == nil || listed(name, value) {
					fmt.Fprintf(&b, " %s=%s\n", name, value)
				}
			}
		}
	}
	return b.Bytes()
}

// saved writes the session that calls asked for, and tells them where it could not be written.
func saved(save func() error, calls []call, answers []answer) {
	if save == nil {
		return
	}
	err := save()
	for i := range calls {
		asked := func(c call) bool { return c.method == "aria2.saveSession" }
		if err != nil && answers[i].Error == nil && (asked(calls[i]) || slices.ContainsFunc(calls[i].inner, asked)) {
			answers[i] = answer{ID: calls[i].id, Error: &fault{1, "The session could not be written: " + err.Error()}}
		}
	}
}
