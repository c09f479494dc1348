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
	mode   choice
	ratio  ratio
	time   duration
	noDHT  bool
	listen listenAddress
}

func (p *peerFlags) targets() targets {
	return targets{
		"bittorrent":  &p.mode,
		"seed-ratio":  &p.ratio,
		"seed-time":   &p.time,
		"peer-listen": &p.listen,
		"no-dht":      &p.noDHT,
	}
}

func (p *peerFlags) peers() download.Peers {
	switch p.mode.Word {
	case peersOff:
		return download.PeersOff
	case peersOnly:
		return download.PeersOnly
	}
	return download.PeersAuto
}

func (p *peerFlags) seeds() bool { return p.ratio > 0 || p.time > 0 }

// address is where peers may connect to.
func (p *peerFlags) address() string {
	switch {
	case p.listen != "":
		return string(p.listen)
	case p.mode.Word == peersOff || p.mode.Word != peersOnly && !p.seeds():
		return ""
	}
	return ":0"
}

func (p *peerFlags) apply(r *download.Request) {
	r.Peers, r.SeedRatio, r.SeedTime = p.peers(), float64(p.ratio), time.Duration(p.time)
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
