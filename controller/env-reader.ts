import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every variable is known by Spiderpool's prefix and by ours; ours wins. What cannot be read is refused by name. */
export class EnvReader {
  readonly #env: Environment;
  readonly #names = new Set<string>();

  constructor(env: Environment) {
    this.#env = env;
  }

  /** The names that were asked for, without their prefix. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  text(name: string, otherwise: string): string {
    return this.#find(name)?.value ?? otherwise;
  }

  oneOf<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
    const found = this.#find(name);
    if (found === null) return otherwise;
    const chosen = choices.find((choice) => choice === found.value);
    return chosen ?? refuse(found, `one of ${choices.join(', ')}`);
  }

  switch(name: string, otherwise: boolean): boolean {
    const found = this.#find(name);
    if (found === null) return otherwise;
    if (/^(true|1|t)$/i.test(found.value)) return true;
    return /^(false|0|f)$/i.test(found.value) ? false : refuse(found, 'true or false');
  }

  whole(name: string, otherwise: number, lowest: number, highest: number): number {
    const found = this.#find(name);
    if (found === null) return otherwise;
    const value = /^\d{1,10}$/.test(found.value) ? Number(found.value) : Number.NaN;
    return value >= lowest && value <= highest ? value : refuse(found, `a whole number from ${lowest} to ${highest}`);
  }

  #find(name: string): { readonly name: string; readonly value: string } | null {
    this.#names.add(name);
    for (const prefix of ['IPLEDGER_', 'SPIDERPOOL_']) {
      const value = this.#env[prefix + name];
      if (value !== undefined && value !== '') return { name: prefix + name, value };
    }
    return null;
  }
}

function refuse({ name, value }: { readonly name: string; readonly value: string }, expected: string): never {
  throw new IpamError('bad-config', `${name} is ${quote(value)}; expected ${expected}`);
}
