package measurement

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Write writes a report as NAME.json, and its tables as NAME.md, into dir.
func Write(dir, name string, report any, tables string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	content, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), append(content, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".md"), []byte(tables), 0o644)
}

// Read reads a report that Write has written.
func Read(dir, name string, report any) error {
	content, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(content, report)
}
