package follow

import (
	"errors"
	"net/url"

	"braid/internal/lookup"
	"braid/verify"
)

// mostLists limits the digest lists that Look requests.
const mostLists = 4

// Look sets In and Unread of the assets, because a list of several files may not name the newest file yet. read returns
// the data of the list at a URL. Lists that are named after one file are not read, nor those on hosts other than that of
// the project.
func (s *Source) Look(assets []Asset, read func(u *url.URL) ([]byte, error)) {
	lists := map[string]*lookup.List{} // by URL in the feed; nil for a list that was not read
	for i := range assets {
		a := &assets[i]
		for n, name := range a.Lists {
			c := lookup.Named(name, a.Name)
			l, known := lists[a.links[n]]
			if !c.Own && !known && len(lists) < mostLists {
				l = s.list(c, a.links[n], read)
				lists[a.links[n]] = l
			}
			if c.Own || l != nil && names(l, a.Name) {
				a.In = name
				break
			}
			a.Unread = a.Unread || l == nil
		}
	}
}

// list reads a list. It returns nil if the list cannot be read.
func (s *Source) list(c lookup.Candidate, link string, read func(u *url.URL) ([]byte, error)) *lookup.List {
	u, err := url.Parse(s.urlOf(link))
	if err != nil || !s.has(u) {
		return nil
	}
	data, err := read(u)
	if err != nil {
		return nil
	}
	l, err := c.Read(data)
	if err != nil {
		return &lookup.List{} // another kind of file, which names no files
	}
	return l
}

func names(l *lookup.List, file string) bool {
	_, err := l.Claims(file, verify.HTTP)
	return !errors.Is(err, lookup.ErrNotInIt)
}
