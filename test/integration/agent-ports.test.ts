import { expect, test, vi } from 'vitest';
import { CLIENT_HEADER, PATHS } from '#pkg/agentapi/wire.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { callSocket } from '#test/support/socket-call.ts';
import { startClusterAgentProcess } from './cluster-agent-process.ts';
import { addArgsOf, type Pod, startPodCluster } from './pod-cluster.ts';

const COUNTED = {
  adds: 'spiderpool_ipam_allocation_counts_total',
  timedAdds: 'spiderpool_ipam_allocation_duration_seconds_count',
  failedAdds: 'spiderpool_ipam_allocation_failure_counts_total',
  addsWithoutPool: 'spiderpool_ipam_allocation_err_no_available_pool_counts_total',
  addsOfUnknownPool: 'ipledger_allocation_failures_total{reason="unknown-pool"}',
  dels: 'spiderpool_ipam_release_counts_total',
  timedDels: 'spiderpool_ipam_release_duration_seconds_count',
  failedDels: 'spiderpool_ipam_release_failure_counts_total',
  records: 'ipledger_index_records',
};

/** The requests of kubelet and Prometheus. */
async function get(port: number, path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(30_000) });
  return { status: answer.status, text: await answer.text() };
}

/** The samples that are not zero. */
async function countsAt(port: number): Promise<Partial<Record<keyof typeof COUNTED, number>>> {
  const { text } = await get(port, '/metrics');
  const samples = new Map(text.split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), line]));
  const values = Object.entries(COUNTED).map(([what, name]) => {
    const sample = samples.get(name) ?? ' 0';
    return [what, Number(sample.slice(sample.lastIndexOf(' ')))] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== 0));
}

test('the built agent: alive from the start, ready with the adoption, and its calls are counted', async () => {
  await using cluster = await startPodCluster({ isAdopted: false });
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
  const [health, metrics] = [await findFreePort(), await findFreePort()];
  const starting = startClusterAgentProcess(cluster, cluster.ledger.port, {
    variables: {
      IPLEDGER_HEALTH_PORT: String(health),
      IPLEDGER_ENABLED_METRIC: 'true',
      IPLEDGER_METRIC_HTTP_PORT: String(metrics),
    },
  });
  await using ending = new AsyncDisposableStack();
  ending.defer(async () => (await starting)[Symbol.asyncDispose]());
  const probes = () => Promise.all(['startup', 'readiness', 'liveness'].map((it) => get(health, `/v1/runtime/${it}`)));
  const ok = { status: 200, text: '"ok"' };

  const waitsForAdoption = async () => (await get(health, '/v1/runtime/readiness')).text.includes('ipledger-adopted');
  await vi.waitUntil(() => waitsForAdoption().catch(() => false), { timeout: 30_000, interval: 100 });
  const waiting = { status: 500, text: expect.stringContaining('have not been taken over yet') as string };
  expect(await probes()).toEqual([waiting, waiting, ok]);
  const readyIs = (value: 0 | 1) =>
    vi.waitFor(async () => {
      expect((await get(metrics, '/metrics')).text).toContain(`\nipledger_agent_ready ${value}\n`);
    }, 20_000);
  await readyIs(0);
  await cluster.adopt();
  const agent = await starting;
  expect(await probes()).toEqual([ok, ok, ok]);
  await readyIs(1);

  const call = async (method: 'POST' | 'DELETE', pod: Pod) => {
    const body = JSON.stringify(addArgsOf(pod));
    const headers = { [CLIENT_HEADER]: 'test' };
    return (await callSocket(agent.env.IPLEDGER_SOCKET, { method, path: PATHS.ip, body, headers })).status;
  };
  // A page of metrics may be a second old.
  const countsAre = (expected: Awaited<ReturnType<typeof countsAt>>) =>
    vi.waitFor(async () => expect(await countsAt(metrics)).toEqual(expected), 20_000);
  await countsAre({});
  const pod = await cluster.createPod({ name: 'web' });
  expect(await call('POST', pod)).toBe(200);
  await countsAre({ adds: 1, timedAdds: 1, records: 1 });
  const annotations = { 'ipam.spidernet.io/ippool': '{"ipv4":["nowhere"]}' };
  expect(await call('POST', await cluster.createPod({ name: 'lost', annotations }))).toBe(500);
  const adds = { adds: 2, timedAdds: 2, failedAdds: 1, addsWithoutPool: 1, addsOfUnknownPool: 1 };
  await countsAre({ ...adds, records: 1 });
  await cluster.deletePod(pod);
  expect(await call('DELETE', pod)).toBe(200);
  await countsAre({ ...adds, dels: 1, timedDels: 1 });
  expect(await cluster.records()).toEqual([]);
});
