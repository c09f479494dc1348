package job

import (
	"net/url"
	"strings"

	"braid/address"
)

// Hosts is the value of a flag that names hosts. They may be contacted even if a server or a document named them.
type Hosts struct {
	address.Hosts
	words []string
}

// Set adds the hosts in s, which are separated by commas, as in the environment.
func (v *Hosts) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		if err := v.Add(strings.TrimSpace(word)); err != nil {
			return err
		}
		v.words = append(v.words, word)
	}
	return nil
}

func (v *Hosts) String() string { return strings.Join(v.words, ",") }

// Typed returns v, with the hosts added that the user typed as IP addresses of URLs in words. A host name is not added,
// because DNS decides where it leads.
func (v *Hosts) Typed(words ...string) address.Hosts {
	all := v.Clone()
	for _, word := range words {
		u, err := url.Parse(word)
		if err != nil { // the word is never requested
			continue
		}
		if _, ok := address.ParseHost(u.Hostname()); ok {
			all.Add(u.Hostname())
		}
	}
	return all
}
