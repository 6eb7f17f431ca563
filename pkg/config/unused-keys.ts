interface UnusedKey {
  readonly asksFor: string;
  /** Its part that switches it on; absent: the key itself. */
  readonly switch?: string;
  readonly parts?: readonly string[];
}

/** Keys of Spiderpool that are no business of an address manager. They are accepted, and told about when they ask for something. */
export const UNUSED_KEYS: Readonly<Record<string, UnusedKey>> = {
  tuneSysctlConfig: { asksFor: 'kernel settings of the node' },
  podResourceInject: {
    asksFor: 'resources in pods, injected by a webhook',
    switch: 'enabled',
    parts: ['enabled', 'namespacesExclude', 'namespacesInclude'],
  },
  iaasNetworkProvider: {
    asksFor: "a provider's API that is told of every address",
    switch: 'serverUrl',
    parts: ['serverUrl', 'httpRequestTimeout'],
  },
  agent: { asksFor: 'a device plugin', switch: 'networkResourcePlugin', parts: ['networkResourcePlugin'] },
};

/** Null when the value asks for nothing that would be missed. */
export function describeUnused(key: string, { asksFor, switch: name }: UnusedKey, value: unknown): string | null {
  const asked = name === undefined ? value : partOf(value, name);
  const path = name === undefined ? key : `${key}.${name}`;
  return isAsked(asked) ? `${path} asks for ${asksFor}, which ipledger does not do; it is ignored` : null;
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}

/** A map of unknown shape asks for something when its `enabled` does. */
function isAsked(value: unknown): boolean {
  const decisive = typeof value === 'object' ? partOf(value, 'enabled') : value;
  return decisive !== undefined && decisive !== null && decisive !== false && decisive !== '';
}
