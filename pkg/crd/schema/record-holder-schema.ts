import { HOLDER_KINDS } from '#pkg/record/ip-record.ts';
import { integer, name, object, rules, text } from './schema.ts';

/** No control characters: these are shown on operators' terminals. And a character is as long here as it is to the decoder. */
export const ASCII = { pattern: '^[ -~]*$' };
/** A slash would let two holders share one key (`holderKey`). */
const KEY_PART = { pattern: '^[ -.0-~]*$' };
const MOST_ATTACHES = 2 ** 31 - 1;

const owner = object(
  { apiVersion: name(ASCII), kind: name(ASCII), name: name(ASCII) },
  ['apiVersion', 'kind', 'name'],
  {
    description: 'The top controller of the pod.',
  },
);

export const HOLDER = object(
  {
    kind: text(32, { enum: HOLDER_KINDS }),
    namespace: text(253, KEY_PART),
    name: name(KEY_PART),
    uid: text(128, ASCII),
    interface: text(253, KEY_PART),
    network: text(253, { ...ASCII, description: 'The CNI network name.' }),
    containerID: text(253, ASCII),
    netns: text(1_024, ASCII),
    bootID: text(128, ASCII),
    attachGeneration: integer(1, MOST_ATTACHES, {
      format: 'int32',
      description: 'Raised by a re-attach, so that a late release of the attachment before does not hit it.',
    }),
    attach: integer(1, MOST_ATTACHES, {
      format: 'int32',
      description: 'The name of attachGeneration in older records. It is read and no longer written.',
    }),
    node: text(253, { ...ASCII, description: 'Empty for holders that run on no node, such as claims.' }),
    owner,
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
