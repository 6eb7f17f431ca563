interface KubeletPlace {
  /** Below this cgroup are all pods of the node. */
  readonly cgroup: string;
}

/** The kubelet of a node that shares its kernel with others: it changes nothing there, and waits for nothing. */
export function kubeletConfig({ cgroup }: KubeletPlace): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Its port is reachable inside the cluster's own network only.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroup,
    enforceNodeAllocatable: ['none'],
    failCgroupV1: false,
    failSwapOn: false,
    // It cannot be lowered without CAP_SYS_RESOURCE.
    oomScoreAdj: 0,
    makeIPTablesUtilChains: false,
    localStorageCapacityIsolation: false,
    maxPods: 250,
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
    eventRecordQPS: 0,
    resolvConf: '',
    // No server answers there, but a kubelet without it complains in an Event about each pod.
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    // A disk that is nearly full is no reason to evict pods of a test.
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '1%',
      'nodefs.inodesFree': '1%',
      'imagefs.available': '1%',
      'imagefs.inodesFree': '1%',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    nodeStatusUpdateFrequency: '5s',
    nodeLeaseDurationSeconds: 20,
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
  };
}

/** What kubelet would write into /proc/sys. A machine has files of its own there. */
export const KUBELET_SYSCTLS = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
} as const;
