import { formatAddress } from '#pkg/ip/address.ts';
import { toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { BareClient } from './kube-subject.ts';

/** Builds `count` records like `model`, with addresses from `first` on. */
export interface RawOrder {
  readonly first: number;
  readonly count: number;
  readonly inFlight: number;
  readonly model: RecordSpec;
}

/** A bare client in its own process: prepares the requested records, and creates them at `go`. */
const [url = '', caFile = '', token = '', userAgent = ''] = process.argv.slice(2);
using client = await BareClient.open({ url, caFile }, token);
const headers = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': userAgent };

let bodies: string[] = [];
let width = 1;

process.on('message', (message: RawOrder | 'go') => {
  if (message !== 'go') {
    bodies = Array.from({ length: message.count }, (_, at) => bodyOf(message, message.first + at));
    width = message.inFlight;
    process.send?.('prepared');
    return;
  }
  createAll().then(
    (latenciesMs) => process.send?.(latenciesMs),
    (thrown: unknown) => {
      console.error(thrown);
      process.exit(1);
    },
  );
});
await new Promise((resolve) => process.once('disconnect', resolve));

async function createAll(): Promise<number[]> {
  const latenciesMs: number[] = [];
  const rest = bodies.values();
  const work = async () => {
    for (const body of rest) {
      const sentMs = performance.now();
      const answer = await client.sendText('POST', '/apis/ipledger.io/v1alpha1/iprecords', headers, body);
      const { kind, message } = JSON.parse(answer.toString());
      if (kind !== 'IPRecord') throw new Error(message);
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return latenciesMs;
}

function bodyOf({ model }: RawOrder, index: number): string {
  const uid = `4f0c1b2e-6a7d-4c3b-9e8f-${index.toString(16).padStart(12, '0')}`;
  const name = `web-frontend-7d9f8b6c5d-${index.toString(36).padStart(5, '0')}`;
  const holder = { ...model.holder, name, uid, containerID: uid.replaceAll('-', '').repeat(2) };
  const address = formatAddress({ family: 4, value: BigInt(index) });
  const record = toNewObject({ ...model, address, holder });
  return JSON.stringify({ apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', ...record });
}
