import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isContainerId, isInterfaceName } from './names.ts';
import { isPlainText, quote } from './text-bounds.ts';
import type { CniEnv } from './verb.ts';

const MAX_PATH = 1024;

/** One interface of one sandbox: what ADD, DEL and CHECK are about. */
export interface Attachment {
  readonly containerID: string;
  readonly ifName: string;
  /** Empty where the runtime gave none, which only DEL may do. */
  readonly netns: string;
}

/** All missing variables are named at once. */
export function parseAttachment(env: CniEnv, netnsRequired: boolean): Attachment {
  const required = ['CNI_CONTAINERID', 'CNI_IFNAME', ...(netnsRequired ? ['CNI_NETNS'] : [])];
  const missing = required.filter((name) => (env(name) ?? '') === '');
  if (missing.length > 0) {
    throw new IpamError('bad-environment', `required environment variables are not set: ${missing.join(', ')}`);
  }
  return {
    containerID: valid(
      env,
      'CNI_CONTAINERID',
      isContainerId,
      'at most 128 of a-z A-Z 0-9 _ . -, a letter or digit first',
    ),
    ifName: valid(env, 'CNI_IFNAME', isInterfaceName, 'at most 15 bytes without slash, colon or white space'),
    netns: valid(env, 'CNI_NETNS', isNetnsPath, `an absolute path of at most ${MAX_PATH} characters`),
  };
}

function valid(env: CniEnv, name: string, isValid: (text: string) => boolean, form: string): string {
  const text = env(name) ?? '';
  if (isValid(text)) return text;
  throw new IpamError('bad-environment', `${name} must be ${form}, not ${quote(text)}`);
}

function isNetnsPath(text: string): boolean {
  return text === '' || (text.startsWith('/') && isPlainText(text, MAX_PATH));
}
