// Package webrtc is a stub of Pion's WebRTC, which the torrent library needs to compile. WebTorrent is switched off
// (torrentsource), so none of this code is used. The stub saves 3 MB and fifteen modules.
package webrtc

import (
	"errors"

	"github.com/pion/datachannel"
	"github.com/pion/logging"
)

var errNone = errors.New("this program is built without WebRTC")

type (
	SettingEngine struct{ LoggerFactory logging.LoggerFactory }
	API           struct{}
	Configuration struct{ ICEServers []ICEServer }
	ICECandidate  struct {
		Address string
		Port    uint16
	}
	ICECandidatePair    struct{ Local, Remote *ICECandidate }
	PeerConnectionState int
	StatsReport         map[string]any
	OfferOptions        struct{}
	AnswerOptions       struct{}
	DataChannelInit     struct{}
	DataChannel         struct{}
	PeerConnection      struct{}
)

type ICEServer struct {
	URLs       []string
	Username   string
	Credential any
}

type SessionDescription struct {
	Type string `json:"type"`
	SDP  string `json:"sdp"`
}

func (*SettingEngine) DetachDataChannels() {}

func WithSettingEngine(SettingEngine) func(*API) { return nil }

func NewAPI(...func(*API)) *API { return &API{} }

func (*API) NewPeerConnection(Configuration) (*PeerConnection, error) { return nil, errNone }

func GatheringCompletePromise(*PeerConnection) <-chan struct{} { return nil }

func (PeerConnectionState) String() string { return "" }

func (*PeerConnection) Close() error                                      { return nil }
func (*PeerConnection) OnConnectionStateChange(func(PeerConnectionState)) {}
func (*PeerConnection) OnDataChannel(func(*DataChannel))                  {}
func (*PeerConnection) SetLocalDescription(SessionDescription) error      { return errNone }
func (*PeerConnection) SetRemoteDescription(SessionDescription) error     { return errNone }
func (*PeerConnection) LocalDescription() *SessionDescription             { return nil }
func (*PeerConnection) CreateOffer(*OfferOptions) (s SessionDescription, err error) {
	return s, errNone
}
func (*PeerConnection) CreateAnswer(*AnswerOptions) (s SessionDescription, err error) {
	return s, errNone
}
func (*PeerConnection) CreateDataChannel(string, *DataChannelInit) (*DataChannel, error) {
	return nil, errNone
}
func (*PeerConnection) GetStats() StatsReport                                { return nil }
func (*PeerConnection) SCTP() *PeerConnection                                { return nil }
func (*PeerConnection) Transport() *PeerConnection                           { return nil }
func (*PeerConnection) ICETransport() *PeerConnection                        { return nil }
func (*PeerConnection) GetSelectedCandidatePair() (*ICECandidatePair, error) { return nil, errNone }
func (*DataChannel) OnOpen(func())                                           {}
func (*DataChannel) OnClose(func())                                          {}
func (*DataChannel) Close() error                                            { return nil }
func (*DataChannel) Detach() (datachannel.ReadWriteCloser, error)            { return nil, errNone }
