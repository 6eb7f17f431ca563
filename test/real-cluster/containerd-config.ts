/** A class of pods with CNI configurations of their own: containerd chooses them by the RuntimeClass of the pod. */
export interface RuntimeHandler {
  readonly name: string;
  readonly cniDirectory: string;
}

export const SANDBOX_IMAGE = 'ipledger.test/pause:1';
export const MAIN_CNI_DIRECTORY = '/etc/cni/net.d';

/** Pods without a RuntimeClass use the main directory. */
export function containerdConfig(handlers: readonly RuntimeHandler[]): string {
  return `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"

[grpc]
  address = "/run/containerd/containerd.sock"

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${SANDBOX_IMAGE}"

[plugins.'io.containerd.cri.v1.runtime']
  # The score cannot be lowered without CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
${[{ name: 'runc', cniDirectory: MAIN_CNI_DIRECTORY }, ...handlers].map(handlerText).join('')}
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/opt/cni/bin"]
    conf_dir = "${MAIN_CNI_DIRECTORY}"
`;
}

/** The same for containerd 1, which knows no third version of its configuration. */
export const CONTAINERD_1_CONFIG = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"

[grpc]
  address = "/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${SANDBOX_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "${MAIN_CNI_DIRECTORY}"
`;

function handlerText({ name, cniDirectory }: RuntimeHandler): string {
  const key = `plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.${name}`;
  return `    [${key}]
      runtime_type = "io.containerd.runc.v2"
      cni_conf_dir = "${cniDirectory}"
      cni_max_conf_num = 1
      [${key}.options]
        SystemdCgroup = false
`;
}
