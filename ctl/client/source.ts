import { DEFAULT_SOCKET } from '#pkg/agentapi/paths.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

/** Where answers come from: the agent of this node, or the API server. */
export type Source =
  | { readonly from: 'socket'; readonly path: string }
  | { readonly from: 'kubeconfig'; readonly file: string | readonly string[]; readonly context?: string }
  | { readonly from: 'cluster' };

/** The source that a command needs: only the agent, only the API server, or either. */
export type Need = 'agent' | 'cluster' | 'either';

/** The environment of the process. */
export interface Surroundings {
  readonly socket?: string | undefined;
  readonly kubeconfig?: string | undefined;
  /** The process runs in a pod with a service account. */
  readonly isInCluster?: boolean;
  readonly hasDefaultSocket?: boolean;
  readonly isKubernetesNode?: boolean;
}

export interface SourceFlags {
  readonly socket?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A flag wins over the environment, and the agent of this node wins over the API server. */
export function chooseSource(need: Need, flags: SourceFlags, around: Surroundings): Source {
  if (flags.socket !== undefined && flags.kubeconfig !== undefined) {
    throw new IpamError('bad-input', 'give --socket or --kubeconfig, not both');
  }
  if (flags.socket !== undefined && flags.context !== undefined) {
    throw new IpamError('bad-input', '--context chooses a cluster of a kubeconfig: leave out --socket');
  }
  return need === 'agent' ? chooseAgent(flags, around) : chooseEither(need, flags, around);
}

function chooseAgent({ socket, kubeconfig, context }: SourceFlags, around: Surroundings): Source {
  if (kubeconfig !== undefined || context !== undefined) {
    const without = `without --${kubeconfig === undefined ? 'context' : 'kubeconfig'}`;
    throw new IpamError('bad-input', `only the agent of a node can answer this: run it there, ${without}`);
  }
  return { from: 'socket', path: socket || around.socket || DEFAULT_SOCKET };
}

function chooseEither(need: Need, { socket, kubeconfig, context }: SourceFlags, around: Surroundings): Source {
  const isForCluster = need === 'cluster';
  if (isForCluster && socket !== undefined) {
    throw new IpamError('bad-input', 'only the API server can answer this: give --kubeconfig instead of --socket');
  }
  if (socket !== undefined) return { from: 'socket', path: socket };
  const chosen = context === undefined ? {} : { context };
  if (kubeconfig !== undefined) return { from: 'kubeconfig', file: kubeconfig, ...chosen };
  if (context !== undefined && !around.kubeconfig) {
    throw new IpamError('bad-input', '--context needs a kubeconfig: give --kubeconfig, or set KUBECONFIG');
  }
  if (context !== undefined && around.kubeconfig) return { ...fromVariable(around.kubeconfig), context };
  if (around.socket && !isForCluster) return { from: 'socket', path: around.socket };
  if (around.kubeconfig) return fromVariable(around.kubeconfig);
  if (around.isInCluster === true && (isForCluster || around.hasDefaultSocket !== true)) return { from: 'cluster' };
  if (!isForCluster) return { from: 'socket', path: DEFAULT_SOCKET };
  throw new IpamError(
    'bad-input',
    'only a cluster can answer this, and which cluster? Give --kubeconfig, or set KUBECONFIG',
  );
}

function fromVariable(paths: string): Source & { from: 'kubeconfig' } {
  const files = paths.split(':').filter((path) => path !== '');
  const [file = paths] = files;
  return { from: 'kubeconfig', file: files.length > 1 ? files : file };
}
