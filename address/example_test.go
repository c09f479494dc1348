package address_test

import (
	"fmt"
	"net/netip"

	"braid/address"
)

// An address that a server on the Internet names must be on the Internet too, unless the user has allowed it.
func ExampleHosts() {
	var allowed address.Hosts
	if err := allowed.Add("10.1.0.0/16"); err != nil {
		fmt.Println(err)
		return
	}
	named := address.Public | address.Of(netip.MustParseAddr("192.0.2.1"))
	for _, a := range []string{"198.51.100.7", "10.1.2.3", "10.2.3.4", "127.0.0.1"} {
		fmt.Println(a, allowed.Policy("mirror.example.net", named).Check(netip.MustParseAddr(a)))
	}
	// Output:
	// 198.51.100.7 <nil>
	// 10.1.2.3 <nil>
	// 10.2.3.4 leads to 10.2.3.4, a private address, and was named by a server elsewhere
	// 127.0.0.1 leads to 127.0.0.1, a loopback address, and was named by a server elsewhere
}
