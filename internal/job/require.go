package job

import (
	"net/url"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
)

// keyFlags are the flags that name trusted keys and certificates.
var keyFlags = []string{"key", "keyring", "pin", "smime-ca"}

// A demand is the proof that is required of a file. It follows from --require and from the trusted keys and
// certificates. The first of these that sets it applies: the run, an entry of a list, the settings of a site (see
// Sites.Apply), the general settings. A journal can raise it. Package download enforces it; see download.Require.
type demand struct {
	Require download.Require
	Said    bool // the run has set Require, so settings of sites cannot change it
}

// Demand returns the demand that follows from word, the value of --require, and flags. If the run sets keys, these
// override a requirement in the general settings.
func (s *Sites) Demand(word string, flags *Anchors) demand {
	said := word != "" && !s.general("require")
	trusts := flags.Given() && !s.general(keyFlags...)
	if trusts && !said {
		word = ""
	}
	return demand{Requirement(word, flags.Given()), said || trusts}
}

// ProofAt returns the value of --require and the keys that apply to u. Where the run sets no value, the settings of the
// site of u apply. The caller writes the results into a configuration.
func (s *Sites) ProofAt(u *url.URL, word string, flags Anchors) (string, Anchors, error) {
	d := s.Demand(word, &flags)
	if flags.Given() && !s.general(keyFlags...) && (word == "" || s.general("require")) {
		word = "" // keys that the run sets override a requirement in the general settings
	}
	rules, err := s.of(u)
	if rules == nil || err != nil {
		return word, flags, err
	}
	if site := s.Settings.File.Site(u); rules.trusts && (!flags.Given() || s.general(keyFlags...)) {
		own := keysOf(site)
		own.Signature = flags.Signature
		flags = own
	}
	if !d.Said && (rules.require != "" || rules.trusts) {
		word = rules.require
	}
	return word, flags, nil
}

// Requirement returns the proof that word, a value of --require, requires. If word is empty, a signature is required if keys
// or certificates are trusted, and otherwise nothing. For verify and watch, the caller requires a digest instead of nothing.
func Requirement(word string, trusts bool) download.Require {
	switch {
	case word == "digest":
		return download.RequireDigest
	case word == "signature", word == "" && trusts:
		return download.RequireSignature
	}
	return download.RequireNothing
}

// DemandMore adds the proof that another party demands for r, by a word of --require or "". It cannot lower the proof
// that r already demands.
func DemandMore(r *download.Request, word string) error {
	if word == "" {
		return nil
	}
	c := option.ChoiceValue{Words: option.WordsOf("require")}
	if err := c.Set(word); err != nil {
		return problem.Misuse("require", err.Error(), "")
	}
	r.Trust.Require = max(r.Trust.Require, Requirement(word, false))
	return RequireKeys(r)
}
