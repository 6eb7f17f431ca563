import { SharedReads } from '#agent/owners/shared-reads.ts';
import type { Shortages } from '#agent/sources/applications.ts';
import { readShortage } from '#pkg/autopool/shortage.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';

const READ_TIMEOUT_MS = 2_000;
/** Many pods of one application give up at the same time. */
const FRESH_MS = 2_000;
const MOST_SUBNETS = 100;

/** One read of the SpiderSubnet, made only when the time of a waiting call is over: agents do not watch subnets. */
export class SubnetShortages implements Shortages {
  readonly #client: KubeClient;
  readonly #reads: SharedReads<Outcome<KubeObject>>;

  constructor(client: KubeClient, nowMs: () => number) {
    this.#client = client;
    this.#reads = new SharedReads({ freshMs: FRESH_MS, most: MOST_SUBNETS, nowMs });
  }

  async find(key: AutoPoolKey): Promise<string | null> {
    const { subnet: name } = key;
    const got = await this.#reads.find(
      name,
      () => this.#client.get(SUBNETS, { name }, { timeoutMs: READ_TIMEOUT_MS }),
      () => true,
    );
    if (!got.ok && got.because === 'NotFound') return `there is no SpiderSubnet ${quote(name)}`;
    if (!got.ok) return `SpiderSubnet ${quote(name)} cannot be read: ${got.message}`;
    const why = readShortage(got.object['status'], key);
    return why === null ? null : `the controller says: ${why}`;
  }
}
