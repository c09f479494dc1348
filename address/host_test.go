package address

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// TestHostForms_Rule63 checks that a host counts as an address in every form that some program accepts, and that a name
// that is never public is refused from a server.
func TestHostForms_Rule63(t *testing.T) {
	for host, want := range map[string]struct {
		scope           Scope
		direct, proxied bool // whether it is accepted as public
	}{
		"2130706433": {Loopback, false, false}, "0x7f.1": {Loopback, false, false}, "0X7F000001": {Loopback, false, false},
		"017700000001": {Loopback, false, false}, "127.1": {Loopback, false, false}, "127.0.1": {Loopback, false, false},
		"127.0.0.1.": {Loopback, false, false}, "0177.0.0.0x1": {Loopback, false, false}, "0": {Unspecified, false, false},
		"0x": {Unspecified, false, false}, "10.1": {Private, false, false}, "0xA9FEA9FE": {LinkLocal, false, false},
		"192.168.257": {Private, false, false}, "3232235777": {Private, false, false},
		"::ffff:7f00:1": {Loopback, false, false}, "::FFFF:127.0.0.1": {Loopback, false, false},
		"::7f00:1":        {Loopback, false, false},
		"64:ff9b::7f00:1": {Loopback, false, false}, "2002:7f00:1::": {Loopback, false, false},
		"fe80::1%eth0":             {LinkLocal, false, false},
		"\uff11\uff12\uff17.0.0.1": {Loopback, false, false}, "127\u30020\u30020\u30021": {Loopback, false, false},
		"\u2460\u2461\u2466.1": {Loopback, false, false},
		// 8.0.0.1 for some programs, 10.0.0.1 for others
		"010.0.0.1":  {Public, false, false},
		"127.0.0.09": {Loopback, false, false}, "0127.0.0.1": {Public, false, false}, // 87.0.0.1
		"1.2.3.4.5": {Reserved, false, false}, "4294967296": {Reserved, false, false}, "127.0.0.256": {Reserved, false, false},
		"1.256.1": {Reserved, false, false}, "mirror.0x7f": {Reserved, false, false}, "a.1": {Reserved, false, false},
		"1..1": {Reserved, false, false}, "18446744073709551617": {Reserved, false, false}, "1.2.3.-4": {0, true, true},
		"localhost": {Loopback, true, false}, "LOCALHOST.": {Loopback, true, false}, "a.b.localhost": {Loopback, true, false},
		"\uff4cocalhost": {Loopback, true, false}, "ip6-localhost": {Loopback, true, false},
		"localhost.localdomain": {Loopback, true, false},
		"nas.local":             {LinkLocal, true, false}, "vault.internal.": {Private, true, false},
		"router":       {Private, true, false},
		"tv.home.arpa": {Private, true, false}, "x.localdomain": {Private, true, false},
		"8.8.8.8": {Public, true, true}, "134744072": {Public, true, true}, "0x08080808": {Public, true, true},
		"2001:4860::8888":      {Public, true, true},
		"notlocalhost.example": {0, true, true}, "localhost.example.org": {0, true, true}, "10.example.org": {0, true, true},
		"0x7f.example": {0, true, true}, "b\u00fccher.example": {0, true, true}, "127.0.0.1.nip.example": {0, true, true},
		"0xg": {Private, true, false}, "a..example": {0, true, true}, "": {0, true, true}, ".": {0, true, true},
	} {
		if s, ok := OfHost(host); s != want.scope || ok != (want.scope != 0) {
			t.Errorf("%q is %v, %v, want %v", host, s, ok, want.scope)
		}
		p := Policy{Scope: Public}
		direct, proxied := p.CheckHost(host), p.CheckProxied(host)
		if (direct == nil) != want.direct || (proxied == nil) != want.proxied {
			t.Errorf("%q: %v, by a proxy %v", host, direct, proxied)
		}
		if p.Scope = Anywhere; p.CheckProxied(host) != nil {
			t.Errorf("%q is refused to the user: %v", host, p.CheckProxied(host))
		}
	}
}

// TestHostError checks that the error has the host as it was written, and the address that it means.
func TestHostError(t *testing.T) {
	for host, want := range map[string]string{
		"0x7f.1":      `leads to "0x7f.1", which is 127.0.0.1, a loopback address, and was`,
		"10.0.0.1":    "leads to 10.0.0.1, a private address",
		"x.localhost": "leads to x.localhost, a loopback address", "300.1.1.1": "leads to 300.1.1.1, a reserved address",
	} {
		err := Policy{Scope: Public}.CheckProxied(host)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestAllowedForms checks that allowing the loopback network, or a name, also allows localhost and other forms of it.
func TestAllowedForms(t *testing.T) {
	var h Hosts
	for _, word := range []string{"127.0.0.0/8", "0xa.1", "vault.internal"} {
		if err := h.Add(word); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	for _, host := range []string{"localhost", "a.localhost", "127.1", "2130706433", "10.0.0.1", "167772161", "Vault.Internal."} {
		if err := h.Policy(host, Public).CheckProxied(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := h.Policy("10.2", Public).CheckHost("10.2"); err == nil {
		t.Error("another address is allowed")
	}
}

// FuzzParseHost checks that a host that is an address has the same scope in the form that package netip writes.
func FuzzParseHost(f *testing.F) {
	f.Add("0x7f.1")
	f.Add("017700000001.")
	f.Add("fe80::1%eth0")
	f.Fuzz(func(t *testing.T, host string) {
		a, ok := ParseHost(host)
		if !ok {
			return
		}
		s, known := OfHost(host)
		again, err := netip.ParseAddr(a.String())
		if err != nil || again != a || !known || s != Of(a) {
			t.Errorf("%q: %v, %v, %v", host, a, s, err)
		}
	})
}
