// Command served verifies what a running service shows of its log, by Go's own notes and Merkle trees: the
// checkpoint, a witness's cosignature below it, every tile and every leaf. Arguments: the service's address, the
// verifier key of the log, and that of the witness.
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"ikw.example/verify/check"
)

const (
	tileWidth     = 256
	cosignatureV1 = 0x04
)

func main() {
	base, logKey, witnessKey := os.Args[1]+"/log/", os.Args[2], os.Args[3]
	verifier, err := note.NewVerifier(logKey)
	check.Must(err)
	witness, err := newWitness(witnessKey)
	check.Must(err)
	signed, err := note.Open(get(base+"checkpoint"), note.VerifierList(verifier, witness))
	check.Must(err)
	if len(signed.Sigs) != 2 {
		check.Fail("%d of 2 signatures are there", len(signed.Sigs))
	}
	tree, err := tlog.ParseTree([]byte("go.sum database tree\n" + strings.SplitN(signed.Text, "\n", 2)[1]))
	check.Must(err)
	reader := tlog.TileHashReader(tree, &check.Tiles{Read: func(path string) ([]byte, error) { return get(base + path), nil }})
	for first := int64(0); first < tree.N; first += tileWidth {
		for at, entry := range entries(base, first/tileWidth, min(tileWidth, tree.N-first)) {
			read, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, first+int64(at))})
			check.Must(err)
			if read[0] != tlog.RecordHash(entry) {
				check.Fail("leaf %d is not that of its entry", first+int64(at))
			}
		}
	}
	fmt.Printf("%d leaves, cosigned by %s\n", tree.N, witness.Name())
}

// entries reads an entry bundle: each entry behind its length in two bytes.
func entries(base string, index, width int64) (found [][]byte) {
	path := fmt.Sprintf("tile/entries/%03d", index)
	if width < tileWidth {
		path += fmt.Sprintf(".p/%d", width)
	}
	for rest := get(base + path); len(rest) > 0; {
		length := int(binary.BigEndian.Uint16(rest))
		found = append(found, rest[2:2+length])
		rest = rest[2+length:]
	}
	if int64(len(found)) != width {
		check.Fail("%s has %d entries", path, len(found))
	}
	return found
}

// cosigner verifies cosignature/v1 of C2SP's tlog-cosignature, which x/mod does not know.
type cosigner struct {
	note.Verifier
	name string
	hash uint32
	key  ed25519.PublicKey
}

func newWitness(text string) (*cosigner, error) {
	parts := strings.SplitN(text, "+", 3)
	data, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || data[0] != cosignatureV1 {
		return nil, fmt.Errorf("%s is no key of a witness: %v", text, err)
	}
	var hash uint32
	_, err = fmt.Sscanf(parts[1], "%08x", &hash)
	return &cosigner{name: parts[0], hash: hash, key: data[1:]}, err
}

func (c *cosigner) Name() string { return c.name }

func (c *cosigner) KeyHash() uint32 { return c.hash }

func (c *cosigner) Verify(text, signature []byte) bool {
	seconds := binary.BigEndian.Uint64(signature)
	message := append([]byte(fmt.Sprintf("cosignature/v1\ntime %d\n", seconds)), text...)
	return ed25519.Verify(c.key, message, signature[8:])
}

func get(url string) []byte {
	response, err := http.Get(url)
	check.Must(err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	check.Must(err)
	if response.StatusCode != http.StatusOK {
		check.Fail("%s answers %d: %s", url, response.StatusCode, bytes.TrimSpace(data))
	}
	return data
}
