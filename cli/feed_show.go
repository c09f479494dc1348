package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"braid/internal/option"
	"braid/internal/render"

	"braid/antenna/feed"
	"braid/antenna/formats"
	"braid/source"
)

type feedShow struct {
	feedFlags
	JSON  bool
	Match option.WordsValue
	globs []*regexp.Regexp
}

func newFeedShow(s streams) (action, targets) {
	v := &feedShow{feedFlags: newFeedFlags(s)}
	return v.run, targetsOf(v)
}

// A recordEvent is one record of a feed. Values that the record does not have are omitted.
type recordEvent struct {
	render.Head
	Format    string       `json:"format"`
	Line      int          `json:"line"`
	Offset    int64        `json:"offset,omitempty"`
	URL       string       `json:"url"`
	Virtual   string       `json:"virtual,omitempty"`
	Tag       string       `json:"tag,omitempty"`         // tag of the record's release
	Pre       bool         `json:"pre_release,omitempty"` // the release is marked as a pre-release
	Title     string       `json:"title,omitempty"`
	Author    string       `json:"author,omitempty"`
	Type      string       `json:"content_type,omitempty"`
	Server    string       `json:"server,omitempty"`
	Keywords  []string     `json:"keywords,omitempty"`
	Modified  string       `json:"last_modified,omitempty"`
	Detected  string       `json:"detected,omitempty"`
	Date      string       `json:"date,omitempty"`
	Expires   string       `json:"expires,omitempty"`
	Zone      int64        `json:"zone,omitempty"` // seconds, east positive
	Size      int64        `json:"size,omitempty"`
	MD5       string       `json:"md5,omitempty"`
	Agent     string       `json:"agent,omitempty"`
	AgentURL  string       `json:"agent_url,omitempty"`
	Method    []string     `json:"method,omitempty"`
	Result    string       `json:"result,omitempty"`
	Complete  bool         `json:"complete,omitempty"`
	Failed    bool         `json:"failed,omitempty"`
	Fields    []fieldEntry `json:"fields,omitempty"` // as in the feed
	Warnings  []string     `json:"warnings,omitempty"`
	FeedDated string       `json:"feed_date,omitempty"`
}

type fieldEntry struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func recordOf(at time.Time, r *feed.Record) recordEvent {
	e := recordEvent{
		Head: render.NewHead(at, "record"), Format: formats.Name(r.Format), Line: r.Line, Offset: r.Offset, URL: r.URL,
		Virtual: r.Virtual, Tag: r.Tag, Pre: r.PreRelease,
		Title: r.Title, Author: r.Author, Type: r.ContentType, Server: r.Server, Keywords: r.Keywords,
		Modified: instant(r.LastModified), Detected: instant(r.Detected), Date: instant(r.Date),
		Expires: instant(r.Expires), FeedDated: instant(r.FeedDate),
		Zone: r.Zone, Size: r.Size, MD5: r.MD5, Agent: r.Agent, AgentURL: r.AgentURL, Method: r.Method, Result: r.Result,
		Complete: r.Complete, Failed: r.Failed, Warnings: r.Warnings,
	}
	for _, f := range r.Fields {
		e.Fields = append(e.Fields, fieldEntry{f.Name, f.Value})
	}
	return e
}

// instant formats t for JSON. It returns "" for 0, and for years that LIRS allows but RFC 3339 does not.
func instant(t feed.Time) string {
	if at := t.UTC(); t != 0 && at.Year() >= 0 && at.Year() <= 9999 {
		return at.Format(time.RFC3339)
	}
	return ""
}

func (v *feedShow) run(ctx context.Context, words []string) error {
	for _, pattern := range v.Match {
		v.globs = append(v.globs, compileGlob(pattern))
	}
	o, err := v.open(ctx, "show", words)
	if err != nil {
		return err
	}
	defer o.close()
	out := bufio.NewWriter(v.out)
	lines := render.NewJSONWriter(out)
	now := time.Now()
	lost := 0
	d := v.decoder(o, false, func(found feed.Violation) {
		if found.Discarded {
			lost++
		}
	})
	var ended, written error
	for r, err := range d.Records() {
		switch {
		case err != nil:
			ended = err
		case !v.shows(&r):
		case v.JSON:
			lines.Write(recordOf(now, &r))
			written = lines.Err()
		default:
			_, written = io.WriteString(out, escapeLine(recordLine(&r))+"\n")
		}
		if written != nil {
			break
		}
	}
	if err := errors.Join(written, out.Flush()); err != nil {
		return outputFailure(err)
	}
	if lost > 0 {
		text := fmt.Sprintf("%s: %s could not be read and is left out (braid feed check shows why)",
			o.name, option.Count(lost, "record"))
		fmt.Fprintln(v.err, source.Escape(text))
	}
	if ended != nil {
		return v.failure(ctx, o.name, ended)
	}
	return nil
}

// shows reports whether r matches a pattern of --match. Without patterns, every record matches.
func (v *feedShow) shows(r *feed.Record) bool {
	if len(v.globs) == 0 {
		return true
	}
	key, _ := feed.Key(r.URL)
	for _, g := range v.globs {
		if g.MatchString(r.URL) || g.MatchString(key) {
			return true
		}
	}
	return false
}

// recordLine formats r as a line with columns of fixed widths, because the later records are not known yet.
func recordLine(r *feed.Record) string {
	modified, size := "-", "-"
	switch at := r.LastModified.UTC(); {
	case r.Failed:
		modified = "not reached"
	case r.LastModified > 0 && at.Year() <= 9999:
		modified = r.LastModified.String()
	}
	if r.Size > 0 {
		size = option.SizeText(r.Size)
	}
	return strings.TrimRight(fmt.Sprintf("%-23s  %8s  %s  %s", modified, size, r.URL, r.Title), " ")
}

// escapeLine is source.Escape with a fast path for text that needs no escaping.
func escapeLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return s
	}
	return source.Escape(s)
}

// compileGlob compiles a pattern of URLs. The syntax is that of watches: * matches everything except slashes, and **
// matches everything.
func compileGlob(pattern string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.ReplaceAll(quoted, `\*\*`, `.*`)
	return regexp.MustCompile(`\A` + strings.ReplaceAll(quoted, `\*`, `[^/]*`) + `\z`)
}
