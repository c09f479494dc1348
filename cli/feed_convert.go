package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/antenna/formats"
	"braid/download"
	"braid/internal/fsys"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
)

type feedConvert struct {
	feedFlags
	To        choice
	Out       string
	Overwrite bool
}

func newFeedConvert(s streams) (action, targets) {
	v := &feedConvert{feedFlags: newFeedFlags(s)}
	return v.run, targetsOf(v)
}

func (v *feedConvert) run(ctx context.Context, words []string) error {
	if v.To.Word == "" {
		return problem.Misuse("feed convert", "no --to", "give --to one of "+strings.Join(formats.Written(), ", "))
	}
	if v.Out != "" && v.Out != "-" && !v.Overwrite {
		if _, err := os.Lstat(v.Out); !errors.Is(err, fs.ErrNotExist) {
			return &problem.Problem{
				Kind: download.Local, What: "convert", Where: v.Out, Why: errThere.Error(),
				Hint: "replace the existing file with --overwrite",
			}
		}
	}
	o, err := v.open(ctx, "convert", words)
	if err != nil {
		return err
	}
	defer o.close()
	c := &conversion{feedConvert: v, ctx: ctx, from: o}
	if v.Out == "" || v.Out == "-" {
		err = v.toOutput(c)
	} else {
		err = v.toFile(c)
	}
	if n := c.lost + c.unwritable; n > 0 && err == nil {
		fmt.Fprintln(v.err, source.Escape(fmt.Sprintf("%s: %s omitted: %d could not be read, %d cannot be written as %s",
			o.name, option.Count(n, "record"), c.lost, c.unwritable, v.To.Word)))
	}
	return err
}

// toOutput writes the converted feed to standard output. If it returns an error, some records may have been written.
func (v *feedConvert) toOutput(c *conversion) error {
	out := bufio.NewWriter(v.feedFlags.streams.out)
	err := c.write(out)
	if failed := out.Flush(); failed != nil { // takes precedence over err
		return outputFailure(failed)
	}
	return err
}

func (v *feedConvert) toFile(c *conversion) error {
	if info, err := os.Lstat(v.Out); err == nil && !info.Mode().IsRegular() { // rule 4
		return &problem.Problem{
			Kind: download.Local, What: "convert", Where: v.Out, Why: errNoFile.Error(),
			Hint: "choose another name with -o",
		}
	}
	err := fsys.Write(nil, v.Out, 0o644, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		if err := c.write(out); err != nil {
			return err
		}
		return out.Flush()
	})
	if _, told := errors.AsType[*problem.Problem](err); err != nil && !told {
		return problem.Local("convert", v.Out, err)
	}
	return err
}

// A conversion converts one feed to another format.
type conversion struct {
	*feedConvert
	ctx  context.Context
	from *opened

	lost, unwritable int
	ended            error
}

func (c *conversion) write(w io.Writer) error {
	i := slices.Index(formats.Written(), c.To.Word) // To is a valid word, because the flag was checked
	as := formats.Writings()[i]
	records := c.records(as.Check)
	if as.Twice {
		spool, err := c.spool()
		if err != nil {
			return err
		}
		defer spool.Close()
		records = c.again(spool, as.Check)
	}
	err := as.Encode(w, c.heading(feed.At(time.Now())), records)
	if c.ended != nil {
		return c.failure(c.ctx, c.from.name, c.ended)
	}
	return err
}

// spool copies the feed to a temporary file. Some formats need this, because their encoder reads the records twice.
func (c *conversion) spool() (*os.File, error) {
	spool, err := os.CreateTemp("", "braid-*.feed")
	if err != nil {
		return nil, problem.Local("convert", "temporary file", err)
	}
	if err := os.Remove(spool.Name()); err != nil {
		spool.Close()
		return nil, err
	}
	if _, err := io.Copy(spool, io.LimitReader(c.from, c.limits().Bytes+1)); err != nil {
		spool.Close()
		return nil, c.failure(c.ctx, c.from.name, err)
	}
	return spool, nil
}

// again returns the records of the spooled feed, as a sequence that can be read more than once.
func (c *conversion) again(spool *os.File, check func(feed.Record) error) iter.Seq[feed.Record] {
	return func(yield func(feed.Record) bool) {
		c.lost, c.unwritable = 0, 0 // drop the counts of the previous reading
		if _, c.ended = spool.Seek(0, io.SeekStart); c.ended != nil {
			return
		}
		c.from.Reader = spool
		c.records(check)(yield)
	}
}

// records returns the records of the feed that the new format can hold.
func (c *conversion) records(write func(feed.Record) error) iter.Seq[feed.Record] {
	return func(yield func(feed.Record) bool) {
		d := c.decoder(c.from, false, func(v feed.Violation) {
			if v.Discarded {
				c.lost++
			}
		})
		for r, err := range d.Records() {
			switch {
			case err != nil:
				c.ended = err
			case write(r) != nil:
				c.unwritable++
			case !yield(r):
				return
			}
		}
	}
}

// heading returns the heading of the new feed. The heading names the old feed by its URL, or by its file name. It omits
// the file's folder, which is private.
func (c *conversion) heading(now feed.Time) feed.Heading {
	id, title := c.from.name, c.from.name
	if !feed.IsURI(id) {
		title = filepath.Base(title)
		id = "urn:x-antenna:" + url.PathEscape(title)
	}
	return feed.Heading{ID: id, Title: title, Agent: "braid", Generator: "braid", Date: now, Updated: now}
}
