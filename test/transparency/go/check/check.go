// Package check is what programs share that verify a log by Go's own Merkle trees.
package check

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Tiles reads the tiles of a log as tlog-tiles names them.
type Tiles struct {
	Read func(path string) ([]byte, error)
}

func (t *Tiles) Height() int { return 8 }

func (t *Tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t *Tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	found := make([][]byte, len(wanted))
	for i, tile := range wanted {
		// Go's paths name the height of tiles; those of tlog-tiles do not.
		data, err := t.Read(strings.Replace(tile.Path(), "tile/8/", "tile/", 1))
		if err != nil {
			return nil, err
		}
		found[i] = data
	}
	return found, nil
}

// Must ends the program with an error, if there is one.
func Must(err error) {
	if err != nil {
		Fail("%v", err)
	}
}

// Fail ends the program with a sentence.
func Fail(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
