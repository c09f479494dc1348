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

// SessionMark is the first line of the file that [Session] returns. Only a file with this line is overwritten.
const SessionMark = "# a session of braid\n"

// Session returns the incomplete entries of q as a list for aria2c's --input-file. listed reports which options the list
// may have. Entries with a document are omitted, because a list cannot contain documents. Entries of a watch are
// omitted, because the watch adds them again. The argument own means that the list is for the user's own file, which may
// have the secrets. A file that a client named gets placeholders instead, because files below the root may be shared.
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
		if i := slices.Index(names, "http-user"); i > 0 { // the password must follow the user name
			names = slices.Insert(slices.Delete(names, i, i+1), 0, "http-user")
		}
		for _, name := range names {
			for value := range strings.SplitSeq(e.Options[name], "\n") { // the values are fields of --header
				if listed == nil || listed(name, value) {
					fmt.Fprintf(&b, " %s=%s\n", name, value)
				}
			}
		}
	}
	return b.Bytes()
}

// saved calls save, which writes the session, if a call requested it. If save fails, the answers to these calls get its error.
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
