package job

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"braid/download"
	"braid/internal/option"
)

const (
	peersAuto = "auto"
	peersOnly = "only"
	PeersOff  = "off"
)

// Peers holds options about BitTorrent.
type Peers struct {
	Bittorrent option.ChoiceValue
	SeedRatio  Ratio
	SeedTime   SeedTime
	NoDHT      bool
	PeerListen ListenAddress
}

func (p *Peers) peers() download.Peers {
	switch p.Bittorrent.Word {
	case PeersOff:
		return download.PeersOff
	case peersOnly:
		return download.PeersOnly
	}
	return download.PeersAuto
}

// Seeds reports whether complete files are uploaded to peers.
func (p *Peers) Seeds() bool {
	return !p.SeedTime.none && (p.SeedRatio > 0 || p.SeedTime.Duration > 0)
}

// A SeedTime is the value of a flag: how long a complete file is uploaded to peers. 0 means that it is not uploaded,
// even if a ratio is given, as in aria2.
type SeedTime struct {
	time.Duration
	none bool
}

// Set implements flag.Value.
func (v *SeedTime) Set(s string) error {
	if n, err := strconv.ParseFloat(strings.TrimRight(s, "smh"), 64); err == nil && n == 0 {
		*v = SeedTime{none: true}
		return nil
	}
	return (*option.TimeValue)(&v.Duration).Set(s)
}

// address returns the address to listen on for connections from peers, or "" if peers cannot connect.
func (p *Peers) address() string {
	switch {
	case p.PeerListen != "":
		return string(p.PeerListen)
	case p.Bittorrent.Word == PeersOff || p.Bittorrent.Word != peersOnly && !p.Seeds():
		return ""
	}
	return ":0"
}

func (p *Peers) apply(r *download.Request) {
	if r.Peers = p.peers(); p.Seeds() {
		r.Seed.Ratio, r.Seed.Time = float64(p.SeedRatio), p.SeedTime.Duration
	}
}

// A Ratio is the value of a flag: the ratio of uploaded to downloaded bytes.
type Ratio float64

// Set implements flag.Value.
func (v *Ratio) Set(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f <= 1000) {
		return errors.New("write a number above 0, such as 1.5")
	}
	*v = Ratio(f)
	return nil
}

func (v *Ratio) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 64) }

// A ListenAddress is the value of a flag with an address of this machine to listen on.
type ListenAddress string

// Set implements flag.Value.
func (v *ListenAddress) Set(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host != "" && net.ParseIP(host) == nil {
		return errors.New("write :PORT or ADDRESS:PORT")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strings.HasPrefix(port, "+") || n > 65535 {
		return errPort
	}
	*v = ListenAddress(s)
	return nil
}

func (v *ListenAddress) String() string { return string(*v) }
