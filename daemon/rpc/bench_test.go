package rpc

import (
	"fmt"
	"testing"
)

// BenchmarkTell measures the request that clients send every second for a long queue.
func BenchmarkTell(b *testing.B) {
	h := New(newEngine(), Options{Root: "/srv/files"})
	for i := range 1000 {
		result[string](b, h, "aria2.addUri", []string{fmt.Sprintf("https://mirror.example.net/pub/file%05d.iso", i)})
	}
	for name, body := range map[string]string{
		"all keys": object("aria2.tellWaiting", 1, 0, 1000),
		"some keys": object("aria2.tellWaiting", 1, 0, 1000, []string{"gid", "status", "totalLength", "completedLength",
			"downloadSpeed"}),
		"nothing": object("aria2.tellActive", 1),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				say(h, body)
			}
		})
	}
}
