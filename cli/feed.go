package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/antenna/formats"
	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/source"
)

type feedFlags struct {
	streams
	*job.HTTP
	From       choice
	MaxSize    size
	MaxEntries plenty
	Timeout    duration // longest time without data from the server
	MaxTime    duration // longest time for an answer, not counting waits for the program that reads the output

	tokenRefused bool // the server refused GITHUB_TOKEN
}

func newFeedFlags(s streams) feedFlags {
	return feedFlags{streams: s, HTTP: &job.HTTP{}, Timeout: duration(30 * time.Second), MaxTime: duration(10 * time.Minute)}
}

// limits returns the limits that the user set, and the limits of rule 52 for those that are not set.
func (f *feedFlags) limits() feed.Limits {
	return feed.Limits{Bytes: int64(f.MaxSize), Entries: int(f.MaxEntries)}.OrDefault()
}

// An opened is a feed of a known format. Only one decoder at a time may read it.
type opened struct {
	io.Reader
	// name is the feed's name in messages.
	name   string
	format *feed.Format
	// base is the URL of the feed, or "" for a file.
	base string
	// gzipped reports whether the server compressed the feed for the transfer. Its file may be uncompressed.
	gzipped bool
	// stop returns an error if reading must stop.
	stop  func() error
	close func()
}

// open opens the feed that the only operand names: a file, a URL, or - for standard input.
func (f *feedFlags) open(ctx context.Context, command string, words []string) (*opened, error) {
	if len(words) != 1 {
		return nil, problem.Misuse("feed "+command, "needs exactly one file or URL",
			"write - for standard input; see braid feed "+command+" --help")
	}
	o, err := f.openOperand(ctx, words[0])
	if err != nil {
		return nil, err
	}
	o.stop = func() error { return context.Cause(ctx) }
	if err := f.sniff(ctx, o); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (f *feedFlags) openOperand(ctx context.Context, word string) (*opened, error) {
	if word == "-" {
		r := newInterruptible(ctx, f.in)
		return &opened{Reader: r, name: "standard input", close: r.Close}, nil
	}
	if !strings.Contains(word, "://") {
		return openFile(ctx, word)
	}
	u, err := job.ParseWebURL(word)
	if err != nil {
		return nil, err
	}
	p, err := f.fetch(ctx, u)
	if err != nil {
		return nil, err
	}
	return &opened{Reader: p, name: source.Mask(u), base: p.base(), gzipped: p.gzipped(), close: p.Close}, nil
}

func openFile(ctx context.Context, name string) (*opened, error) {
	file, err := os.Open(name)
	var info os.FileInfo
	if err == nil {
		if info, err = file.Stat(); err == nil && info.IsDir() {
			err = errFolder
		}
		if err != nil {
			file.Close()
		}
	}
	if err != nil {
		hint := ""
		if errors.Is(err, os.ErrNotExist) && job.LooksLikeHost(name) {
			hint = "https://" + job.MaskWord(name) + "?"
		}
		return nil, problem.Local("feed", name, err).WithHint(hint)
	}
	r := newInterruptible(ctx, file)
	return &opened{Reader: r, name: name, close: func() { r.Close(); file.Close() }}, nil
}

// An interruptible reader returns an error after ctx is done: at the next Read or, if r supports deadlines, during a Read.
type interruptible struct {
	ctx  context.Context
	r    io.Reader
	stop func() bool
}

func newInterruptible(ctx context.Context, r io.Reader) *interruptible {
	i := &interruptible{ctx: ctx, r: r, stop: func() bool { return true }}
	if f, ok := r.(*os.File); ok {
		// A file on disk has no deadlines, and its reads do not block.
		i.stop = context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	}
	return i
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	n, err := i.r.Read(p)
	if i.ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.Cause(i.ctx)
	}
	return n, err
}

// Close stops watching the context.
func (i *interruptible) Close() { i.stop() }

var errFolder = errors.New("is a folder")

func (f *feedFlags) sniff(ctx context.Context, o *opened) error {
	in, format, err := antenna.OpenFeed(o.Reader, f.limits())
	o.Reader = in
	forced, ok := formats.OfWord(f.From.Word)
	if reject, is := errors.AsType[*feed.RejectError](err); ok && (err == nil || is && reject.Code == antenna.CodeUnknownFormat) {
		o.format = forced
		return nil
	}
	if o.format = format; err != nil {
		return f.failure(ctx, o.name, err)
	}
	return nil
}

// decoder returns a decoder for the feed o. The decoder calls report for each violation. report may be nil.
func (f *feedFlags) decoder(o *opened, strict bool, report func(feed.Violation)) antenna.Decoder {
	return antenna.NewDecoder(o.format, o.Reader,
		feed.Options{Strict: strict, Limits: f.limits(), Stop: o.stop, Base: o.base, Report: func(v feed.Violation) {
			if report != nil && !(o.gzipped && v.Code == "not-gzip") {
				report(v)
			}
		}})
}

// limitCodes are the codes of the violations that mean an exceeded limit.
var limitCodes = []string{"too-large", "too-many-entries", "line-too-long", "compressed-too-well", "block-too-large",
	"entry-too-large", "nested-too-deep"}

// failure converts err, which stopped the reading of the feed called name, to a problem.
func (f *feedFlags) failure(ctx context.Context, name string, err error) error {
	if done, ok := errors.AsType[*problem.Problem](err); ok {
		return done
	}
	reject, ok := errors.AsType[*feed.RejectError](err)
	if !ok {
		return feedFailure(ctx, name, err)
	}
	fail := &problem.Problem{
		Kind: download.Protocol, What: "feed", Where: name,
		Why: strings.TrimPrefix(strings.TrimPrefix(reject.Error(), "feed: "), "feed, "),
	}
	switch {
	case slices.Contains(limitCodes, reject.Code):
		fail.Kind = download.Limit
		if reject.Code == "too-large" && strings.HasPrefix(reject.Why, "more than") { // and not a value of SOIF that is too large
			fail.Hint = "raise the limit with --max-size SIZE"
		} else if reject.Code == "too-many-entries" {
			fail.Hint = "raise the limit with --max-entries N"
		}
	case reject.Code == antenna.CodeUnknownFormat:
		fail.Hint = "name the format of the feed with --from FORMAT"
	}
	return fail
}
