package antenna

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/inflate"
	"braid/antenna/lirs"
	"braid/antenna/news"
	"braid/antenna/soif"
)

// A decode reads one feed, record by record, in memory that does not grow. Its last pair has an error if the feed is broken or none.
type decode func(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error]

var decoders = map[Kind]decode{
	HinaDI: func(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
		return hinadi.NewDecoder(r, o).Records()
	},
	LIRS: func(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
		return lirs.NewDecoder(r, o).Records()
	},
	SOIF: func(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
		return soif.NewDecoder(r, o).Records()
	},
	News: func(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
		return news.NewDecoder(r, o).Records()
	},
	Sitemap: func(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
		return news.NewSitemapDecoder(r, o).Records()
	},
}

// sniffed is how much of a feed is looked at to tell its kind.
const sniffed = 4 << 10

// open takes up to two layers of gzip off a feed, that of its way and its own, and finds its kind if it is Auto.
func open(r io.Reader, kind Kind, limits feed.Limits) (io.Reader, Kind, error) {
	in := bufio.NewReaderSize(inflate.NewReader(inflate.NewReader(r, limits), limits), sniffed)
	if kind != Auto {
		return in, kind, nil
	}
	head, err := in.Peek(sniffed)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, kind, err
	}
	if kind = kindOf(head); kind == Auto {
		return nil, kind, &feed.RejectError{Code: "unknown-format", Why: "no feed of a known format: " + beginning(head)}
	}
	return in, kind, nil
}

// beginning shows how an answer begins, for who has to find out what it is.
func beginning(head []byte) string {
	if len(head) == 0 {
		return "it is empty"
	}
	return fmt.Sprintf("it begins with %.40q", head)
}

// kindOf tells the kind of a feed by what it begins with, or Auto if that is none.
func kindOf(head []byte) Kind {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	kind := Auto
	for {
		line, rest, more := bytes.Cut(head, []byte("\n"))
		line = bytes.TrimSpace(line)
		switch {
		case len(line) > 0 && line[0] == '#':
			kind = LIRS // for now: no other has comments
		case len(line) > 0:
			return kindOfLine(line, head)
		}
		if !more {
			return kind
		}
		head = rest
	}
}

// kindOfLine tells the kind by the first line that is neither blank nor a comment of LIRS; head is from there on.
func kindOfLine(line, head []byte) Kind {
	lower := bytes.ToLower(line)
	for _, begins := range []struct {
		with string
		kind Kind
	}{
		{"hina/", HinaDI}, {"user-agent:", HinaDI}, {"url:", HinaDI}, // with and without header (repair H2)
		{"lirs,", LIRS}, {"@", SOIF}, {"content-type:", SOIF}, {"content-transfer-encoding:", SOIF}, {"mime-version:", SOIF},
		{"{", News},
	} {
		if bytes.HasPrefix(lower, []byte(begins.with)) {
			return begins.kind
		}
	}
	if line[0] == '<' {
		return kindOfXML(head)
	}
	return Auto
}

// kindOfXML tells the kind by the first element, behind declaration, comments and instructions.
func kindOfXML(head []byte) Kind {
	for {
		_, rest, ok := bytes.Cut(head, []byte("<"))
		if !ok || len(rest) == 0 {
			return Auto
		}
		if head = rest; bytes.HasPrefix(rest, []byte("!--")) {
			if _, head, ok = bytes.Cut(rest, []byte("-->")); !ok {
				return Auto
			}
			continue
		}
		if rest[0] == '?' || rest[0] == '!' {
			continue
		}
		end := bytes.IndexAny(rest, " \t\r\n/>")
		if end < 0 {
			return Auto
		}
		return kindOfElement(string(rest[:end]))
	}
}

func kindOfElement(name string) Kind {
	if i := bytes.IndexByte([]byte(name), ':'); i >= 0 {
		name = name[i+1:]
	}
	switch {
	case slices.Contains([]string{"rss", "feed", "RDF"}, name):
		return News
	case slices.Contains([]string{"urlset", "sitemapindex"}, name):
		return Sitemap
	}
	return Auto
}
