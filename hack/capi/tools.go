//go:build tools

package capi

import (
	_ "sigs.k8s.io/cluster-api/cmd/clusterctl"
)
