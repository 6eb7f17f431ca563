interface UnusedKey {
  readonly asksFor: string;
  /** The field below the key that switches the feature on. If absent, the key itself does. */
  readonly switch?: string;
  readonly parts?: readonly string[];
}

/** Spiderpool's keys for features that are not address management. They are accepted, with a warning if one switches a feature on. */
export const UNUSED_KEYS: Readonly<Record<string, UnusedKey>> = {
  tuneSysctlConfig: { asksFor: 'kernel settings of the node' },
  podResourceInject: {
    asksFor: 'resources in pods, injected by a webhook',
    switch: 'enabled',
    parts: ['enabled', 'namespacesExclude', 'namespacesInclude'],
  },
  iaasNetworkProvider: {
    asksFor: "a provider's API that is called for every address",
    switch: 'serverUrl',
    parts: ['serverUrl', 'httpRequestTimeout'],
  },
  agent: { asksFor: 'a device plugin', switch: 'networkResourcePlugin', parts: ['networkResourcePlugin'] },
};

/** Returns the warning, or null if the value switches nothing on. */
export function describeUnused(key: string, { asksFor, switch: name }: UnusedKey, value: unknown): string | null {
  const asked = name === undefined ? value : partOf(value, name);
  const path = name === undefined ? key : `${key}.${name}`;
  return isAsked(asked) ? `${path} asks for ${asksFor}, which ipledger does not do; it is ignored` : null;
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}

/** A map of unknown shape is switched on by its field `enabled`. */
function isAsked(value: unknown): boolean {
  const decisive = typeof value === 'object' ? partOf(value, 'enabled') : value;
  return decisive !== undefined && decisive !== null && decisive !== false && decisive !== '';
}
