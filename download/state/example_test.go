package state_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"braid/download/state"
	"braid/verify"
)

// The server's facts about a file make the next request for it conditional. A missing digest that the server
// gave before is noticed.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	u := &url.URL{Scheme: "https", Host: "example.org", Path: "/latest.iso"}
	claims, err := verify.FromHeader(map[string][]string{"Digest": {"SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="}}, verify.HTTPS)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, file := &state.Store{Dir: dir}, filepath.Join(dir, "latest.iso")
	s.KeepPin(u, state.PinOf(claims))
	s.Learn("example.org:443", state.Speed{Rate: 5e6})
	if err := s.KeepVersion(file, u, state.Version{ETag: `"1"`, Host: "example.org:443", Size: 11,
		Digest: claims[0].Digest}); err != nil {
		fmt.Println(err)
		return
	}
	s.Save()

	s = &state.Store{Dir: dir} // the next run
	v, ok := s.Version(file, u)
	fmt.Println(v.ETag, v.Size, ok)
	fmt.Println(s.Speed("example.org:443").Rate)
	fmt.Println(s.CheckPin(u, state.PinOf(claims)))
	fmt.Println(s.CheckPin(u, state.PinOf(nil)))
	// Output:
	// "1" 11 true
	// 5e+06
	// <nil>
	// this URL gave sha-256 over https before, but now gives no digest
}
