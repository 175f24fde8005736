package bootstrap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"
)

const (
	caLifetime      = 10 * 365 * 24 * time.Hour
	servingLifetime = 365 * 24 * time.Hour
	// renewBefore is the time a serving certificate must still be valid to be used again.
	renewBefore = 30 * 24 * time.Hour
	// clockSkew is how far another machine's clock may be behind ours.
	clockSkew = time.Hour
)

// ensureCertificates makes the certificate authority and the serving certificate it signs.
func ensureCertificates(files *Files, hosts []string, now time.Time) error {
	ca, err := loadPair(files.CACert, files.CAKey)
	if err != nil {
		return err
	}
	if ca == nil || now.Add(servingLifetime).After(ca.Leaf.NotAfter) {
		if ca, err = newAuthority(files, now); err != nil {
			return err
		}
	}
	serving, err := loadPair(files.ServingCert, files.ServingKey)
	if err != nil {
		return err
	}
	if serving != nil && usable(serving.Leaf, ca.Leaf, hosts, now) {
		return nil
	}
	return newServing(files, ca, hosts, now)
}

// usable reports whether cert was issued by ca, is valid for a while, and covers all hosts.
func usable(cert, ca *x509.Certificate, hosts []string, now time.Time) bool {
	if cert.CheckSignatureFrom(ca) != nil || now.Before(cert.NotBefore) || now.Add(renewBefore).After(cert.NotAfter) {
		return false
	}
	for _, host := range hosts {
		if cert.VerifyHostname(host) != nil {
			return false
		}
	}
	return true
}

func newAuthority(files *Files, now time.Time) (*tls.Certificate, error) {
	template, err := certTemplate("celgate local CA", now, caLifetime)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	if err := issue(template, nil, files.CACert, files.CAKey); err != nil {
		return nil, err
	}
	return loadPair(files.CACert, files.CAKey)
}

func newServing(files *Files, ca *tls.Certificate, hosts []string, now time.Time) error {
	template, err := certTemplate("kube-apiserver", now, servingLifetime)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return issue(template, ca, files.ServingCert, files.ServingKey)
}

func certTemplate(name string, now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(lifetime),
	}, nil
}

// issue makes a key and a certificate for it, signed by ca, or by itself if ca is nil. The key is
// written first: a certificate without its key would be found broken at the next start.
func issue(template *x509.Certificate, ca *tls.Certificate, certPath, keyPath string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	parent, signer := template, any(key)
	if ca != nil {
		parent, signer = ca.Leaf, ca.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	// Without the old certificate a crash between the two writes is a missing pair, not a mismatch.
	if err := os.Remove(certPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeKey(keyPath, key); err != nil {
		return err
	}
	return writeFile(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
}

// loadPair reads a certificate and its key; nil without an error when the certificate is missing.
func loadPair(certPath, keyPath string) (*tls.Certificate, error) {
	if _, err := os.Stat(certPath); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// ensureKey makes a private key at path unless there is one.
func ensureKey(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(path, key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writeFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
