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
	"time"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/lirs"
	newsfeed "braid/antenna/news"
	"braid/antenna/soif"
	"braid/download"
	"braid/internal/fsys"
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
		return problem.Misuse("feed convert", "no --to", "--to is one of hina-di, lirs, soif, atom")
	}
	if v.Out != "" && v.Out != "-" && !v.Overwrite {
		if _, err := os.Lstat(v.Out); !errors.Is(err, fs.ErrNotExist) {
			return &problem.Problem{
				Kind: download.Local, What: "convert", Where: v.Out, Why: errThere.Error(),
				Hint: "--overwrite replaces it",
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
		fmt.Fprintln(v.err, source.Escape(fmt.Sprintf("%s: %s left out: %d could not be read, %d cannot be written as %s",
			o.name, count(n, "record"), c.lost, c.unwritable, v.To.Word)))
	}
	return err
}

// toOutput writes to standard output. What was read before an error is good, and is there.
func (v *feedConvert) toOutput(c *conversion) error {
	out := bufio.NewWriter(v.feedFlags.streams.out)
	err := c.write(out)
	if failed := out.Flush(); failed != nil { // the first error stays
		return outputFailure(failed)
	}
	return err
}

func (v *feedConvert) toFile(c *conversion) error {
	if info, err := os.Lstat(v.Out); err == nil && !info.Mode().IsRegular() { // rule 4
		return &problem.Problem{
			Kind: download.Local, What: "convert", Where: v.Out, Why: errNoFile.Error(),
			Hint: "-o takes another name",
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

// A conversion is one feed that becomes another.
type conversion struct {
	*feedConvert
	ctx  context.Context
	from *opened

	lost, unwritable int
	ended            error
}

func (c *conversion) write(w io.Writer) error {
	now := feed.At(time.Now())
	var err error
	switch c.To.Word {
	case "lirs":
		err = lirs.Encode(w, c.records(func(r feed.Record) error { _, err := lirs.Append(nil, r); return err }))
	case "soif":
		err = soif.Encode(w, c.records(asSOIF))
	case "atom":
		err = newsfeed.EncodeAtom(w, c.atomHeader(now), c.records(asAtom))
	default:
		err = c.hinaDI(w, now)
	}
	if c.ended != nil {
		return c.failure(c.ctx, c.from.name, c.ended)
	}
	return err
}

func asSOIF(r feed.Record) error {
	_, err := soif.Append(nil, r)
	if err == soif.ErrNoWord {
		return errNoPlace
	}
	return err
}

func asAtom(r feed.Record) error {
	if !newsfeed.Writable(r) {
		return errNoPlace
	}
	return nil
}

var errNoPlace = errors.New("the format has no place for it")

// hinaDI writes hina-di, whose header says which charset has all of the text: for that the records are ranged over
// twice, and kept on disk meanwhile.
func (c *conversion) hinaDI(w io.Writer, now feed.Time) error {
	spool, err := os.CreateTemp("", "braid-*.feed")
	if err != nil {
		return problem.Local("convert", "temporary file", err)
	}
	defer spool.Close()
	if err := os.Remove(spool.Name()); err != nil {
		return err
	}
	if _, err := io.Copy(spool, io.LimitReader(c.from, c.limits().Bytes+1)); err != nil {
		return c.failure(c.ctx, c.from.name, err)
	}
	once := func(yield func(feed.Record) bool) {
		c.lost, c.unwritable = 0, 0 // of the last time
		if _, c.ended = spool.Seek(0, io.SeekStart); c.ended != nil {
			return
		}
		c.from.Reader = spool
		c.records(func(r feed.Record) error { _, err := hinadi.Fields(r); return err })(yield)
	}
	return hinadi.Encode(w, hinadi.Header{UserAgent: "braid", Date: now}, once)
}

// records are those of the feed that can be written.
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

// atomHeader names the feed by where it was, or what its file is called; the folder is private.
func (c *conversion) atomHeader(now feed.Time) newsfeed.AtomHeader {
	id, title := c.from.name, c.from.name
	if !feed.IsURI(id) {
		title = filepath.Base(title)
		id = "urn:x-antenna:" + url.PathEscape(title)
	}
	return newsfeed.AtomHeader{
		ID: id, Title: title, Author: "braid", Generator: "braid", Updated: now,
	}
}
