import { expect, test } from 'vitest';
import { redact } from './redact.ts';

test('values of variables that are not ours, and copies of the object, do not leave the cluster', () => {
  const env = [
    { name: 'IPLEDGER_LOG_LEVEL', value: 'debug' },
    { name: 'SPIDERPOOL_HEALTH_PORT', value: '5710' },
    { name: 'HTTPS_PROXY', value: 'http://me:secret@proxy' },
    { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
  ];
  const metadata = {
    name: 'agent',
    managedFields: [{ manager: 'x' }],
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"secret":1}', own: 'stays' },
  };
  expect(redact({ metadata, spec: { containers: [{ name: 'agent', image: 'i', env }] } })).toEqual({
    metadata: { name: 'agent', annotations: { own: 'stays' } },
    spec: {
      containers: [
        {
          name: 'agent',
          image: 'i',
          env: [env[0], env[1], { name: 'HTTPS_PROXY', value: '(left out)' }, env[3]],
        },
      ],
    },
  });
});
