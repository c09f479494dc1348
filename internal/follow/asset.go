package follow

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/release"
	"braid/internal/lookup"
	"braid/verify"
	"braid/verify/signatures"
)

// Options determine which file of a project is wanted.
type Options struct {
	// Asset is a pattern of names in which * is any text, or the template of a URL. Empty: all.
	Asset  string
	Choice release.Choice
}

// An Asset is a file of the newest release that has such a file.
type Asset struct {
	Name, URL string
	Size      int64
	Release   release.Release
	Template  *release.Template
	// Releases is the number of wanted versions in the feed that have such a file.
	Releases int
	// Digest is the digest in the feed. Digests are those that a watch uses, because the feed states them about the file
	// at URL. Lists and Signatures are names of files of the release.
	Digest     string
	Digests    []string
	Lists      []string
	Signatures []string
	// Unsearched reports that Lists was not looked for, because too many files fit.
	Unsearched bool
	// In is the first of Lists that names the file, or empty. Unread reports that a list was not read. Look sets both.
	In     string
	Unread bool

	tag   string   // in the feed
	links []string // URLs of Lists in the feed
}

// IsTemplate reports whether the pattern of names is a template of a URL.
func IsTemplate(asset string) bool { return strings.Contains(asset, "://") }

// A family is a file with all its versions.
type family struct {
	template *release.Template
	releases []release.Release
	records  map[string]*feed.Record // by the URLs of the releases
}

// A Found is the result of Find.
type Found struct {
	// Assets are the wanted files of the newest release, by name.
	Assets []Asset
	// Versions is the number of versions in the feed. Wanted is how many of them Options.Choice accepts.
	Versions, Wanted int
	// Elsewhere is a host of files that are ignored, because the host is not that of the project.
	Elsewhere string
}

// Find returns the wanted files that the records of the feed report.
func (s *Source) Find(records []feed.Record, o Options) (*Found, error) {
	found := &Found{}
	families, err := s.families(records, o.Asset, found)
	if err != nil {
		return nil, err
	}
	var assets []Asset
	wanted := map[string]bool{}
	for _, f := range families {
		newer, _ := o.Choice.Newer(f.releases, "")
		if len(newer) == 0 {
			continue
		}
		a := f.asset(newer[0])
		a.Releases = distinct(newer, map[string]bool{})
		found.Wanted = distinct(newer, wanted)
		if fits, err := a.fits(o.Asset); err != nil {
			return nil, err
		} else if fits {
			assets = append(assets, a)
		}
	}
	found.Assets = newest(withoutProofs(assets))
	slices.SortFunc(found.Assets, func(a, b Asset) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.URL, b.URL))
	})
	prove(found.Assets, records)
	return found, nil
}

// families groups the records by the templates of their URLs.
func (s *Source) families(records []feed.Record, asset string, found *Found) (list []*family, err error) {
	all, seen := map[string]*family{}, map[string]bool{}
	for i := range records {
		r := &records[i]
		var of release.Release
		var f *family
		if IsTemplate(asset) {
			f, err = familyOf(all, asset)
			if err != nil {
				return nil, err
			}
			of, _ = f.template.Of(*r)
		} else {
			f, of = s.guess(all, r)
		}
		if of.URL == "" {
			continue
		}
		u, err := url.Parse(of.URL)
		if err != nil || namesDigest(u) {
			continue
		}
		if !IsTemplate(asset) && !s.has(u) {
			found.Elsewhere = u.Hostname()
			continue
		}
		seen[of.Version] = true
		f.releases = append(f.releases, of)
		f.records[of.URL] = r
	}
	for _, f := range all {
		list = append(list, f)
	}
	found.Versions = len(seen)
	return list, nil
}

// namesDigest reports whether the text of a URL has a digest of its file. The feed chose the text, so the digest would
// prove nothing. But a download would treat the digest as one that the user gave.
func namesDigest(u *url.URL) bool {
	digests, err := verify.OfURL(u)
	return err != nil || len(digests) > 0
}

// familyOf returns the family of a template.
func familyOf(all map[string]*family, text string) (*family, error) {
	if f := all[text]; f != nil {
		return f, nil
	}
	t, err := release.ParseTemplate(text, release.Patterns{})
	if err != nil {
		return nil, err
	}
	all[text] = &family{template: t, records: map[string]*feed.Record{}}
	return all[text], nil
}

// guess returns the family of a record with the URL of a file, and its release. The URL of the release is empty if the
// record has no version.
func (s *Source) guess(all map[string]*family, r *feed.Record) (*family, release.Release) {
	link, ok := feed.Key(s.urlOf(r.URL))
	if _, isPage := r.Get("page"); !ok || isPage || r.Format == feed.News {
		return nil, release.Release{}
	}
	version := versionOf(r.Tag)
	if r.Tag == "" {
		version = versionIn(nameOf(link))
	}
	text, ok := guess(link, r.Tag, version)
	if !ok {
		return nil, release.Release{}
	}
	f, err := familyOf(all, text)
	if err != nil {
		return nil, release.Release{}
	}
	found, ok := f.template.FileOf(link)
	if !ok || found.Version != version || found.URL != link {
		return nil, release.Release{}
	}
	found.Tag, found.Date, found.Pre = cmp.Or(r.Tag, found.Tag), r.LastModified, r.PreRelease
	return f, found
}

// distinct adds the versions of releases to a set, and returns the size of the set.
func distinct(list []release.Release, set map[string]bool) int {
	for _, r := range list {
		set[r.Version] = true
	}
	return len(set)
}

func (f *family) asset(r release.Release) Asset {
	record := f.records[r.URL]
	a := Asset{Name: nameOf(r.URL), URL: r.URL, Size: record.Size, Release: r, Template: f.template, tag: record.Tag}
	a.Digest, _ = record.Get("digest")
	of, _ := feed.Key(r.URL)
	if at, ok := feed.Key(record.URL); ok && at == of {
		a.Digests, _ = record.Proof()
	}
	return a
}

// mostCompared limits how many names of lists are compared with names of files.
const mostCompared = 1_000_000

// prove sets the lists and signatures beside each asset: the names of files with the same tag.
func prove(assets []Asset, records []feed.Record) {
	names, links := map[string][]string{}, map[[2]string]string{}
	for i := range records {
		r, name := &records[i], nameOf(records[i].URL)
		names[r.Tag], links[[2]string{r.Tag, name}] = append(names[r.Tag], name), r.URL
	}
	beside, lists, left := map[string]*lookup.Index{}, map[string]int{}, mostCompared
	for i := range assets {
		a := &assets[i]
		x := beside[a.tag]
		if x == nil {
			x = lookup.NewIndex(names[a.tag])
			beside[a.tag], lists[a.tag] = x, len(x.Candidates(""))
		}
		for _, ending := range endings {
			if name := a.Name + ending; x.Has(name) && !slices.Contains(a.Signatures, name) {
				a.Signatures = append(a.Signatures, name)
			}
		}
		if left -= lists[a.tag]; left < 0 {
			a.Unsearched = true
			continue
		}
		for _, c := range x.Candidates(a.Name) {
			a.Lists, a.links = append(a.Lists, c.Name), append(a.links, links[[2]string{a.tag, c.Name}])
		}
	}
}

// fits reports whether the name of the file matches a pattern.
func (a *Asset) fits(pattern string) (bool, error) {
	if pattern == "" || IsTemplate(pattern) {
		return true, nil
	}
	fits, err := path.Match(pattern, a.Name)
	if err != nil {
		return false, fmt.Errorf("not a pattern of file names: %s", pattern)
	}
	return fits, nil
}

// newest returns all without the tagged files of older releases. Files without a tag, as in an index, may be different
// programs with versions of their own, so all such files stay.
func newest(all []Asset) []Asset {
	version := ""
	for _, a := range all {
		if a.tag != "" && (version == "" || release.Compare(a.Release.Version, version) > 0) {
			version = a.Release.Version
		}
	}
	return slices.DeleteFunc(all, func(a Asset) bool { return a.tag != "" && release.Compare(a.Release.Version, version) < 0 })
}

// nameOf returns the last segment of a URL, decoded.
func nameOf(link string) string {
	link, _, _ = strings.Cut(link, "?")
	name := link[strings.LastIndexByte(link, '/')+1:]
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// endings has the endings of the names of signatures.
var endings = func() (list []string) {
	for _, k := range signatures.All() {
		list = append(list, k.Beside...)
	}
	return list
}()

// proofEnds are the ends of the names of files that prove or describe other files.
var proofEnds = []string{".sign", ".gpg", ".sha1", ".md5", ".pem", ".crt", ".sigstore", ".sigstore.json", ".intoto.jsonl",
	".sbom", ".sbom.json", ".spdx.json", ".cdx.json", ".attestation", ".provenance", ".torrent", ".meta4", ".metalink", ".zsync"}

// withoutProofs returns the assets that do not prove or describe other files. Without such assets, it returns all.
func withoutProofs(all []Asset) []Asset {
	var files []Asset
	for _, a := range all {
		ends := func(ending string) bool { return strings.HasSuffix(strings.ToLower(a.Name), ending) }
		isList := len(lookup.NewIndex([]string{a.Name}).Candidates("")) > 0
		if !isList && !slices.ContainsFunc(proofEnds, ends) && !slices.ContainsFunc(endings, ends) {
			files = append(files, a)
		}
	}
	if len(files) == 0 {
		return all
	}
	return files
}

// Pattern returns the pattern of names that matches the file in all versions. ok is false if the pattern has characters
// that have a meaning in a shell or in a pattern.
func Pattern(a *Asset) (pattern string, ok bool) {
	name := nameOf(a.Template.String())
	for _, field := range []string{"{tag}", "{version}"} {
		name = strings.ReplaceAll(name, field, "*")
	}
	unsafe := func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._+~*", c)
	}
	return name, strings.IndexFunc(name, unsafe) < 0
}
