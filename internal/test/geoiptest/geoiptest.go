// Package geoiptest writes small databases of addresses for tests, in MaxMind's format (MaxMind DB File Format
// Specification 2.0).
package geoiptest

import (
	"encoding/binary"
	"net/netip"
)

// Database returns the content of a database that maps networks to countries, under key, which is usually "country".
// Networks must not overlap.
func Database(networks map[netip.Prefix]string, key string) []byte {
	t := tree{{}}
	var data []byte
	for network, country := range networks {
		a := network.Addr().As16()
		bits := network.Bits()
		if network.Addr().Is4() { // IPv4 is in the lowest 32 bits of IPv6
			a, bits = netip.AddrFrom4(network.Addr().As4()).As16(), bits+96
			a[10], a[11] = 0, 0
		}
		t.add(a, bits, leaf(len(data)))
		data = append(data, object(text(key), object(text("iso_code"), text(country)))...)
	}
	file := append(t.encode(), make([]byte, 16)...)
	file = append(file, data...)
	file = append(file, "\xab\xcd\xefMaxMind.com"...)
	return append(file, object(
		text("binary_format_major_version"), uint16Of(2), text("binary_format_minor_version"), uint16Of(0),
		text("build_epoch"), []byte{0x00 | 4, 2, 0x66, 0, 0, 0}, text("database_type"), text("Test-Country"),
		text("description"), object(), text("ip_version"), uint16Of(6), text("languages"), []byte{0, 4},
		text("node_count"), binary.BigEndian.AppendUint32([]byte{6<<5 | 4}, uint32(len(t))), text("record_size"), uint16Of(24),
	)...)
}

// tree has two records for each node: 0 for none, the index of a node, or a negative number for a leaf.
type tree [][2]int

// leaf returns the record for an offset in the data section.
func leaf(offset int) int { return -1 - offset }

func (t *tree) add(a [16]byte, bits, record int) {
	at := 0
	for i := range bits {
		side := int(a[i/8] >> (7 - i%8) & 1)
		if i == bits-1 {
			(*t)[at][side] = record
			return
		}
		if (*t)[at][side] == 0 {
			*t = append(*t, [2]int{})
			(*t)[at][side] = len(*t) - 1
		}
		at = (*t)[at][side]
	}
}

func (t tree) encode() (out []byte) {
	for _, node := range t {
		for _, record := range node {
			switch {
			case record == 0:
				record = len(t)
			case record < 0:
				record = len(t) + 16 + (-1 - record)
			}
			out = append(out, byte(record>>16), byte(record>>8), byte(record))
		}
	}
	return out
}

// object returns a map of alternating keys and values.
func object(parts ...[]byte) []byte {
	out := []byte{7<<5 | byte(len(parts)/2)}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// text returns a string of less than 29 bytes.
func text(s string) []byte { return append([]byte{2<<5 | byte(len(s))}, s...) }

func uint16Of(n byte) []byte { return []byte{5<<5 | 1, n} }
