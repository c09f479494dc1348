package smime

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// The limits of a file of roots. All public authorities together need only a fraction.
const (
	maxRootsSize = 4 << 20
	maxRoots     = 2000
)

// ParseRoots parses certificates in PEM, of authorities or of trusted signers. Text around the PEM blocks is ignored.
// Any other block is an error that states the number of the block, so that no root is dropped silently.
func ParseRoots(data []byte) ([]*x509.Certificate, error) {
	if len(data) > maxRootsSize {
		return nil, fmt.Errorf("the file has %d bytes, and the limit is %d", len(data), maxRootsSize)
	}
	begun := bytes.Count(data, []byte("-----BEGIN "))
	if begun > maxRoots {
		return nil, fmt.Errorf("the file has %d certificates, more than %d", begun, maxRoots)
	}
	var roots []*x509.Certificate
	for rest := data; ; {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		root, err := parseRoot(block)
		if err != nil {
			return nil, fmt.Errorf("root %d: %w", len(roots)+1, err)
		}
		roots, rest = append(roots, root), after
	}
	switch {
	case len(roots) < begun: // pem.Decode skips unreadable blocks
		return nil, fmt.Errorf("%d certificates begin, but only %d can be read as PEM", begun, len(roots))
	case len(roots) == 0:
		return nil, errors.New("the file has no certificate in PEM (-----BEGIN CERTIFICATE-----)")
	}
	return roots, nil
}

func parseRoot(block *pem.Block) (*x509.Certificate, error) {
	if block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("the file has a PEM block of type %s, not CERTIFICATE", printable(block.Type))
	}
	root, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	if err := strength(root.PublicKey); err != nil {
		return nil, fmt.Errorf("%q: %v: %s", distinguishedName(root.RawSubject), err.Code, err.Reason)
	}
	return root, nil
}
