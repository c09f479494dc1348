package news

import (
	"io"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"braid/antenna/feed"
	"braid/internal/test/feedtest"
)

const folder = "../../testdata/vectors/antenna-news/"

// decode chooses the decoder by the name of the file.
func decode(name string, r io.Reader, o feed.Options) (iter.Seq2[feed.Record, error], func() feed.Input) {
	if strings.HasPrefix(filepath.Base(name), "sitemap-") {
		d := NewSitemapDecoder(r, o)
		return d.Records(), d.Input
	}
	d := NewDecoder(r, o)
	return d.Records(), d.Input
}

func TestVectors(t *testing.T) {
	feedtest.Vectors(t, folder+"[^s]*", Format.Decode)
	feedtest.Vectors(t, folder+"sitemap-*", SitemapFormat.Decode)
}
