// Package formats has the table of the formats of feeds. A new format is a package with a [feed.Format] and a row here.
// No other code of the package depends on one of the formats.
//
//	format, ok := formats.OfWord("rss")
//	for r, err := range format.Decode(body, feed.Options{}).Records() { ... }
package formats

import (
	"slices"
	"strconv"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/indexpage"
	"braid/antenna/lirs"
	"braid/antenna/news"
	"braid/antenna/releaseapi"
	"braid/antenna/soif"
)

// table lists the formats in the order in which they are named, detected and published.
var table = []*feed.Format{
	&hinadi.Format,
	&lirs.Format,
	&soif.Format,
	&news.Format,
	&news.SitemapFormat,
	&indexpage.Format,
	&releaseapi.Format,
}

// All returns the formats in the order of the table.
func All() []*feed.Format { return slices.Clone(table) }

// Of returns the format with a number. It reports false for feed.Own and for numbers of later versions.
func Of(id feed.FormatID) (*feed.Format, bool) {
	return Find(func(f *feed.Format) bool { return f.ID == id })
}

// OfWord returns the format that has word as its name or as another name.
func OfWord(word string) (*feed.Format, bool) {
	return Find(func(f *feed.Format) bool { return f.Name == word || slices.Contains(f.Also, word) })
}

// OfType returns the format with a media type, and the common name of a feed of that type.
func OfType(media string) (f *feed.Format, name string, ok bool) {
	for _, f := range table {
		for _, t := range f.Types {
			if t.Type == media {
				return f, t.Name, true
			}
		}
	}
	return nil, "", false
}

// Find returns the first format for which is returns true.
func Find(is func(*feed.Format) bool) (*feed.Format, bool) {
	i := slices.IndexFunc(table, is)
	if i < 0 {
		return nil, false
	}
	return table[i], true
}

// Name returns the name of a format. For a number without a format here, as in a store of a later version, it makes up
// a name.
func Name(id feed.FormatID) string {
	if f, ok := Of(id); ok {
		return f.Name
	}
	if id == feed.Own {
		return "own"
	}
	return "format " + strconv.Itoa(int(id))
}

// Names returns the names of the formats.
func Names() (names []string) {
	for _, f := range table {
		names = append(names, f.Name)
	}
	return names
}

// Words returns all words that OfWord knows: first the names, then the other words.
func Words() []string {
	words := Names()
	for _, f := range table {
		words = append(words, f.Also...)
	}
	return words
}

// Explained returns the names in a line, with the other words for them: "lirs, news (also rss, atom)".
func Explained() string {
	var list []string
	for _, f := range table {
		name := f.Name
		if len(f.Also) > 0 {
			name += " (also " + strings.Join(f.Also, ", ") + ")"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// Writings returns the Writing of each format that can be written.
func Writings() (list []*feed.Writing) {
	for _, f := range table {
		if f.Writing != nil {
			list = append(list, f.Writing)
		}
	}
	return list
}

// Written returns the names of the formats that can be written.
func Written() (words []string) {
	for _, w := range Writings() {
		words = append(words, w.Name)
	}
	return words
}
