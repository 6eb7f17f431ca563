import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isReason } from '#pkg/errors/reasons.ts';
import { decodeAddResponse, decodeError, decodeGcResponse } from './decode-answers.ts';
import {
  decodeAddArgs,
  decodeBatchDelArgs,
  decodeCheckArgs,
  decodeDelArgs,
  decodeGcArgs,
  decodeSpooledDel,
} from './decode-args.ts';

const FIELDS = {
  containerID: 'c',
  ifName: 'e',
  netNamespace: '/n',
  podNamespace: '',
  podName: '',
  podUID: '',
  network: 'n',
  ips: [{ version: 4, address: 'a', nic: 'e' }],
  routes: [{ ifName: 'e', dst: 'd', gw: '' }],
  dns: {},
  validAttachments: [{ containerID: 'c', ifName: 'e' }],
  released: 1,
  version: 1,
  del: {},
  timeoutMs: 1,
  warnings: [],
};

/** A body that is right but for a few fields, which hold anything. */
const almostRight = fc
  .dictionary(fc.constantFrom(...Object.keys(FIELDS)), fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())), {
    maxKeys: 3,
  })
  .map((wrong) => ({ ...FIELDS, ...wrong }));

test.each([
  decodeAddArgs,
  decodeAddResponse,
  decodeBatchDelArgs,
  decodeCheckArgs,
  decodeDelArgs,
  decodeGcArgs,
  decodeGcResponse,
  decodeSpooledDel,
])('$name refuses only by IpamError, and what it returns it takes again', (decode: (body: unknown) => unknown) => {
  fc.assert(
    fc.property(fc.oneof(almostRight, fc.jsonValue()), (body) => {
      try {
        const decoded = decode(body);
        expect(decode(JSON.parse(JSON.stringify(decoded)))).toEqual(decoded);
      } catch (thrown) {
        if (!(thrown instanceof IpamError)) throw thrown;
        expect(thrown.reason).toBe('bad-input');
      }
    }),
  );
});

test('any text at all makes an error answer', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 300, max: 599 }),
      fc.oneof(fc.string({ unit: 'binary' }), fc.json()),
      (status, text) => {
        const error = decodeError(status, text);
        expect(isReason(error.reason)).toBe(true);
        expect(error.message).not.toBe('');
      },
    ),
  );
});
