import type { FastifyRequest } from 'fastify';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

/** Parsed here and not by the framework, so that a fault is told in our words. */
export function parseBody(request: FastifyRequest): unknown {
  if (typeof request.body !== 'string' || request.body === '')
    throw new IpamError('bad-input', 'the request has no body');
  try {
    return JSON.parse(request.body);
  } catch (thrown) {
    throw new IpamError('bad-input', `the body is not JSON: ${toIpamError(thrown).message}`, { cause: thrown });
  }
}
