package news

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"
	ext "github.com/mmcdole/gofeed/extensions"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// maxPlaces limits the URLs that an item states for its files besides enclosures.
const maxPlaces = 32

// A copies is a file of an item with all URLs that the item states for it: podcast:alternateEnclosure, with its
// podcast:source and podcast:integrity, or an attachment of JSON Feed with a sha256.
type copies struct {
	urls   []string // as the feed spells them
	digest string   // Subresource Integrity, or sha256:HEX; empty if not stated
}

// copiesOf returns the files of an item with their URLs and digests.
func copiesOf(item *gofeed.Item) (all []copies) {
	n := 0
	for _, prefix := range slices.Sorted(maps.Keys(item.Extensions)) {
		for name, list := range item.Extensions[prefix] {
			if !strings.EqualFold(name, "alternateEnclosure") {
				continue
			}
			for _, e := range list {
				c := copies{digest: integrityOf(e)}
				for _, s := range childrenOf(e, "source") {
					if uri := strings.TrimSpace(s.Attrs["uri"]); uri != "" && n < maxPlaces {
						c.urls = append(c.urls, uri)
						n++
					}
				}
				all = append(all, c)
			}
		}
	}
	for _, e := range item.Enclosures {
		if digest := item.Custom[attached+e.URL]; digest != "" {
			all = append(all, copies{[]string{e.URL}, digest})
		}
	}
	return all
}

// integrityOf returns the digest of an alternate enclosure. A signature (pgp-signature) is not a digest.
func integrityOf(e ext.Extension) string {
	for _, x := range childrenOf(e, "integrity") {
		if strings.EqualFold(x.Attrs["type"], "sri") {
			return strings.TrimSpace(x.Attrs["value"])
		}
	}
	return ""
}

func childrenOf(e ext.Extension, name string) (list []ext.Extension) {
	for n, children := range e.Children {
		if strings.EqualFold(n, name) {
			list = append(list, children...)
		}
	}
	return list
}

// proof returns what the copies state about the file at key: the digest, and other URLs of the file.
func (d *Decoder) proof(all []copies, key string) (fields []feed.Field) {
	for _, c := range all {
		keys := make([]string, len(c.urls))
		for i, u := range c.urls {
			keys[i], _ = feed.Key(d.place(u))
		}
		if !slices.Contains(keys, key) {
			continue
		}
		if c.digest != "" {
			fields = append(fields, feed.Field{Name: feed.DigestField, Value: d.text(c.digest)})
		}
		for i, u := range c.urls {
			if keys[i] != "" && keys[i] != key {
				fields = append(fields, feed.Field{Name: feed.MirrorField, Value: d.place(u)})
			}
		}
	}
	return fields
}

// place resolves spelled to an http or https URL, or returns "". An invalid URL is no violation, because players use
// another URL.
func (d *Decoder) place(spelled string) string {
	text, _ := unmark(strings.TrimSpace(spelled))
	if ref, err := url.Parse(text); d.base != nil && err == nil && !ref.IsAbs() {
		text = d.base.ResolveReference(ref).String()
	}
	uri, _, _ := feedtext.URI(text)
	if !feed.IsWeb(uri) || len(uri) > feed.MaxURL {
		return ""
	}
	return uri
}

// attached is the prefix of the keys of gofeed.Item.Custom under which digestsOf puts the digests of attachments.
const attached = "sha256 of "

// digestsOf returns the digests of the attachments of a JSON document with one item.
func digestsOf(document []byte) map[string]string {
	var read struct {
		Items []struct {
			Attachments []struct {
				URL    string `json:"url"`
				SHA256 string `json:"sha256"`
				Own    string `json:"_sha256"` // members that a feed adds begin with _ (JSON Feed 1.1)
			} `json:"attachments"`
		} `json:"items"`
	}
	if json.Unmarshal(document, &read) != nil || len(read.Items) != 1 {
		return nil
	}
	digests := map[string]string{}
	for _, a := range read.Items[0].Attachments {
		if digits := a.SHA256 + a.Own; len(digits) == 64 {
			digests[attached+a.URL] = "sha256:" + digits
		}
	}
	return digests
}
