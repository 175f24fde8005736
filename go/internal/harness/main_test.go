package harness

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Quiet()
	if what := os.Getenv(aloneVariable); what != "" {
		if err := runAlone(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
