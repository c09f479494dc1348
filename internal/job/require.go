package job

import "braid/download"

// A demand is what must be proven of a file. It is made of --require and of the keys and certificates that are trusted:
// by the run, else by an entry of a list, else by the settings of a site (sites.apply, which get, parts resume and
// watch call), else by those of everything. What a journal says raises it. Package download enforces it
// (download.Require).
type demand struct {
	Require download.Require
	Said    bool // by this run: what the settings say of a site is less
}

// Demand is that of a command with these flags. Keys that this run trusts are more than what the settings demand of everything.
func (s *Sites) Demand(word string, flags *Anchors) demand {
	said := word != "" && !s.general("require")
	trusts := flags.Given() && !s.general("keyring", "pin", "smime-ca")
	if trusts && !said {
		word = ""
	}
	return demand{Requirement(word, flags.Given()), said || trusts}
}

// Requirement is what a word of --require demands. Without one, trusted keys or certificates demand a signature (rule
// 47). What is demanded without both is for the command to say: nothing for get, a digest for verify and watch.
func Requirement(word string, trusts bool) download.Require {
	switch {
	case word == "digest":
		return download.RequireDigest
	case word == "signature", word == "" && trusts:
		return download.RequireSignature
	}
	return download.RequireNothing
}
