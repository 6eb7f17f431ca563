import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { Controller } from '#pkg/pool/request.ts';
import type { AskingApplication } from './asking-application.ts';

export interface ApplicationChange {
  readonly application: Controller;
  /** The subnets that it names or named. An annotation that cannot be read names none. */
  readonly subnets: readonly string[];
}

/** The applications that ask for subnets, by what they are and by the subnets that they name. */
export class AskingApplications {
  readonly #byKey = new Map<string, AskingApplication>();
  readonly #bySubnet = new Map<string, Set<string>>();
  readonly #listeners = new Listeners<ApplicationChange>();

  get size(): number {
    return this.#byKey.size;
  }

  find(application: Omit<Controller, 'uid'>): AskingApplication | null {
    return this.#byKey.get(applicationKey(application)) ?? null;
  }

  of(subnet: string): AskingApplication[] {
    return [...(this.#bySubnet.get(subnet) ?? [])].flatMap((key) => this.#byKey.get(key) ?? []);
  }

  /** Applications whose wish is unknown. */
  faulty(): Omit<Controller, 'uid'>[] {
    return [...this.#byKey.values()].filter(({ fault }) => fault !== null).map(({ application }) => application);
  }

  subnets(): Iterable<string> {
    return this.#bySubnet.keys();
  }

  put(asking: AskingApplication): void {
    const key = applicationKey(asking.application);
    const before = this.#byKey.get(key);
    if (before !== undefined && JSON.stringify(flat(before)) === JSON.stringify(flat(asking))) return;
    this.#unlink(key, before);
    this.#byKey.set(key, asking);
    for (const subnet of asking.subnets) {
      const keys = this.#bySubnet.get(subnet) ?? new Set();
      this.#bySubnet.set(subnet, keys.add(key));
    }
    const subnets = [...new Set([...(before?.subnets ?? []), ...asking.subnets])];
    this.#listeners.tell({ application: asking.application, subnets });
  }

  remove(application: Omit<Controller, 'uid'>): void {
    const key = applicationKey(application);
    const before = this.#byKey.get(key);
    if (before === undefined) return;
    this.#unlink(key, before);
    this.#byKey.delete(key);
    this.#listeners.tell({ application: before.application, subnets: [...before.subnets] });
  }

  onChange(listener: (change: ApplicationChange) => void): Disposable {
    return this.#listeners.add(listener);
  }

  #unlink(key: string, asking: AskingApplication | undefined): void {
    for (const subnet of asking?.subnets ?? []) {
      const keys = this.#bySubnet.get(subnet);
      keys?.delete(key);
      if (keys?.size === 0) this.#bySubnet.delete(subnet);
    }
  }
}

export function applicationKey({ apiVersion, kind, namespace, name }: Omit<Controller, 'uid'>): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}

function flat({ subnets, ...rest }: AskingApplication): object {
  return { ...rest, subnets: [...subnets] };
}
