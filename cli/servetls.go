package cli

import "crypto/tls"

// serverTLS is how a server shows who it is.
type serverTLS struct{ cert, key string }

// config is nil where the server speaks without TLS.
func (f *serverTLS) config() (*tls.Config, error) {
	switch {
	case f.cert == "" && f.key == "":
		return nil, nil
	case f.key == "":
		return nil, misuse("--tls-cert", "needs its private key", "--tls-key FILE")
	case f.cert == "":
		return nil, misuse("--tls-key", "is of a certificate, and there is none", "--tls-cert FILE")
	}
	pair, err := readKeyPair("--tls-cert", f.cert, "--tls-key", f.key)
	if err != nil {
		return nil, err
	}
	// Ranges of one file on several connections are what clients come for, so HTTP/2 is not offered.
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, nil
}
