// Command verify checks a log by Go's own implementation of signed notes and Merkle trees. It reads a
// directory with tiles, checkpoints and proofs from its first argument, and says what does not hold.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"ikw.example/verify/check"
)

// Case is what another implementation claims about the log.
type Case struct {
	VerifierKey string
	Origin      string
	Checkpoints []string
	Inclusions  []struct {
		Index, Size int64
		Leaf        []byte
		Proof       [][]byte
	}
	Consistencies []struct {
		Older, Newer int64
		Proof        [][]byte
	}
}

func main() {
	directory := os.Args[1]
	data, err := os.ReadFile(filepath.Join(directory, "case.json"))
	check.Must(err)
	var claims Case
	check.Must(json.Unmarshal(data, &claims))
	verifier, err := note.NewVerifier(claims.VerifierKey)
	check.Must(err)

	roots := map[int64]tlog.Hash{}
	for _, text := range claims.Checkpoints {
		signed, err := note.Open([]byte(text), note.VerifierList(verifier))
		check.Must(err)
		lines := strings.Split(signed.Text, "\n")
		if lines[0] != claims.Origin {
			check.Fail("the checkpoint is of %s", lines[0])
		}
		var size int64
		fmt.Sscan(lines[1], &size)
		root, err := tlog.ParseHash(lines[2])
		check.Must(err)
		roots[size] = root
		checkTiles(directory, tlog.Tree{N: size, Hash: root})
	}
	for _, claim := range claims.Inclusions {
		check.Must(tlog.CheckRecord(hashes(claim.Proof), claim.Size, roots[claim.Size], claim.Index, tlog.RecordHash(claim.Leaf)))
	}
	for _, claim := range claims.Consistencies {
		check.Must(tlog.CheckTree(hashes(claim.Proof), claim.Newer, roots[claim.Newer], claim.Older, roots[claim.Older]))
	}
	fmt.Printf("%d checkpoints, %d inclusions, %d consistencies hold\n",
		len(claims.Checkpoints), len(claims.Inclusions), len(claims.Consistencies))
}

// checkTiles reads every leaf through tiles that are authenticated by the root.
func checkTiles(directory string, tree tlog.Tree) {
	reader := tlog.TileHashReader(tree, &check.Tiles{Read: func(path string) ([]byte, error) {
		return os.ReadFile(filepath.Join(directory, path))
	}})
	for index := int64(0); index < tree.N; index += 1 + tree.N/50 {
		read, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
		check.Must(err)
		if read[0] != tlog.RecordHash([]byte(fmt.Sprintf("leaf %d", index))) {
			check.Fail("leaf %d is another one", index)
		}
	}
}

func hashes(proof [][]byte) []tlog.Hash {
	list := make([]tlog.Hash, len(proof))
	for i, hash := range proof {
		if len(hash) != tlog.HashSize {
			check.Fail("a hash of %d bytes: %x", len(hash), bytes.TrimSpace(hash))
		}
		copy(list[i][:], hash)
	}
	return list
}
