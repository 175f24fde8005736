package bootstrap

import (
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// User is a line of a static token file, as kube-apiserver's --token-auth-file reads it.
type User struct {
	Token, Name, UID string
	Groups           []string
}

// defaultUsers are those a new token file gets: an administrator, and two who may do nothing until
// RBAC says otherwise, so that policies have different users and groups to tell apart.
var defaultUsers = []User{
	{Name: "admin", UID: "admin", Groups: []string{"system:masters"}},
	{Name: "alice", UID: "alice", Groups: []string{"developers"}},
	{Name: "bob", UID: "bob", Groups: []string{"operators"}},
}

// ensureTokens writes a token file for defaultUsers unless there is a file.
func ensureTokens(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	for _, user := range defaultUsers {
		token := make([]byte, 32)
		if _, err := rand.Read(token); err != nil {
			return err
		}
		if err := w.Write([]string{hex.EncodeToString(token), user.Name, user.UID, strings.Join(user.Groups, ",")}); err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return writeFile(path, buf.Bytes(), 0o600)
}

// ReadUsers reads a static token file: token, name, uid and optionally groups in one quoted field.
func ReadUsers(path string) ([]User, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var users []User
	for i, record := range records {
		if len(record) < 3 {
			return nil, fmt.Errorf("%s: record %d has %d fields, at least 3 are needed", path, i+1, len(record))
		}
		user := User{Token: record[0], Name: record[1], UID: record[2]}
		if len(record) > 3 && record[3] != "" {
			user.Groups = strings.Split(record[3], ",")
		}
		users = append(users, user)
	}
	return users, nil
}
