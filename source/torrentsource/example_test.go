package torrentsource_test

import (
	"context"
	"fmt"
	"net/url"

	"braid/download"
	"braid/source/torrentsource"
)

// A Client of package download uses BitTorrent only if its Swarms field is set.
func ExamplePlug() {
	client := download.Client{Swarms: torrentsource.Plug("", false)} // accept no connections from peers
	fmt.Println(client.Peers(download.PeersOnly) == download.PeersOnly)
	client.Swarms = nil
	_, err := client.Get(context.Background(), download.Request{
		URL: &url.URL{Scheme: "bittorrent", Host: "82195266a2798edd8b18a7cb616e40efdf6c9366"}, Peers: download.PeersOnly,
	})
	fmt.Println(err)
	// Output:
	// true
	// download bittorrent://82195266a2798edd8b18a7cb616e40efdf6c9366: this program is built without BitTorrent
}
