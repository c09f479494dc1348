package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"braid/antenna"
	"braid/antenna/formats"
	"braid/download"
	"braid/internal/feedtext"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
)

type feedFind struct {
	feedFlags
	JSON bool
}

func newFeedFind(s streams) (action, targets) {
	v := &feedFind{feedFlags: newFeedFlags(s)}
	return v.run, targetsOf(v)
}

// A foundEvent is a feed that was found on a page.
type foundEvent struct {
	render.Head
	Format string `json:"format"`
	Type   string `json:"type,omitempty"`
	URL    string `json:"url"`
	Title  string `json:"title,omitempty"`
	Where  string `json:"where"` // page or header: it has a link to the feed; itself: the given URL is a feed
}

func (v *feedFind) run(ctx context.Context, words []string) error {
	if len(words) != 1 {
		return problem.Misuse("feed find", "needs exactly one URL", "see braid feed find --help")
	}
	u, err := job.ParseWebURL(words[0])
	if err != nil {
		return err
	}
	p, err := v.fetch(ctx, u)
	if err != nil {
		return err
	}
	defer p.Close()
	found, err := v.find(p)
	if err != nil {
		return v.failure(ctx, source.Mask(u), err)
	}
	if len(found) == 0 {
		return &problem.Problem{
			Kind: download.Other, What: "find", Where: source.Mask(u), Why: "the page names no feed",
			Hint: "try a known feed with braid feed check URL",
		}
	}
	return v.tell(found)
}

// find returns the feeds that the page or the header of a response links to. A response that is a feed itself is returned.
func (v *feedFind) find(p *pipe) ([]foundEvent, error) {
	var body io.Reader = p
	if p.gzipped() {
		body = feedtext.NewReader(p, v.limits())
	}
	page := bufio.NewReaderSize(body, 16<<10)
	head, err := page.Peek(16 << 10)
	if err != nil && err != io.EOF {
		return nil, err
	}
	now := time.Now()
	if _, format, err := antenna.OpenFeed(bytes.NewReader(head), v.limits()); err == nil {
		return []foundEvent{{
			Head: render.NewHead(now, "feed"), Format: format.Name, URL: p.Answer.URL.String(), Where: "itself",
		}}, nil
	}
	header := p.header()
	feeds, err := antenna.FindFeeds(p.Answer.URL, header.Values("Link"), header.Get("Content-Type"), page)
	var list []foundEvent
	for _, f := range feeds {
		e := foundEvent{Head: render.NewHead(now, "feed"), Format: f.Format.Name, Type: f.Type, URL: f.URL.String(),
			Title: f.Title, Where: "page"}
		if f.InHeader {
			e.Where = "header"
		}
		list = append(list, e)
	}
	return list, err
}

func (v *feedFind) tell(found []foundEvent) error {
	lines := render.NewJSONWriter(v.out)
	for _, e := range found {
		if v.JSON {
			lines.Write(e)
			continue
		}
		_, name, _ := formats.OfType(e.Type) // name is more specific than e.Format
		what := cmp.Or(name, e.Format)
		if e.Where == "itself" {
			what += " (itself)"
		}
		row := fmt.Sprintf("%s\t%s\t%s", source.Escape(what), source.Escape(e.URL), source.Escape(e.Title))
		if _, err := fmt.Fprintln(v.out, row); err != nil {
			return outputFailure(err)
		}
	}
	return outputFailure(lines.Err())
}
