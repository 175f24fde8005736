package harness

import (
	"log/slog"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// Quiet turns the process's logs off: policies with errors of configuration are wanted here, and to log them would only take time.
func Quiet() {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	utilruntime.ErrorHandlers = nil
}
