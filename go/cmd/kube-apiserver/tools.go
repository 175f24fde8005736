//go:build tools

// Package main names, for `go mod tidy`, what is built from this module without being imported by
// it: upstream's integration suite. (kubectl and etcd are `tool` lines in go.mod.)
package main

import (
	_ "github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/stretchr/testify/require"
	_ "k8s.io/apiextensions-apiserver/test/integration/fixtures"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
	_ "k8s.io/kubernetes/test/integration/authutil"
	_ "k8s.io/kubernetes/test/integration/etcd"
	_ "k8s.io/kubernetes/test/integration/framework"
	_ "k8s.io/kubernetes/test/utils"
	_ "k8s.io/kubernetes/test/utils/ktesting"
)
