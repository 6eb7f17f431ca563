import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

export function parseBody(body: string): unknown {
  if (body === '') throw new IpamError('bad-input', 'the request has no body');
  try {
    return JSON.parse(body);
  } catch (thrown) {
    throw new IpamError('bad-input', `the body is not JSON: ${toIpamError(thrown).message}`, { cause: thrown });
  }
}
