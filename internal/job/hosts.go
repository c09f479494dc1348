package job

import (
	"net/url"
	"strings"

	"braid/address"
)

// Hosts is the value of a flag with hosts that may be connected to even if a server or a document named the host.
type Hosts struct {
	address.Hosts
	words []string
}

// Set adds the hosts in s. Commas separate them, as in the environment.
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

// Typed returns v and the hosts of words that are URLs with an IP address, because the user typed these. A typed name
// is not added, because DNS decides which address it means.
func (v *Hosts) Typed(words ...string) address.Hosts {
	all := v.Clone()
	for _, word := range words {
		u, err := url.Parse(word)
		if err != nil { // a word that is never requested
			continue
		}
		if _, ok := address.ParseHost(u.Hostname()); ok {
			all.Add(u.Hostname())
		}
	}
	return all
}
