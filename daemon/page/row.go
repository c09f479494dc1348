package page

import (
	"net/url"
	"path"
	"strings"
	"time"

	"braid/daemon/queue"
	"braid/internal/mask"
	"braid/internal/option"
)

// A row is what the page knows of an entry. Texts from outside are escaped: none has control characters or changes the direction of others.
type row struct {
	GID      string `json:"gid"`
	Name     string `json:"name"`
	URL      string `json:"url,omitempty"`
	More     int    `json:"more,omitempty"` // further URIs of the same file
	Path     string `json:"path,omitempty"`
	Status   string `json:"status"`
	Rank     int64  `json:"rank"`
	Priority int    `json:"priority,omitempty"`
	Size     int64  `json:"size"` // -1: unknown
	Done     int64  `json:"done"`
	Added    int64  `json:"added"` // seconds since 1970
	Began    int64  `json:"began,omitempty"`
	Ended    int64  `json:"ended,omitempty"`
	Verified string `json:"verified,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Message  string `json:"message,omitempty"`
	Hint     string `json:"hint,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Watch    string `json:"watch,omitempty"` // that wants it
	Limit    string `json:"limit,omitempty"`
}

const (
	mostName = 300 // runes
	mostText = 1000
)

func text(s string, runes int) string { return mask.Escape(option.Shorten(s, runes)) }

func rowOf(e *queue.Entry) row {
	r := row{
		GID: e.GID.String(), Path: text(e.Path, mostText), Status: e.Status.String(), Rank: e.Rank, Priority: e.Priority,
		Size: e.Size, Done: e.Done, Added: seconds(e.Added), Began: seconds(e.Began), Ended: seconds(e.Ended),
		Verified: text(e.Outcome.Verified, mostText), Kind: e.Outcome.Kind, Message: text(e.Outcome.Message, mostText),
		Hint: text(e.Outcome.Hint, mostText), Attempts: e.Outcome.Attempts, Watch: text(e.Watch, mostName), Limit: text(e.Options["max-download-limit"], 40),
	}
	if e.Status == queue.Complete {
		r.Done = max(r.Done, r.Size)
	}
	var first *url.URL
	if len(e.URIs) > 0 {
		r.More = len(e.URIs) - 1
		if u, err := url.Parse(e.URIs[0]); err == nil {
			first, r.URL = u, text(mask.URL(u), mostText)
		}
	}
	r.Name = text(name(e, first), mostName)
	return r
}

// name is what an entry is called: as its file, or as the client wants its file, or as the URL ends.
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

// A live is what an active download does now.
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
