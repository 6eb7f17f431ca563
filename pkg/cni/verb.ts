import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from './text-bounds.ts';
import { isVerb, type Verb } from './versions.ts';

/** One environment variable; undefined when unset. */
export type CniEnv = (name: string) => string | undefined;

const FOR_A_PERSON = `This is ipledger's CNI plugin: a container runtime starts it with its request in the environment and on stdin.
A person wants ipledgerctl: try "ipledgerctl --help".`;

export function parseVerb(env: CniEnv): Verb {
  const text = env('CNI_COMMAND') ?? '';
  if (text === '') {
    throw new IpamError('bad-environment', 'CNI_COMMAND is not set', { details: FOR_A_PERSON });
  }
  if (!isVerb(text)) throw new IpamError('bad-environment', `CNI_COMMAND is none of CNI's verbs: ${quote(text)}`);
  return text;
}
