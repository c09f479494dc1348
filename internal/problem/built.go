package problem

import (
	"strings"

	"braid/download"
)

// Reasons of problems with parts that this program was built without.
const (
	NoFleet   = "this braid was built without fleets and object stores (tag nofleet)"
	NoTorrent = "this braid was built without BitTorrent (tag notorrent)"
)

// LeftOut returns the problem of a part that this program was built without. what is NoFleet or NoTorrent.
func LeftOut(where, what string) *Problem {
	return Misuse(where, what, "use the full build, which has them")
}

// TellLeftOut adds to p that this program was built without BitTorrent, if the download failed for that reason.
func (p *Problem) TellLeftOut() {
	if strings.Contains(p.Why, download.NoBitTorrent) {
		p.Kind, p.Hint = download.Usage, "use the full build, which has it"
		p.Why = strings.Replace(p.Why, download.NoBitTorrent, NoTorrent, 1)
	}
}
