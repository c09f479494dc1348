package address

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestOf_Rule63 checks the scopes of rule 63 at the edges of each range.
func TestOf_Rule63(t *testing.T) {
	for _, tt := range []struct {
		want  Scope
		addrs string
	}{
		{Public, "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 " +
			"169.255.0.0"},
		{Public, "172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.18.0.1 223.255.255.255 2001:db8::1 " +
			"2606:4700::1111 fbff::1 fe00::1"},
		{Loopback, "127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::127.0.0.1 2002:7f00:1::"},
		{Unspecified, "0.0.0.0 0.255.255.255 :: ::ffff:0.0.0.0 ::ffff:0.1.2.3 64:ff9b::"},
		{Private, "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 fc00:: fdff:ffff::1 " +
			"fec0::1 fd00::1%eth0"},
		{Private, "::ffff:10.0.0.5 ::ffff:0:10.0.0.5 ::10.0.0.5 64:ff9b::10.0.0.5 64:ff9b::a00:5 64:ff9b:1::10.0.0.5 " +
			"2002:a00:5::1 2002:c0a8:101::"},
		{LinkLocal, "169.254.0.0 169.254.169.254 169.254.255.255 fe80::1 febf::1 fe80::1%eth0 ::ffff:169.254.169.254 " +
			"2002:a9fe:a9fe::"},
		{Shared, "100.64.0.0 100.127.255.255 ::ffff:100.64.0.1"},
		{Multicast, "224.0.0.1 239.255.255.255 ff02::1 ff02::1%eth0"},
		{Reserved, "240.0.0.0 255.255.255.255"},
		{Public, "::ffff:1.1.1.1 64:ff9b::1.1.1.1 64:ff9b:1::1.1.1.1 2002:101:101::"},
	} {
		for word := range strings.FieldsSeq(tt.addrs) {
			if got := Of(netip.MustParseAddr(word)); got != tt.want {
				t.Errorf("%s is %v, want %v", word, got, tt.want)
			}
		}
	}
	if got := Of(netip.Addr{}); got != 0 {
		t.Errorf("no address is %v", got)
	}
}

// FuzzOf checks that an IPv4 address has the same scope in each of its IPv6 forms, and that every address has a scope
// with a name.
func FuzzOf(f *testing.F) {
	for _, a := range []uint32{0, 1, 0x7f000001, 0x0a000005, 0xa9fea9fe, 0xc0a80101, 0xffffffff, 0x01010101} {
		f.Add(a, uint64(0xfe80_0000_0000_0000), uint64(1))
	}
	f.Add(uint32(0), uint64(0x0064_ff9b_0001_0000), uint64(0x0a000005))
	f.Fuzz(func(t *testing.T, v4 uint32, high, low uint64) {
		plain := netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, v4)))
		want := Of(plain)
		mapped := plain.As16()
		translated := [16]byte{8: 0xff, 9: 0xff}
		nat64, local, sixToFour := [16]byte{0, 0x64, 0xff, 0x9b}, [16]byte{0, 0x64, 0xff, 0x9b, 0, 1}, [16]byte{0x20, 0x02, 15: 1}
		for _, p := range []*[16]byte{&translated, &nat64, &local} {
			copy(p[12:], mapped[12:])
		}
		copy(sixToFour[2:], mapped[12:])
		for _, b := range [][16]byte{mapped, translated, nat64, local, sixToFour} {
			if a := netip.AddrFrom16(b); Of(a) != want || Of(a.WithZone("x")) != want {
				t.Errorf("%v is %v, and %v is %v", a, Of(a), plain, want)
			}
		}
		any6 := netip.AddrFrom16([16]byte(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, high), low)))
		for _, a := range []netip.Addr{plain, any6} {
			s := Of(a)
			if s == 0 || s&(s-1) != 0 || strings.Contains(s.String(), "%") || s&Anywhere == 0 {
				t.Errorf("%v has the scope %#x, %v", a, uint16(s), s)
			}
			if (Policy{Scope: s}).Check(a) != nil || (Policy{Scope: Anywhere}).Check(a) != nil ||
				(Policy{Scope: Anywhere &^ s}).Check(a) == nil {
				t.Errorf("%v: a policy does not agree", a)
			}
		}
	})
}

func TestPolicy_Rule63(t *testing.T) {
	private := netip.MustParseAddr("10.0.0.5")
	err := Policy{Scope: Public | Loopback}.Check(private)
	var e *Error
	if !errors.As(err, &e) || e.Addr != private {
		t.Fatalf("error is %v", err)
	}
	if want := "leads to 10.0.0.5, a private address, and was named by a server elsewhere"; err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
	if err := (Policy{}).Check(netip.MustParseAddr("1.1.1.1")); err == nil {
		t.Error("the zero policy allows something")
	}
	if err := (Policy{Scope: Public}).Check(netip.Addr{}); err == nil {
		t.Error("what has no address is public")
	}
	for host, want := range map[string]bool{"10.0.0.5": false, "::ffff:10.0.0.5": false, "fe80::1%eth0": false,
		"1.1.1.1": true, "nas.internal": true, "localhost": true, "": true} {
		if got := (Policy{Scope: Public}).CheckHost(host) == nil; got != want {
			t.Errorf("host %q: %v", host, got)
		}
	}
	if s, ok := OfHost("::1"); !ok || s != Loopback {
		t.Errorf("::1 is %v, %v", s, ok)
	}
	if _, ok := OfHost("mirror.example.org"); ok {
		t.Error("a name has a scope")
	}
}

func TestHosts(t *testing.T) {
	var h Hosts
	for _, word := range []string{"Cellar.Example.", "10.0.0.0/8", "[fd00::7]", "169.254.1.1", "::ffff:192.168.1.1"} {
		if err := h.Add(word); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	for _, word := range []string{"", ".", "http://h/", "h:80", "a b", "10.0.0.0/33", "user@h", "*.example"} {
		if err := h.Add(word); err == nil {
			t.Errorf("%q is a host", word)
		}
	}
	allowed := func(host, addr string) bool {
		return h.Policy(host, Public).Check(netip.MustParseAddr(addr)) == nil
	}
	for _, addr := range []string{"10.9.9.9", "::ffff:10.9.9.9", "64:ff9b::10.9.9.9", "fd00::7", "fd00::7%eth0",
		"169.254.1.1", "192.168.1.1", "1.1.1.1"} {
		if !allowed("other.example", addr) {
			t.Errorf("%s is refused", addr)
		}
	}
	for _, addr := range []string{"127.0.0.1", "fd00::8", "169.254.1.2", "192.168.1.2"} {
		if allowed("other.example", addr) || allowed("sub.cellar.example", addr) {
			t.Errorf("%s is allowed", addr)
		}
		if !allowed("cellar.EXAMPLE", addr) {
			t.Errorf("%s is refused for the host that is allowed", addr)
		}
	}
	c := h.Clone()
	c.Add("1.2.3.4")
	c.Add("other.example")
	if slices.Contains(h.names, "other.example") || len(h.nets)+1 != len(c.nets) || allowed("other.example", "127.0.0.1") {
		t.Error("a copy is no copy")
	}
}

func TestScopeString(t *testing.T) {
	for s, want := range map[Scope]string{Public: "a public address",
		Of(netip.MustParseAddr("10.0.0.1")): "a private address", Public | 1<<15: "addresses"} {
		if got := s.String(); !strings.HasPrefix(got, want) || s == Public && got != want {
			t.Errorf("%#x is %q, want %q", uint16(s), got, want)
		}
	}
}
