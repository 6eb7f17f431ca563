type Environment = Readonly<Record<string, string | undefined>>;

interface Delegate {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface DelegateCall {
  readonly program: string;
  readonly input: object;
  readonly env: Readonly<Record<string, string>>;
}

const LINKS = ['eth0', 'net1', 'net2'];

/** The calls of one verb. A DEL goes backwards, and without the results of the ADD, which Multus may have lost. */
export function delegateCalls(
  verb: string,
  config: { readonly delegates: readonly Delegate[] },
  env: Environment,
): readonly DelegateCall[] {
  const directory = (env['CNI_PATH'] ?? '').split(':')[0];
  // Multus writes every key twice, its search path too.
  const path = [env['CNI_PATH'], env['CNI_PATH']].join(':');
  const calls = config.delegates.map((delegate, index) => ({
    program: `${directory}/${delegate.type}`,
    input: verb === 'ADD' ? { ...delegate, runtimeConfig: {} } : delegate,
    env: { CNI_IFNAME: LINKS[index] ?? '', CNI_ARGS: multusArgs(env['CNI_ARGS'] ?? '', index), CNI_PATH: path },
  }));
  if (verb === 'DEL') return calls.toReversed();
  return verb === 'ADD' ? calls : calls.slice(0, 1);
}

/** In another order for each NIC, and `IgnoreUnknown` in both of its spellings. */
export function multusArgs(args: string, turn: number): string {
  const pairs = args.split(';').filter((pair) => pair !== '' && !pair.startsWith('IgnoreUnknown='));
  const turned = [...pairs.slice(turn), ...pairs.slice(0, turn)];
  return ['IgnoreUnknown=true', ...turned, 'IgnoreUnknown=1', ...turned.toReversed()].join(';');
}
