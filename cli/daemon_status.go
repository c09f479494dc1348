package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"braid/download"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
)

// A listedStatus is the status of a queue entry in an answer of the daemon.
type listedStatus struct {
	GID, Status                                 string
	TotalLength, CompletedLength, DownloadSpeed string
	Dir                                         string
	Files                                       []struct {
		Path string
		URIs []struct{ URI string }
	}
	Braid struct{ Verified, Kind, Message, Hint, Watch, Worker, Waits string }
}

var statusKeys = []string{"gid", "status", "totalLength", "completedLength", "downloadSpeed", "dir", "files",
	"errorCode", "followedBy", "following", "braid"}

// status shows the entries with the given GIDs, or all entries of the daemon's queue.
func (c *controlCommand) status(ctx context.Context, gids []string) error {
	var raw []json.RawMessage
	for _, gid := range gids {
		var one json.RawMessage
		if err := c.call(ctx, gid, &one, "aria2.tellStatus", gid, statusKeys); err != nil {
			return err
		}
		raw = append(raw, one)
	}
	if len(gids) == 0 {
		var err error
		if raw, err = c.everything(ctx); err != nil {
			return err
		}
	}
	if c.JSON {
		for _, one := range raw {
			if err := c.tell("", one); err != nil {
				return err
			}
		}
		return nil
	}
	return c.table(raw)
}

// everything returns the status of all entries of the daemon's queue. It requests them in pages, because the daemon
// limits the entries in an answer. An entry that moves in the queue between two requests may be in both answers. The
// later status then replaces the earlier one.
func (c *controlCommand) everything(ctx context.Context) (raw []json.RawMessage, err error) {
	const page = 5_000
	at := map[string]int{}
	take := func(method string, params ...any) (n int, err error) {
		var some []json.RawMessage
		if err := c.call(ctx, "", &some, "aria2.tell"+method, params...); err != nil {
			return 0, err
		}
		for _, one := range some {
			var s struct{ GID string }
			if err := json.Unmarshal(one, &s); err != nil {
				return 0, &problem.Problem{Kind: download.Protocol, What: c.verb, Why: err.Error()}
			}
			if i, known := at[s.GID]; known {
				raw[i] = one
				continue
			}
			at[s.GID] = len(raw)
			raw = append(raw, one)
		}
		return len(some), nil
	}
	if _, err = take("Active", statusKeys); err != nil {
		return nil, err
	}
	for _, method := range []string{"Waiting", "Stopped"} {
		for offset, n := 0, page; n == page && err == nil; offset += page {
			n, err = take(method, offset, page, statusKeys)
		}
	}
	return raw, err
}

// table prints the entries as a table: active entries first, then waiting entries in the order of the queue, then
// entries that have ended.
func (c *controlCommand) table(raw []json.RawMessage) error {
	list := make([]listedStatus, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &list[i]); err != nil {
			return &problem.Problem{Kind: download.Protocol, What: c.verb, Why: err.Error()}
		}
	}
	order := []string{"active", "waiting", "paused", "error", "complete", "removed"}
	slices.SortStableFunc(list, func(a, b listedStatus) int {
		return cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status))
	})
	digits := uniqueDigits(list)
	var rows [][]string
	for _, s := range list {
		rows = append(rows, s.row(digits))
	}
	if len(rows) == 0 {
		fmt.Fprintln(c.err, "the queue is empty")
	}
	return printLines(c.out, render.Columns(rows))
}

// row returns the table row of an entry. digits is the number of digits of its GID to show.
func (s *listedStatus) row(digits int) []string {
	size, _ := strconv.ParseInt(s.TotalLength, 10, 64)
	done, _ := strconv.ParseInt(s.CompletedLength, 10, 64)
	speed, _ := strconv.ParseFloat(s.DownloadSpeed, 64)
	name, far, more := "", "", ""
	if len(s.Files) > 0 {
		name = s.Files[0].Path
		if below, err := filepath.Rel(s.Dir, name); err == nil && filepath.IsLocal(below) {
			name = below
		}
		if name == "" && len(s.Files[0].URIs) > 0 {
			name = job.MaskWord(s.Files[0].URIs[0].URI)
		}
	}
	switch {
	case s.Status == "complete":
		far, more = option.SizeText(size), cmp.Or(s.Braid.Verified, "not verified")
	case size > 0:
		far = fmt.Sprintf("%d %% of %s", option.Percent(done, size), option.SizeText(size))
	}
	switch s.Status {
	case "active":
		more = option.RateText(speed)
		if s.Braid.Worker != "" {
			more = strings.TrimSpace(more + " at " + s.Braid.Worker)
		}
	case "waiting":
		more = strings.TrimSuffix("waits "+s.Braid.Waits, "waits ")
	case "error":
		words := slices.DeleteFunc([]string{s.Braid.Message, s.Braid.Hint}, func(t string) bool { return t == "" })
		more = option.Shorten(strings.Join(words, "; "), 160)
	}
	if s.Braid.Watch != "" {
		more = strings.TrimSuffix("watch "+s.Braid.Watch+": "+more, ": ")
	}
	return []string{s.GID[:min(digits, len(s.GID))], s.Status, far, source.Escape(name), source.Escape(more)}
}

// uniqueDigits returns how many leading digits distinguish the GIDs in list from each other, at least 6.
func uniqueDigits(list []listedStatus) int {
	for n := 6; n < 16; n++ {
		seen := map[string]bool{}
		for _, s := range list {
			seen[s.GID[:min(n, len(s.GID))]] = true
		}
		if len(seen) == len(list) {
			return n
		}
	}
	return 16
}
