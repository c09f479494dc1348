package job

import "braid/download"

// A demand is the proof that a file needs. It follows from --require and the trusted keys and certificates:
// those of the run, else of an entry of a list, else of the settings of a site (see Sites.Apply), else of the
// general settings. A journal can raise it. Package download enforces it (see download.Require).
type demand struct {
	Require download.Require
	Said    bool // the run set it: the settings of a site do not count
}

// Demand returns the demand of a command with these flags. Keys that the run trusts override a requirement in
// the general settings.
func (s *Sites) Demand(word string, flags *Anchors) demand {
	said := word != "" && !s.general("require")
	trusts := flags.Given() && !s.general("key", "keyring", "pin", "smime-ca")
	if trusts && !said {
		word = ""
	}
	return demand{Requirement(word, flags.Given()), said || trusts}
}

// Requirement returns the proof that a word of --require demands. Without a word, trusted keys or
// certificates demand a signature. Without both, the command decides: get demands nothing, verify
// and watch demand a digest.
func Requirement(word string, trusts bool) download.Require {
	switch {
	case word == "digest":
		return download.RequireDigest
	case word == "signature", word == "" && trusts:
		return download.RequireSignature
	}
	return download.RequireNothing
}
