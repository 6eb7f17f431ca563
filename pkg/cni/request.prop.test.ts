import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { peekVersion } from './net-conf.ts';
import { parseCniArgs, parseRequest } from './request.ts';
import { SUPPORTED_VERSIONS } from './result.ts';
import { parseJsonObject } from './untrusted-input.ts';

const VERBS = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION'];
const anyText = fc.string({ unit: 'binary', maxLength: 200 });

/** Values where the decoder expects others. */
const anyConf = fc.record(
  {
    cniVersion: fc.oneof(fc.constantFrom(...SUPPORTED_VERSIONS), fc.jsonValue()),
    name: fc.oneof(fc.constant('net'), fc.jsonValue()),
    ipam: fc.oneof(
      fc.record(
        {
          type: fc.jsonValue(),
          default_ipv4_ippool: fc.oneof(fc.jsonValue(), fc.array(anyText), anyText),
          clean_gateway: fc.jsonValue(),
          log_file_path: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
    runtimeConfig: fc.oneof(fc.record({ ips: fc.oneof(fc.jsonValue(), fc.array(anyText)) }), fc.jsonValue()),
    args: fc.oneof(fc.record({ cni: fc.oneof(fc.record({ ips: fc.jsonValue() }), fc.jsonValue()) }), fc.jsonValue()),
    prevResult: fc.oneof(
      fc.record({
        interfaces: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
        ips: fc.oneof(fc.array(fc.record({ address: fc.jsonValue(), interface: fc.jsonValue() })), fc.jsonValue()),
      }),
      fc.jsonValue(),
    ),
    'cni.dev/valid-attachments': fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const anyEnv = fc.record(
  {
    CNI_COMMAND: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...VERBS) }, anyText),
    CNI_CONTAINERID: fc.oneof(fc.constant('c1'), anyText),
    CNI_IFNAME: fc.oneof(fc.constant('eth0'), anyText),
    CNI_NETNS: fc.oneof(fc.constant('/n'), anyText),
    CNI_ARGS: fc.oneof(fc.constant(''), anyText),
  },
  { requiredKeys: [] },
);

function onlyIpamErrors(act: () => unknown): void {
  try {
    act();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(IpamError);
  }
}

test('a request either parses or is refused by an IpamError, whatever the configuration holds', () => {
  fc.assert(
    fc.property(anyEnv, anyConf, (env: Record<string, string | undefined>, conf) => {
      onlyIpamErrors(() => parseRequest((name) => env[name], JSON.stringify(conf)));
    }),
    { numRuns: 2000 },
  );
});

test('stdin may be any text', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.json()), fc.constantFrom(...VERBS), (stdin, verb) => {
      const env: Record<string, string> = { CNI_COMMAND: verb, CNI_CONTAINERID: 'c', CNI_IFNAME: 'e', CNI_NETNS: '/n' };
      onlyIpamErrors(() => parseRequest((name) => env[name], stdin));
      expect(SUPPORTED_VERSIONS).toContain(peekVersion(stdin));
    }),
  );
});

test('CNI_ARGS may be any text', () => {
  const pairs = fc.array(fc.tuple(fc.oneof(fc.constantFrom('IP', 'K8S_POD_UID', 'IgnoreUnknown'), anyText), anyText));
  fc.assert(
    fc.property(
      fc.oneof(
        anyText,
        pairs.map((all) => all.map((pair) => pair.join('=')).join(';')),
      ),
      (text) => {
        onlyIpamErrors(() => parseCniArgs(text));
      },
    ),
  );
});

test('what JSON.parse takes and the bounds allow comes out the same', () => {
  fc.assert(
    fc.property(fc.dictionary(anyText, fc.jsonValue({ maxDepth: 5 })), (object) => {
      const text = JSON.stringify(object);
      expect(parseJsonObject(text, 'it', 'bad-input')).toEqual(JSON.parse(text));
    }),
  );
});
