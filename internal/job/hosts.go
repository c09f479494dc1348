package job

import (
	"net/url"
	"strings"

	"braid/address"
)

// Hosts is the value of a flag that names hosts to connect to whoever names them.
type Hosts struct {
	address.Hosts
	words []string
}

// Set adds what a user writes: one, or several with commas between, as the environment has them.
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

// Typed are these hosts and those of the URLs among words that are addresses: the user typed them. A name that the user
// typed is not the same as an address: DNS says what it means.
func (v *Hosts) Typed(words ...string) address.Hosts {
	all := v.Clone()
	for _, word := range words {
		u, err := url.Parse(word)
		if err != nil { // not one to be asked
			continue
		}
		if _, ok := address.ParseHost(u.Hostname()); ok {
			all.Add(u.Hostname())
		}
	}
	return all
}
