package metalink

import "slices"

// Add adds mirrors to those of f and puts all in order (Sort); of equals those that f had come first. Addresses
// of the Metalink server itself (C2) and those that f has already are ignored, and so are those without
// a URL and the last in order of more than MaxMirrors (rule 36). The mirrors that f had are not changed in place.
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
			f.Ignore(m.URL.String(), reason)
			continue
		}
		seen[place(m.URL)] = listed
		f.Mirrors = append(f.Mirrors, m)
	}
	Sort(f.Mirrors)
	for len(f.Mirrors) > MaxMirrors {
		last := len(f.Mirrors) - 1
		f.Ignore(f.Mirrors[last].URL.String(), tooMany)
		f.Mirrors = f.Mirrors[:last]
	}
}

// Ignore counts a target that is not taken, and says why among the first MaxIgnored.
func (f *File) Ignore(target, reason string) {
	f.IgnoredCount++
	if len(f.Ignored) < MaxIgnored {
		f.Ignored = append(slices.Clip(f.Ignored), Ignored{Target: shown(target), Reason: reason})
	}
}
