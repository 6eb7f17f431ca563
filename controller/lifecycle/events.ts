import { randomBytes } from 'node:crypto';
import type { KubeClient } from '#pkg/kube/client.ts';
import type { KubeObject } from '#pkg/kube/kube-object.ts';
import { apiVersionOf, type Resource } from '#pkg/kube/resource.ts';

interface Happening {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Tells an operator what happened to an object. Never fails: an event that could not be written is only logged. */
export type TellEvent = (happening: Happening) => Promise<void>;

const EVENTS: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event' };
const LONGEST_MESSAGE = 1_024;

export function eventWriter(
  client: KubeClient,
  { now, onFailure }: { readonly now: () => Date; readonly onFailure: (message: string) => void },
): TellEvent {
  return async ({ resource, object, type, reason, message }) => {
    const { name, namespace = 'default', uid, resourceVersion } = object.metadata;
    const at = `${now().toISOString().slice(0, 19)}Z`;
    const written = await client.create(EVENTS, {
      // A name may be 253 characters long, the event's too.
      metadata: { name: `${name.slice(0, 230)}.${randomBytes(8).toString('hex')}`, namespace },
      involvedObject: {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        name,
        ...(object.metadata.namespace === undefined ? {} : { namespace }),
        uid,
        resourceVersion,
      },
      type,
      reason,
      message: message.slice(0, LONGEST_MESSAGE),
      source: { component: 'ipledger-controller' },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    });
    if (!written.ok) onFailure(`${written.because}: ${written.message}`);
  };
}
