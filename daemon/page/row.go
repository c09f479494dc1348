package page

import (
	"cmp"
	"net/url"
	"path"
	"strings"
	"time"

	"braid/daemon/queue"
	"braid/internal/mask"
	"braid/internal/once"
	"braid/internal/option"
)

// A row is a queue entry as the page receives it. Texts from outside are escaped: they contain no control characters,
// and no characters that change the direction of text.
type row struct {
	GID      string `json:"gid"`
	Name     string `json:"name"`
	URL      string `json:"url,omitempty"`
	More     int    `json:"more,omitempty"` // number of URIs of the file besides URL
	Path     string `json:"path,omitempty"`
	Folder   string `json:"folder,omitempty"` // folder of the file
	Status   string `json:"status"`
	Rank     int64  `json:"rank"`
	Priority int    `json:"priority,omitempty"`
	Size     int64  `json:"size"` // -1 if unknown
	Done     int64  `json:"done"`
	Added    int64  `json:"added"` // in seconds since 1970
	Began    int64  `json:"began,omitempty"`
	Ended    int64  `json:"ended,omitempty"`
	Verified string `json:"verified,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Message  string `json:"message,omitempty"`
	Reason   string `json:"reason,omitempty"` // short form of Message
	Hint     string `json:"hint,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Watch    string `json:"watch,omitempty"` // name of the watch that requested the entry
	Limit    string `json:"limit,omitempty"`
}

const (
	mostName = 300 // runes
	mostText = 1000
)

func text(s string, runes int) string { return mask.Escape(option.Shorten(s, runes)) }

// rowOf returns the row for e. folder is the folder of entries without the option dir.
func rowOf(e *queue.Entry, folder string) row {
	r := row{
		GID: e.GID.String(), Path: text(e.Path, mostText), Folder: text(folderOf(e, folder), mostText),
		Status: e.Status.String(), Rank: e.Rank, Priority: e.Priority,
		Size: e.Size, Done: e.Done, Added: seconds(e.Added), Began: seconds(e.Began), Ended: seconds(e.Ended),
		Verified: text(e.Outcome.Verified, mostText), Kind: e.Outcome.Kind, Message: text(e.Outcome.Message, mostText),
		Hint: text(e.Outcome.Hint, mostText), Attempts: e.Outcome.Attempts, Watch: text(e.Watch, mostName),
		Limit: text(e.Options["max-download-limit"], 40),
	}
	if e.Status == queue.Complete {
		r.Done = max(r.Done, r.Size)
	}
	var first *url.URL
	if len(e.URIs) > 0 {
		r.More = len(e.URIs) - 1
		if u, err := url.Parse(e.URIs[0]); err == nil {
			first = u
		}
		r.URL = masked(e.URIs[0])
	}
	r.Name = text(name(e, first), mostName)
	if e.Outcome.Kind != "" {
		r.Reason = cmp.Or(text(e.Outcome.Reason, mostText), briefly(r.Message, r.URL))
	}
	return r
}

// masked returns uri without its secrets, or "" if uri cannot be parsed.
func masked(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return text(mask.URL(u), mostText)
}

// folderOf returns the folder of the file of e. given is the folder of entries without the option dir.
func folderOf(e *queue.Entry, given string) string {
	if e.Path != "" {
		return path.Dir(strings.ReplaceAll(e.Path, `\`, "/"))
	}
	return cmp.Or(e.Options["dir"], given)
}

var manyDigits = once.Pattern(`\b([0-9a-fA-F]{8})[0-9a-fA-F]{24,}\b`)

// briefly shortens message, the message of a failure. It removes what the page shows elsewhere, which is the URL in
// address, the text before it and the host. It also removes most digits of digests.
func briefly(message, address string) string {
	if _, rest, ok := strings.Cut(message, address+": "); ok && address != "" {
		message = rest
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		message = strings.TrimPrefix(message, u.Host+": ")
	}
	return manyDigits().ReplaceAllString(message, "$1...")
}

// name returns a name for e: the name of its file, the name that the client requested, or the last segment of its first URL.
func name(e *queue.Entry, first *url.URL) string {
	switch {
	case e.Path != "":
		return path.Base(strings.ReplaceAll(e.Path, `\`, "/"))
	case e.Options["out"] != "":
		return e.Options["out"]
	case first == nil && len(e.Document) > 0 && e.Document[0] == 'd':
		return "torrent"
	case first == nil && len(e.Document) > 0:
		return "Metalink document"
	case first == nil:
		return "download"
	case first.Scheme == "magnet":
		if dn := first.Query().Get("dn"); dn != "" {
			return dn
		}
		return "magnet link"
	}
	if base := path.Base(first.Path); base != "/" && base != "." {
		return base
	}
	return first.Host
}

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// A live is the current state of an active download as the page receives it.
type live struct {
	GID         string `json:"gid"`
	Done        int64  `json:"done"`
	Size        int64  `json:"size"`
	Speed       int64  `json:"speed"`
	Connections int    `json:"connections"`
	Worker      string `json:"worker,omitempty"`
	Seeding     bool   `json:"seeding,omitempty"`
}

func liveOf(g queue.GID, l *queue.Live) live {
	return live{g.String(), l.Done, l.Size, l.Speed, l.Connections, text(l.Worker, mostName), l.Seeding}
}
