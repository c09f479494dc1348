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

// SessionMark is the first line of a session written by [Session]. Only such a file is overwritten.
const SessionMark = "# a session of braid\n"

// Session returns the incomplete entries as a list for aria2c's --input-file, with the options that such a list may
// have. It omits entries that were added as a document, because a list cannot contain one, and entries of a watch,
// because the watch adds them again. own means that the list is for the user's own file, which gets the secrets. A file
// named by a client gets placeholders: files below the root may be shared or served.
func Session(q *queue.Queue, listed func(name, value string) bool, own bool) []byte {
	var b bytes.Buffer
	b.WriteString(SessionMark)
	_, waiting, stopped := q.Count()
	for _, e := range slices.Concat(q.Active(), q.Waiting(0, waiting), q.Stopped(0, stopped)) {
		if e.Status == queue.Complete || e.Status == queue.Removed || e.Watch != "" || len(e.URIs) == 0 || len(e.Document) > 0 {
			continue
		}
		if !own {
			e.URIs, e.Options = slices.Clone(e.URIs), maps.Clone(e.Options)
			for i, uri := range e.URIs {
				e.URIs[i] = masked(uri, e.GID)
			}
			conceal(e.Options, e.GID)
		}
		fmt.Fprintf(&b, "%s\t\n gid=%s\n", strings.Join(e.URIs, "\t"), e.GID)
		if e.Status == queue.Paused {
			b.WriteString(" pause=true\n")
		}
		names := slices.Sorted(maps.Keys(e.Options))
		if i := slices.Index(names, "http-user"); i > 0 { // a password belongs to the user name above it
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

// saved writes the session if a call requested it. If that fails, it sets the error of these calls.
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
