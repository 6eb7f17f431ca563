import type { ServerPlace } from '#test/support/api-server.ts';
import { mustRun } from '#test/support/run-program.ts';
import { type Act, ask } from './acts.ts';
import { inNetworkOf, insideOf } from './machine.ts';

/** How another process reaches a running cluster, as plain data. */
export interface ClusterPlace {
  /** The process that owns it. SIGTERM ends the cluster. */
  readonly owner: number;
  readonly server: ServerPlace;
  readonly nodes: readonly string[];
  readonly actsSocket: string;
}

export interface ReachedCluster extends ClusterPlace {
  act(act: Act): Promise<void>;
  /** Runs a bash script in all namespaces of a node and returns its output. */
  runIn(node: string, script: string): Promise<string>;
  /** The words before a command that is to run in the network of the control plane, which reaches all nodes. */
  besideControlPlane(): Promise<readonly string[]>;
  /** One more host on the underlay, which answers for this address. */
  foreignHost(address: string): Promise<AsyncDisposable>;
}

export function reachCluster(place: ClusterPlace): ReachedCluster {
  const runIn = async (node: string, script: string) => {
    const pid = Number(await ask(place.actsSocket, { do: 'pid', node }));
    const [nsenter = '', ...args] = insideOf(pid);
    return await mustRun(nsenter, ...args, 'bash', '-euc', script);
  };
  const besideControlPlane = async () => inNetworkOf(Number(await ask(place.actsSocket, { do: 'control-pid' })));
  const foreignHost = async (address: string) => {
    const [nsenter = '', ...args] = await besideControlPlane();
    const change = (verb: 'add' | 'delete') => {
      return mustRun(nsenter, ...args, 'ip', 'address', verb, address, 'dev', 'underlay');
    };
    await change('add');
    return { [Symbol.asyncDispose]: async () => void (await change('delete')) };
  };
  return {
    ...place,
    runIn,
    besideControlPlane,
    foreignHost,
    act: async (act) => void (await ask(place.actsSocket, act)),
  };
}
