package main

import (
	_ "embed"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// podText is a Pod of about 4 KiB that satisfies the restricted Pod Security Standard.
//
//go:embed pod.json
var podText []byte

func pod() (*corev1.Pod, error) {
	p := &corev1.Pod{}
	return p, json.Unmarshal(podText, p)
}
