package rpc

import (
	"encoding/base64"
	"fmt"
	"strings"

	"braid/daemon/queue"
)

// active plays the calls for a running download, and for a paused and a removed one.
func (s *session) active() {
	slow := []string{s.files + "/slow.bin", s.files + "/slow.bin?2"}
	g, _ := s.call("aria2.addUri", slow, map[string]any{
		"split": "2", "max-connection-per-server": "2", "min-split-size": "1M", "header": []string{"X-A: 1", "X-B: 2"},
		"user-agent": "x/1",
	}, 0).(string)
	s.reach(g, queue.Active)
	for _, method := range []string{"tellStatus", "getFiles", "getUris", "getServers", "getPeers", "getOption",
		"removeDownloadResult"} {
		s.call("aria2."+method, g)
	}
	s.call("aria2.tellActive")
	s.call("aria2.tellActive", []string{"gid", "status"})
	s.call("aria2.tellActive", "gid")
	s.call("aria2.getGlobalStat")
	s.call("aria2.changeOption", g, map[string]string{"max-download-limit": "100K"})
	s.call("aria2.changePosition", g, 0, "POS_SET")
	for _, params := range [][]any{
		{2, []string{}, slow}, {0, []string{}, slow}, {"1", []string{}, slow}, {1}, {1, []string{}}, {1, []string{}, slow, -1},
		{1, slow[1:], []string{s.files + "/slow.bin?3"}}, {1, []string{s.files + "/other"}, []string{s.files + "/slow.bin?4"}, 0},
	} {
		s.call("aria2.changeUri", append([]any{g}, params...)...)
	}
	s.reach(g, queue.Active)
	s.call("aria2.pause", g)
	s.reach(g, queue.Paused)
	s.call("aria2.tellStatus", g)
	s.call("aria2.unpause", g)
	s.reach(g, queue.Active)
	s.call("aria2.forceRemove", g)
	s.reach(g, queue.Removed)
	s.call("aria2.tellStatus", g)
	s.named("forget", "aria2.removeDownloadResult", with(g)...)
	s.named("forget twice", "aria2.removeDownloadResult", with(g)...)

	g, _ = s.call("aria2.addUri", []string{s.files + "/404"}, map[string]string{}, 0).(string)
	s.reach(g, queue.Failed)
	s.call("aria2.tellStatus", g)
}

// lists plays the calls for the waiting and the stopped downloads.
func (s *session) lists(first string) {
	for _, list := range []string{"aria2.tellWaiting", "aria2.tellStopped"} {
		s.call(list)
		s.call(list, "0", "1")
		s.call(list, 0, -1)
		for _, page := range [][]any{{0, 2}, {-1, 2}, {1000, 2}, {-1000, 2}, {0, 0}} {
			s.call(list, append(page, []string{"gid"})...)
		}
		s.call(list, 0, 1)
	}
	_ = first
}

// globals plays the calls for all downloads.
func (s *session) globals() {
	s.call("aria2.getGlobalOption")
	s.call("aria2.changeGlobalOption")
	for _, options := range []any{
		map[string]string{"max-concurrent-downloads": "3"}, map[string]string{"max-concurrent-downloads": "x"},
		map[string]string{"nonsense": "1"},
		map[string]string{}, "x",
	} {
		s.call("aria2.changeGlobalOption", options)
	}
	for _, method := range []string{"pauseAll", "unpauseAll", "pauseAll", "getGlobalStat", "saveSession", "purgeDownloadResult"} {
		s.call("aria2." + method)
		if method == "unpauseAll" && s.settle != nil {
			s.settle()
		}
	}
}

func (s *session) multicalls() {
	s.named("multicall", "system.multicall", []any{
		inner("aria2.getSessionInfo", with()...), inner("aria2.nope", with()...), inner("aria2.tellStatus",
			with("0123456789abcdef")...),
		inner("system.listNotifications"), map[string]any{"methodName": "system.listNotifications"},
		inner("system.multicall", []any{}), map[string]any{"params": []any{}}, 3,
	})
	s.named("multicall without tokens", "system.multicall", []any{inner("aria2.getSessionInfo"),
		inner("aria2.getSessionInfo", "token:wrong")})
	s.named("multicall of none", "system.multicall", []any{})
	s.named("multicall without", "system.multicall")
	s.named("multicall of text", "system.multicall", "x")
	s.named("multicall with a token of its own", "system.multicall", with([]any{})...)
}

// documents plays the calls for torrents, magnet links and Metalink documents.
func (s *session) documents() {
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	paused := map[string]string{"pause": "true"}
	for _, bad := range []any{"!!!", b64("hello"), "", 3} {
		s.call("aria2.addTorrent", bad)
	}
	s.call("aria2.addTorrent")
	s.call("aria2.addMetalink")
	s.call("aria2.addMetalink", 3)

	two := fmt.Sprintf(`<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">
<file name="a"><size>65536</size><url>%[1]s/fast.a</url></file><file name="b"><size>65536</size><url>%[1]s/fast.b</url></file></metalink>`, s.files)
	s.named("metalink of two", "aria2.addMetalink", with(b64(two), paused)...)
	s.named("the last of two", "aria2.tellWaiting", with(-1, 1)...)
	one, _, _ := strings.Cut(two, `<file name="b">`)
	s.named("metalink of one", "aria2.addMetalink", with(b64(one+"</metalink>"), paused)...)
	s.named("the one", "aria2.tellWaiting", with(-1, 1)...)

	g, _ := s.named("torrent", "aria2.addTorrent", with(b64(torrent), []string{}, map[string]string{"pause": "true",
		"select-file": "1"})...).(string)
	s.named("status of a torrent", "aria2.tellStatus", with(g)...)
	s.named("files of a torrent", "aria2.getFiles", with(g)...)
	s.named("URIs of a torrent", "aria2.getUris", with(g)...)

	g, _ = s.call("aria2.addUri", []string{"magnet:?xt=urn:btih:0123456789012345678901234567890123456789&dn=foo"},
		paused).(string)
	s.named("status of a magnet link", "aria2.tellStatus", with(g)...)
}

// torrent has two files, a of 16384 bytes and b/c of 10.
const torrent = "d8:announce27:http://127.0.0.1:1/announce4:infod5:filesld6:lengthi16384e4:pathl1:aeed6:lengthi10e4:pathl1:b1:ceee" +
	"4:name3:dir12:piece lengthi16384e6:pieces40:0000000000000000000000000000000000000000ee"
