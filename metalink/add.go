package metalink

import (
	"cmp"
	"slices"
)

// Add adds mirrors to f and sorts all mirrors of f with Sort. Among mirrors of equal rank, those that f already had
// come first. Add ignores mirrors without a URL, the Metalink server itself and URLs that f already has. Beyond
// MaxMirrors, the last mirrors are ignored. The previous slice of mirrors is not modified.
func (f *File) Add(mirrors ...Mirror) {
	seen := map[string]string{}
	for _, m := range f.Mirrors {
		seen[place(m.URL)] = listed
	}
	if f.Server != nil {
		noteSelf(seen, f.Server)
	}
	f.Mirrors = slices.Clone(f.Mirrors)
	for _, m := range mirrors {
		if m.URL == nil {
			continue
		}
		if reason, again := seen[place(m.URL)]; again {
			f.ignore(m.URL.String(), reason)
			continue
		}
		seen[place(m.URL)] = listed
		f.Mirrors = append(f.Mirrors, m)
	}
	Sort(f.Mirrors)
	for len(f.Mirrors) > MaxMirrors {
		last := len(f.Mirrors) - 1
		f.ignore(f.Mirrors[last].URL.String(), tooMany)
		f.Mirrors = f.Mirrors[:last]
	}
}

// addDocuments adds the documents that f does not have yet, in order of priority.
func (f *File) addDocuments(more []MetaURL) {
	f.Documents = slices.Clone(f.Documents)
	byPriority := func(a, b MetaURL) int { return cmp.Compare(cmp.Or(a.Pri, NoPriority), cmp.Or(b.Pri, NoPriority)) }
	for _, d := range slices.SortedStableFunc(slices.Values(more), byPriority) {
		f.addDocument(d, d.URL.String())
	}
}

// addDocument adds a document with the URL target. RFC 6249, section 4, requires "a type parameter that indicates the
// MIME type". A document without a type is ignored, because its use is unknown.
func (f *File) addDocument(d MetaURL, target string) {
	same := func(o MetaURL) bool {
		return o.Type == d.Type && o.Name == d.Name && o.URL.String() == d.URL.String()
	}
	switch {
	case d.Type == "":
		f.ignore(target, "a document without a type")
	case slices.ContainsFunc(f.Documents, same):
		f.ignore(target, listed)
	case len(f.Documents) >= maxDocuments:
		f.ignore(target, "beyond the first 50 documents")
	default:
		f.Documents = append(f.Documents, d)
	}
}

// ignore counts an ignored target. The first maxIgnored targets are recorded with the reason.
func (f *File) ignore(target, reason string) {
	f.IgnoredCount++
	if len(f.Ignored) < maxIgnored {
		f.Ignored = append(slices.Clip(f.Ignored), Ignored{Target: shown(target), Reason: reason})
	}
}
