package cli

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"braid/download"
)

const (
	peersAuto = "auto"
	peersOnly = "only"
	peersOff  = "off"
)

// peerFlags say what BitTorrent peers have to do with a download.
type peerFlags struct {
	Bittorrent choice
	SeedRatio  ratio
	SeedTime   seedTime
	NoDHT      bool
	PeerListen listenAddress
}

func (p *peerFlags) peers() download.Peers {
	switch p.Bittorrent.Word {
	case peersOff:
		return download.PeersOff
	case peersOnly:
		return download.PeersOnly
	}
	return download.PeersAuto
}

func (p *peerFlags) seeds() bool {
	return !p.SeedTime.none && (p.SeedRatio > 0 || p.SeedTime.Duration > 0)
}

// A seedTime is the value of a flag for how long peers get the file. 0 is not at all, whatever the ratio, as aria2 has it.
type seedTime struct {
	time.Duration
	none bool
}

func (v *seedTime) Set(s string) error {
	if n, err := strconv.ParseFloat(strings.TrimRight(s, "smh"), 64); err == nil && n == 0 {
		*v = seedTime{none: true}
		return nil
	}
	return (*duration)(&v.Duration).Set(s)
}

// address is where peers may connect to.
func (p *peerFlags) address() string {
	switch {
	case p.PeerListen != "":
		return string(p.PeerListen)
	case p.Bittorrent.Word == peersOff || p.Bittorrent.Word != peersOnly && !p.seeds():
		return ""
	}
	return ":0"
}

func (p *peerFlags) apply(r *download.Request) {
	if r.Peers = p.peers(); p.seeds() {
		r.SeedRatio, r.SeedTime = float64(p.SeedRatio), p.SeedTime.Duration
	}
}

// A ratio is the value of a flag for how much of something.
type ratio float64

func (v *ratio) Set(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f <= 1000) {
		return errors.New("write a number above 0, such as 1.5")
	}
	*v = ratio(f)
	return nil
}

func (v *ratio) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 64) }

// A listenAddress is the value of a flag for an address of this machine.
type listenAddress string

func (v *listenAddress) Set(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host != "" && net.ParseIP(host) == nil {
		return errors.New("write :PORT or ADDRESS:PORT")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strings.HasPrefix(port, "+") || n > 65535 {
		return errPort
	}
	*v = listenAddress(s)
	return nil
}

func (v *listenAddress) String() string { return string(*v) }
