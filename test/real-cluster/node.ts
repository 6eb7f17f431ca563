import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';
import type { ClusterPrograms } from './assets.ts';
import { inCgroup, makeCgroup, removeCgroup } from './cgroups.ts';
import {
  DELEGATE,
  HOST_LOCAL,
  TWO_NICS,
  TWO_NICS_BY_IPLEDGER,
  UNDERLAY_BY_IPLEDGER,
  UNDERLAY_IN_CNI_1_0,
  underlayByHostLocal,
  underlayBySpiderpool,
} from './cni-config.ts';
import { CONTAINERD_1_CONFIG, containerdConfig, MAIN_CNI_DIRECTORY } from './containerd-config.ts';
import type { ControlPlane } from './control-plane.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { kubeletConfig } from './kubelet-config.ts';
import { inNetworkOf, insideOf, startMachine } from './machine.ts';
import { type NodeDisk, prepareDisk } from './node-disk.ts';
import { CONTROL_ADDRESS, type NodePlan, UNDERLAY } from './plan.ts';

const DAEMONS = ['containerd', 'kubelet'] as const;
export type DaemonName = (typeof DAEMONS)[number];

/** A node of the cluster: a machine with containerd and kubelet. */
export interface RealNode extends AsyncDisposable {
  readonly plan: NodePlan;
  readonly disk: NodeDisk;
  /** Process 1 of the node. It changes at each boot. */
  pid(): number;
  /** Kills it, as when it crashes, and starts it again. */
  restart(daemon: DaemonName): Promise<void>;
  /** Cuts the power: the disk stays. */
  crash(): Promise<void>;
  boot(): Promise<void>;
}

export interface NodeSite {
  readonly programs: ClusterPrograms;
  readonly control: ControlPlane;
  /** Of the cluster. */
  readonly dir: string;
  readonly cgroup: string;
  readonly images: readonly string[];
  readonly containerd1?: string;
  readonly spiderpool?: boolean;
}

/** Where containerd, its shim and its client are. */
const runtimeOf = ({ containerd1, programs }: NodeSite): string => containerd1 ?? programs.dir;

const DELEGATE_SCRIPT = join(import.meta.dirname, 'delegate-plugin.ts');
const READY_TIMEOUT_MS = 120_000;

export async function startNode(site: NodeSite, plan: NodePlan): Promise<RealNode> {
  const dir = join(site.dir, plan.name);
  await mkdir(dir);
  const cgroup = `${site.cgroup}/${plan.name}`;
  // As on a host with systemd: the daemons of a node share what its pods do not use, and do not starve them.
  await makeCgroup(`${cgroup}/system`);
  const asSystem = await inCgroup(`${cgroup}/system`);
  const disk = await writeDisk(site, plan, join(dir, 'disk'), cgroup);
  const daemons = new Map<DaemonName, Daemon>();
  const commands = commandsOf(site, plan);
  const env = {
    PATH: `${runtimeOf(site)}:${site.programs.dir}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME: '/root',
  };

  const boot = async () => {
    const started = await startMachine(disk.mounts, join(dir, 'machine.log'));
    await plugIn(site.control.machine.pid, started.pid, plan);
    return started;
  };
  let machine = await boot();
  const start = async (name: DaemonName) => {
    daemons.set(name, await startDaemon(machine.pid, [...asSystem, ...commands[name]], join(dir, `${name}.log`), env));
    if (name === 'containerd') await untilAnswers(ctr(site, machine.pid, 'version'));
  };
  const restart = async (name: DaemonName) => {
    await daemons.get(name)?.kill();
    await start(name);
  };
  const crash = async () => {
    await machine.kill();
    daemons.clear();
    // Those of a real host are gone after a boot too; kubelet would wait seconds for each that is left.
    await removeCgroup(cgroup);
  };
  try {
    await start('containerd');
    for (const image of site.images) await mustRun(...ctr(site, machine.pid, 'images', 'import', image));
    await start('kubelet');
  } catch (thrown) {
    await crash();
    throw thrown;
  }
  return {
    plan,
    disk,
    pid: () => machine.pid,
    restart,
    crash,
    boot: async () => {
      await makeCgroup(`${cgroup}/system`);
      machine = await boot();
      for (const name of DAEMONS) await start(name);
    },
    [Symbol.asyncDispose]: crash,
  };
}

/** containerd's own client, in the node. */
function ctr(site: NodeSite, pid: number, ...args: string[]): [string, ...string[]] {
  const [nsenter = '', ...rest] = insideOf(pid);
  return [nsenter, ...rest, join(runtimeOf(site), 'ctr'), '--namespace=k8s.io', ...args];
}

async function writeDisk(site: NodeSite, { name, number }: NodePlan, dir: string, cgroup: string): Promise<NodeDisk> {
  const disk = await prepareDisk(dir, name);
  const isOld = site.containerd1 !== undefined;
  await disk.write(
    '/etc/containerd/config.toml',
    isOld ? CONTAINERD_1_CONFIG : containerdConfig([TWO_NICS, HOST_LOCAL]),
  );
  await disk.write('/etc/kubelet.json', JSON.stringify(kubeletConfig({ cgroup: `/${cgroup}` })));
  const login = { caFile: site.control.caFile, adminToken: site.control.nodeToken(name) };
  await writeKubeconfig(join(dir, 'etc/kubelet.kubeconfig'), site.control.addressForNodes, login);
  for (const plugin of ['loopback', 'macvlan', 'bridge', 'host-local'])
    await disk.install(join(site.programs.dir, plugin), `/opt/cni/bin/${plugin}`);
  if (site.spiderpool === true) await disk.install(join(site.programs.dir, 'host-local'), '/opt/cni/bin/spiderpool');
  const main = isOld ? UNDERLAY_IN_CNI_1_0 : UNDERLAY_BY_IPLEDGER;
  // Written, not moved into place: containerd does not notice a move.
  await disk.write(
    `${MAIN_CNI_DIRECTORY}/10-underlay.conflist`,
    site.spiderpool === true ? underlayBySpiderpool(number) : main,
  );
  await disk.write(`${TWO_NICS.cniDirectory}/10-two-nics.conflist`, TWO_NICS_BY_IPLEDGER);
  await disk.write(`${HOST_LOCAL.cniDirectory}/10-underlay.conflist`, underlayByHostLocal(number));
  await disk.write(`/opt/cni/bin/${DELEGATE}`, `#!/bin/sh\nexec ${process.execPath} ${DELEGATE_SCRIPT}\n`);
  await chmod(join(dir, `opt/cni/bin/${DELEGATE}`), 0o755);
  return disk;
}

const commandsOf = (site: NodeSite, plan: NodePlan): Record<DaemonName, string[]> => ({
  containerd: [join(runtimeOf(site), 'containerd'), '--config=/etc/containerd/config.toml'],
  kubelet: [
    join(site.programs.dir, 'kubelet'),
    '--config=/etc/kubelet.json',
    '--kubeconfig=/etc/kubelet.kubeconfig',
    `--hostname-override=${plan.name}`,
    `--node-ip=${plan.address}`,
    '--root-dir=/var/lib/kubelet',
  ],
});

/** eth0 into the management network, eth1 into the underlay; made in the control plane's network, moved into the node's. */
async function plugIn(control: number, node: number, { name, address }: NodePlan): Promise<void> {
  const script = `
for pair in eth0:mgmt ${UNDERLAY.link}:underlay; do
  link=\${pair%:*} bridge=\${pair#*:}
  # The kernel takes its time to remove the network of a node that crashed.
  ip link delete ${name}-$link 2>/dev/null || true
  ip link add ${name}-$link type veth peer name $link netns ${node}
  ip link set ${name}-$link master $bridge up
done`;
  await mustRun('nsenter', ...inNetworkOf(control).slice(1), 'bash', '-euc', script);
  const inside = `
ip address add ${address}/24 dev eth0 && ip link set eth0 up && ip link set ${UNDERLAY.link} up
ip route add default via ${CONTROL_ADDRESS}`;
  await mustRun('nsenter', ...inNetworkOf(node).slice(1), 'bash', '-euc', inside);
}

async function untilAnswers([program, ...args]: [string, ...string[]]): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const { code, stderr } = await runProgram(program, args);
    if (code === 0) return;
    if (performance.now() > deadline) throw new Error(`containerd does not answer: ${stderr}`);
    await sleep(100);
  }
}
