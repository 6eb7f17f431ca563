import { HOLDER_KINDS, MOST_ATTACHES } from '#pkg/record/ip-record.ts';
import { integer, name, object, rules, text } from './schema.ts';

/** No control characters, because terminals of operators show these texts. In ASCII, CEL and the decoder also count lengths alike. */
export const ASCII = { pattern: '^[ -~]*$' };
/** A slash would let two holders share one key (`holderKey`). */
const KEY_PART = { pattern: '^[ -.0-~]*$' };

const owner = object(
  {
    apiVersion: name({ ...ASCII, description: 'The apiVersion of the owner.' }),
    kind: name({ ...ASCII, description: 'The kind of the owner.' }),
    name: name({ ...ASCII, description: 'The name of the owner.' }),
    uid: text(128, { ...ASCII, description: 'The uid of the owner, where the agent has read it.' }),
  },
  ['apiVersion', 'kind', 'name'],
  {
    description: 'The top controller of the pod.',
  },
);

export const HOLDER = object(
  {
    kind: text(32, {
      enum: HOLDER_KINDS,
      description: 'What has the address. Container is a container without Kubernetes, Conflict a foreign host.',
    }),
    namespace: text(253, { ...KEY_PART, description: 'The namespace of the holder.' }),
    name: name({ ...KEY_PART, description: 'The name of the holder.' }),
    uid: text(128, { ...ASCII, description: 'The uid of the pod or of the object that holds the address.' }),
    interface: text(253, { ...KEY_PART, description: 'The interface inside the pod, e.g. eth0.' }),
    network: text(253, { ...ASCII, description: 'The CNI network name.' }),
    containerID: text(253, { ...ASCII, description: 'The sandbox that was attached, as the runtime names it.' }),
    netns: text(1_024, { ...ASCII, description: 'The path of the network namespace on the node.' }),
    netnsInode: integer(1, Number.MAX_SAFE_INTEGER, {
      format: 'int64',
      description: 'The inode of the network namespace. A path may show another namespace later.',
    }),
    bootID: text(128, { ...ASCII, description: 'The boot during which the agent saw the namespace.' }),
    machineID: text(128, { ...ASCII, description: 'The machine on which the agent saw the namespace.' }),
    attachGeneration: integer(1, MOST_ATTACHES, {
      format: 'int32',
      description: 'Raised by a re-attach, so that a late release of the attachment before does not hit it.',
    }),
    attach: integer(1, MOST_ATTACHES, {
      format: 'int32',
      description: 'The name of attachGeneration in older records. It is read and no longer written.',
    }),
    node: text(253, {
      ...ASCII,
      description: 'The node that the holder runs on. Empty for holders that run on no node, such as claims.',
    }),
    owner,
    sticky: {
      type: 'boolean',
      description: 'Whether the owner, as the agent read it, keeps the address from one pod to the next.',
    },
    static: { type: 'boolean', description: 'A static pod: only its DEL or its vanished namespace frees the address.' },
  },
  ['kind', 'namespace', 'name', 'interface', 'node'],
  {
    description: 'Who has the address. Kind, namespace, name, interface and family are its stable key.',
    ...rules({
      rule: 'has(self.attachGeneration) || has(self.attach)',
      message: 'is required',
      fieldPath: '.attachGeneration',
    }),
  },
);
