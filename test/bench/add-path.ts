import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchEnvironment } from '#test/support/built.ts';
import { type ClusterAgentProcess, startClusterAgentProcess } from '#test/support/cluster-agent-process.ts';
import { runProgram } from '#test/support/run-program.ts';
import { addAll } from './cluster-adds.ts';
import { type BenchPod, ClusterSite } from './cluster-site.ts';
import { Inspector, type ScriptCoverage } from './inspector.ts';

/**
 * `npm run bench:add-path`: which source files of ours one ADD goes through, in the plugin (on Node) and in the agent of
 * a cluster. Counted is a file with at least one function that was called; loading a module calls nothing. The agent is
 * warm, the pod is plain and new, and there is one pool of one family.
 */
const NODE = 'worker-1';
const WARM_UP_PODS = 60;
/** A timer or a watch of the agent may run meanwhile: only what every one of these calls went through is counted. */
const CALLS = 5;
const LIMIT = 60;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GROUPS = {
  'plugin and CNI': /^(plugin|cmd\/plugin|pkg\/(cni|agentapi))\//,
  'ledger and kube': /^pkg\/(ledger|kube)\//,
  'agent and rules': /^/,
};

await using site = await ClusterSite.start([NODE]);
await site.createPool('bench', '10.1.0.0-10.1.255.255');
const [node] = site.nodes;
if (node === undefined) throw new Error('no node has joined');
await using agent = await startClusterAgentProcess(node, {
  program: ['node', '--inspect=127.0.0.1:0', `${ROOT}cmd/agent/main.ts`],
});
await addAll([agent], await site.createPods([NODE], WARM_UP_PODS), 'bench');
const [pods = []] = await site.createPods([NODE], CALLS);
using inspector = await Inspector.open(agent.log);
await inspector.startCoverage();
const paths: ReadonlySet<string>[] = [];
for (const pod of pods) paths.push(await filesOfOneAdd(agent, pod));
printFiles(paths.reduce((all, path) => all.intersection(path)));

async function filesOfOneAdd({ socket }: ClusterAgentProcess, pod: BenchPod): Promise<Set<string>> {
  await inspector.takeCoverage();
  const ofPlugin = await addByPlugin(socket, pod);
  return calledFiles([...ofPlugin, ...(await inspector.takeCoverage())]);
}

async function addByPlugin(socket: string, { name, uid }: BenchPod): Promise<ScriptCoverage[]> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-coverage-'));
  const env = {
    ...launchEnvironment(),
    NODE_V8_COVERAGE: directory,
    IPLEDGER_SOCKET: socket,
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: uid.replaceAll('-', ''),
    CNI_NETNS: '/proc/self/ns/net',
    CNI_IFNAME: 'eth0',
    CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name};K8S_POD_UID=${uid}`,
  };
  const ipam = { type: 'ipledger', default_ipv4_ippool: ['bench'] };
  const stdin = JSON.stringify({ cniVersion: '1.1.0', name: 'macvlan-conf', type: 'macvlan', ipam });
  try {
    const { code, stdout } = await runProgram('node', [`${ROOT}cmd/plugin/main.ts`], { env, stdin });
    if (code !== 0) throw new Error(`the ADD failed: ${stdout}`);
    const reports = await Promise.all(
      (await readdir(directory)).map((file) => readFile(join(directory, file), 'utf8')),
    );
    return reports.flatMap((report) => JSON.parse(report).result as ScriptCoverage[]);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The files of this repository, by path from its root. A function that starts at 0 is the module itself. */
function calledFiles(scripts: readonly ScriptCoverage[]): Set<string> {
  const ours = scripts.filter(({ url }) => url.startsWith(`file://${ROOT}`) && !url.includes('/node_modules/'));
  const called = ours.filter(({ functions }) =>
    functions.some(({ ranges: [whole] }) => whole !== undefined && whole.startOffset > 0 && whole.count > 0),
  );
  return new Set(called.map(({ url }) => url.slice(`file://${ROOT}`.length)));
}

function printFiles(files: ReadonlySet<string>): void {
  const groupOf = (file: string) => Object.entries(GROUPS).find(([, pattern]) => pattern.test(file))?.[0] ?? '';
  const groups = Map.groupBy([...files].sort(), groupOf);
  for (const [group, members] of groups) console.log(`\n${group}: ${members.length}\n  ${members.join('\n  ')}`);
  const verdict = files.size <= LIMIT ? 'met' : 'MISSED';
  console.log(`\nfiles that one ADD goes through: ${files.size} (limit ${LIMIT}: ${verdict})`);
}
