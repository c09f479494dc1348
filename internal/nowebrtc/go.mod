module github.com/pion/webrtc/v4

go 1.26.0

require github.com/pion/datachannel v1.5.9

require github.com/pion/logging v0.2.3
