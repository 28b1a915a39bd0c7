// Command make notarises events as docs/audit.md says, with nothing of ours: it reads events.ndjson.gz from its
// first argument, and writes a whole directory with tree, checkpoint and key to its second.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf16"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	origin    = "auditor.example/log"
	tileWidth = 256
	height    = 8
)

func main() {
	from, to := os.Args[1], os.Args[2]
	lines := readLines(filepath.Join(from, "events.ndjson.gz"))
	commitments := make([][]byte, len(lines))
	for i, line := range lines {
		commitments[i] = commitment(line)
	}
	hashes := stored(commitments)
	size := int64(len(lines))
	root, err := tlog.TreeHash(size, hashes)
	must(err)

	private, verifier, err := note.GenerateKey(rand.Reader, origin)
	must(err)
	signer, err := note.NewSigner(private)
	must(err)
	text := fmt.Sprintf("%s\n%d\n%s\n", origin, size, base64.StdEncoding.EncodeToString(root[:]))
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	must(err)

	must(os.MkdirAll(to, 0o700))
	writeLines(filepath.Join(to, "events.ndjson.gz"), lines)
	writeLines(filepath.Join(to, "bookkeeping.ndjson.gz"), bookkeeping(commitments, hashes, string(signed), verifier))
	manifest := map[string]any{"format": 1, "events": size, "position": position(lines[size-1]), "at": "2026-11-23T12:00:00.000Z"}
	data, err := json.Marshal(manifest)
	must(err)
	must(os.WriteFile(filepath.Join(to, "manifest.json"), data, 0o600))
	fmt.Printf("%s\n%s\n", verifier, base64.StdEncoding.EncodeToString(root[:]))
}

// commitment is step 2 of the recipe.
func commitment(line []byte) []byte {
	var event map[string]any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	must(decoder.Decode(&event))
	metadata := event["metadata"].(map[string]any)
	committed := map[string]any{"schema_version": metadata["version"], "recorded_at": metadata["at"]}
	for _, name := range []string{"stream", "revision", "type", "id", "data"} {
		committed[name] = event[name]
	}
	salt, _ := metadata["salt"].(string)
	for _, name := range []string{"version", "at", "salt"} {
		delete(metadata, name)
	}
	committed["metadata"] = metadata
	hash := sha256.New()
	bytesOfSalt, err := base64.RawURLEncoding.DecodeString(salt)
	must(err)
	hash.Write(bytesOfSalt)
	hash.Write([]byte(canonical(committed)))
	return hash.Sum(nil)
}

// canonical writes RFC 8785 for what events hold: their numbers are integers.
func canonical(value any) string {
	switch value := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		sort.Slice(names, func(i, j int) bool { return isBefore(names[i], names[j]) })
		members := make([]string, len(names))
		for i, name := range names {
			members[i] = text(name) + ":" + canonical(value[name])
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = canonical(item)
		}
		return "[" + strings.Join(items, ",") + "]"
	case string:
		return text(value)
	case json.Number:
		return value.String()
	case bool:
		return fmt.Sprint(value)
	case nil:
		return "null"
	}
	panic(fmt.Sprintf("%T", value))
}

// isBefore compares by UTF-16 code units.
func isBefore(one, other string) bool {
	a, b := utf16.Encode([]rune(one)), utf16.Encode([]rune(other))
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return i < len(b) && a[i] < b[i]
		}
	}
	return len(a) < len(b)
}

func text(value string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range value {
		short := strings.IndexRune("\b\t\n\f\r\"\\", r)
		switch {
		case short >= 0:
			out.WriteString([]string{`\b`, `\t`, `\n`, `\f`, `\r`, `\"`, `\\`}[short])
		case r < 0x20:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// stored holds all hashes of the tree in the order of tlog.
func stored(commitments [][]byte) tlog.HashReaderFunc {
	var all []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			found[i] = all[index]
		}
		return found, nil
	})
	for i, commitment := range commitments {
		more, err := tlog.StoredHashes(int64(i), commitment, read)
		must(err)
		all = append(all, more...)
	}
	return read
}

func bookkeeping(commitments [][]byte, hashes tlog.HashReader, signed, verifier string) [][]byte {
	size := int64(len(commitments))
	rows := [][]byte{row("log_keys", map[string]any{"id": 1, "verifier_key": verifier})}
	for at := 0; at < len(commitments); at += tileWidth {
		part := commitments[at:min(at+tileWidth, len(commitments))]
		rows = append(rows, row("log_bundles", map[string]any{"index": at / tileWidth, "commitments": hex(bytes.Join(part, nil))}))
	}
	for _, tile := range tlog.NewTiles(height, 0, size) {
		data, err := tlog.ReadTileData(tile, hashes)
		must(err)
		rows = append(rows, row("log_tiles", map[string]any{"level": tile.L, "index": tile.N, "hashes": hex(data)}))
	}
	return append(rows, row("log_checkpoints", map[string]any{"size": size, "note": signed}))
}

func row(table string, values map[string]any) []byte {
	data, err := json.Marshal(values)
	must(err)
	return append([]byte(table+" "), data...)
}

func hex(data []byte) string { return fmt.Sprintf(`\x%x`, data) }

func position(line []byte) (found int64) {
	var event struct{ Position int64 }
	must(json.Unmarshal(line, &event))
	return event.Position
}

func readLines(path string) (lines [][]byte) {
	file, err := os.Open(path)
	must(err)
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	must(err)
	reader := bufio.NewReader(unpacked)
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimRight(line, "\n"); len(line) > 0 {
			lines = append(lines, line)
		}
		if err == io.EOF {
			return lines
		}
		must(err)
	}
}

func writeLines(path string, lines [][]byte) {
	file, err := os.Create(path)
	must(err)
	packed := gzip.NewWriter(file)
	for _, line := range lines {
		_, err := packed.Write(append(line, '\n'))
		must(err)
	}
	must(packed.Close())
	must(file.Close())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
