package job

import (
	"net/url"

	"braid/download"
)

// keyFlags are the flags that name trusted keys and certificates.
var keyFlags = []string{"key", "keyring", "pin", "smime-ca"}

// A demand is the proof that a file needs. It follows from --require and from the trusted keys and certificates. The
// first that sets it applies: the run, an entry of a list, the settings of a site (see Sites.Apply), the general
// settings. A journal can raise it. Package download enforces it (see download.Require).
type demand struct {
	Require download.Require
	Said    bool // the run set Require: the settings of a site do not count
}

// Demand returns the demand of a command with these flags. Keys that the run trusts override a requirement in
// the general settings.
func (s *Sites) Demand(word string, flags *Anchors) demand {
	said := word != "" && !s.general("require")
	trusts := flags.Given() && !s.general(keyFlags...)
	if trusts && !said {
		word = ""
	}
	return demand{Requirement(word, flags.Given()), said || trusts}
}

// ProofAt returns the word of --require and the flags about keys that apply to the URL u. Values that the run does not
// set are from the site of u. The caller writes the result into a configuration.
func (s *Sites) ProofAt(u *url.URL, word string, flags Anchors) (string, Anchors, error) {
	d := s.Demand(word, &flags)
	if flags.Given() && !s.general(keyFlags...) && (word == "" || s.general("require")) {
		word = "" // keys of the run override a requirement in the general settings
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

// Requirement returns the proof that a word of --require requires. Without a word, trusted keys or certificates require
// a signature. Without both, the result is download.RequireNothing, as for get; verify and watch then require a digest.
func Requirement(word string, trusts bool) download.Require {
	switch {
	case word == "digest":
		return download.RequireDigest
	case word == "signature", word == "" && trusts:
		return download.RequireSignature
	}
	return download.RequireNothing
}
