import { askForAddresses, askOf, changeAsk, isAsking, isFaulty, repairAsk } from './application-asks.ts';
import type { ApiObject } from './chaos-api.ts';
import { forgePod } from './forged-owners.ts';
import type { Sandboxes } from './sandboxes.ts';
import { APPS, BACKGROUND } from './sim-controllers.ts';
import { KINDS, POOL_OF, type PodsSite, podSpec, SimPods } from './sim-pods.ts';

const MOST_WORKLOADS = 4;
/** Sets that ask for subnets, and Deployments whose pools stay: so many that all of it fits into one subnet. */
const MOST_OF_EACH = 2;
const MOST_BARE = 8;
const MOST_FORGED = 4;

type Workloads = 'statefulsets' | 'deployments';

export interface WorkloadsSite extends PodsSite {
  readonly sandboxes: Sandboxes;
}

/** Users who change their workloads and pods. */
export class SimWorkloads {
  readonly #site: WorkloadsSite;
  readonly #pods: SimPods;
  #made = 0;
  /** How often a user changed what an application asks for. */
  changedAsks = 0;

  constructor(site: WorkloadsSite) {
    this.#site = site;
    this.#pods = new SimPods(site);
  }

  /** One random action of a user. */
  async act(): Promise<string> {
    const { random } = this.#site;
    const acts = [
      () => this.#createSome(),
      () => this.#createSome(),
      () => this.#scaleSome(),
      () => this.#scaleSome(),
      () => this.#changeSome(),
      () => this.#changeSome(),
      () => this.#createBare(),
      () => this.#createForged(),
      () => this.#deletePod('gracefully'),
      () => this.#deletePod('gracefully'),
      () => this.#deletePod('by force'),
      () => this.#deletePod('by force'),
      () => (random.isOneIn(3) ? this.#deleteSome() : this.#scaleSome()),
    ];
    return await random.pick(acts)();
  }

  /** Nobody leaves a typo behind. */
  async calmDown(): Promise<void> {
    for (const kind of ['statefulsets', 'deployments'] as const) {
      for (const owner of await this.#list(kind)) {
        const ask = askOf(owner);
        if (isFaulty(ask)) await this.#ask(kind, owner, repairAsk(ask));
      }
    }
  }

  async #createSome(): Promise<string> {
    const { api, random } = this.#site;
    const isOfSubnet = random.isOneIn(2);
    const kind = random.isOneIn(isOfSubnet ? 3 : 2) ? 'statefulsets' : 'deployments';
    const alike = (await this.#list(kind)).filter((it) => isAsking(askOf(it)) === isOfSubnet);
    if (alike.length >= (isOfSubnet && kind === 'statefulsets' ? MOST_OF_EACH : MOST_WORKLOADS)) return 'nothing';
    this.#made += 1;
    const keepsPool = isOfSubnet && kind === 'deployments' && random.isOneIn(3);
    const name = keepsPool ? `kept-${random.below(MOST_OF_EACH)}` : this.#nameOf(kind, isOfSubnet);
    const replicas = 1 + random.below(5);
    const annotations = isOfSubnet ? askForAddresses(random, { keepsPool }) : {};
    const template = { metadata: { labels: { app: name }, annotations }, spec: podSpec('Always') };
    const spec = { replicas, selector: { matchLabels: { app: name } }, template };
    const body = { apiVersion: 'apps/v1', kind: KINDS[kind], metadata: { name } };
    const more = kind === 'statefulsets' ? { serviceName: name } : {};
    await api.create(`${APPS}/${kind}`, { ...body, spec: { ...spec, ...more } });
    return `create ${kind} ${name} with ${replicas}`;
  }

  /** Names of sets are used again: the next set of a name has another uid. */
  #nameOf(kind: Workloads, isOfSubnet: boolean): string {
    if (kind === 'deployments') return `app-${this.#made}`;
    const { random } = this.#site;
    return isOfSubnet ? `own-${random.below(MOST_OF_EACH)}` : `set-${random.below(MOST_WORKLOADS)}`;
  }

  /** Another subnet, another number, a typo, or its repair. */
  async #changeSome(): Promise<string> {
    const { random } = this.#site;
    const kind = random.pick(['statefulsets', 'deployments'] as const);
    const asking = (await this.#list(kind)).filter((it) => isAsking(askOf(it)));
    if (asking.length === 0) return 'nothing';
    const owner = random.pick(asking);
    const { what, ask } = changeAsk(askOf(owner), random);
    await this.#ask(kind, owner, ask);
    this.changedAsks += 1;
    return `${what} ${kind} ${owner.metadata.name}`;
  }

  async #ask(kind: Workloads, { metadata }: ApiObject, annotations: object): Promise<void> {
    const spec = { template: { metadata: { annotations } } };
    await this.#site.api.patch(`${APPS}/${kind}/${metadata.name}`, { spec });
  }

  async #scaleSome(): Promise<string> {
    const { api, random } = this.#site;
    const kind = random.pick(['statefulsets', 'deployments'] as const);
    const owners = await this.#list(kind);
    if (owners.length === 0) return 'nothing';
    const { name } = random.pick(owners).metadata;
    const replicas = random.below(7);
    await api.patch(`${APPS}/${kind}/${name}`, { spec: { replicas } });
    return `scale ${kind} ${name} to ${replicas}`;
  }

  async #deleteSome(): Promise<string> {
    const { api, random } = this.#site;
    const kind = random.pick(['statefulsets', 'deployments'] as const);
    const owners = await this.#list(kind);
    if (owners.length === 0) return 'nothing';
    const { name } = random.pick(owners).metadata;
    await api.remove(`${APPS}/${kind}/${name}`, BACKGROUND);
    return `delete ${kind} ${name}`;
  }

  async #createBare(): Promise<string> {
    const { random } = this.#site;
    const bare = (await this.#pods.list()).filter(({ metadata }) => metadata.ownerReferences === undefined);
    if (bare.length >= MOST_BARE) {
      await this.#remove(random.pick(bare), 'gracefully');
      return 'delete a bare pod';
    }
    this.#made += 1;
    await this.#pods.createBare(`bare-${this.#made}`);
    return `create bare-${this.#made}`;
  }

  /** The garbage collector deletes it, unless the kind of its owner is not served. */
  async #createForged(): Promise<string> {
    const { random, sandboxes } = this.#site;
    const forged = (await this.#pods.list()).filter(({ metadata }) => metadata.labels?.['forged'] === 'true');
    if (forged.length >= MOST_FORGED) {
      await this.#remove(random.pick(forged), 'gracefully');
      return 'delete a pod with a forged owner';
    }
    const { name, owner, isLie } = forgePod(await this.#list('statefulsets'), random);
    const labels = { pool: POOL_OF.statefulsets, forged: 'true' };
    const ownerReferences = [{ ...owner, controller: true }];
    const made = await this.#pods.post({ name, labels, ownerReferences }, 'Always');
    if (made !== null && isLie) sandboxes.noteForged(made.metadata.uid);
    return `create ${name} with a forged owner`;
  }

  async #deletePod(how: 'gracefully' | 'by force'): Promise<string> {
    const pods = await this.#pods.list();
    if (pods.length === 0) return 'nothing';
    const { random, readyNodes } = this.#site;
    const ready = readyNodes();
    // Users delete by force the pods that hang on a node that is cut off.
    const hanging = pods.filter(({ spec }) => !ready.includes(String(spec?.['nodeName'])));
    const pod = random.pick(how === 'by force' && hanging.length > 0 && !random.isOneIn(4) ? hanging : pods);
    await this.#remove(pod, how);
    return `delete ${pod.metadata.name} ${how}`;
  }

  async #remove(pod: ApiObject, how: 'gracefully' | 'by force'): Promise<void> {
    const { sandboxes, random } = this.#site;
    if (how === 'by force') sandboxes.noteForced(pod.metadata.uid);
    await this.#pods.remove(pod, how === 'by force' ? 0 : random.pick([1, 5, 30]));
  }

  async #list(kind: Workloads): Promise<readonly ApiObject[]> {
    return await this.#site.api.list(`${APPS}/${kind}`);
  }
}
