import { IpamError } from '#pkg/errors/ipam-error.ts';
import { tryParseAddress } from '#pkg/ip/address.ts';
import { quote } from '#pkg/ip/quote.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The first prefix that is set wins. */
const PREFIXES = ['IPLEDGER_', 'SPIDERPOOL_'];
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];
const LONGEST = 4_096;

/** Reads settings by their name without prefix. An empty variable counts as absent, because charts write empty values. */
export class EnvReader {
  readonly #env: Env;
  readonly #read = new Set<string>();
  readonly #names = new Set<string>();

  constructor(env: Env) {
    this.#env = env;
  }

  text(name: string, fallback: string): string {
    return this.#find(name)?.value ?? fallback;
  }

  required(name: string, what: string): string {
    const found = this.#find(name);
    if (found !== null) return found.value;
    throw new IpamError('bad-config', `${PREFIXES.map((it) => it + name).join(' or ')} must be set to ${what}`);
  }

  flag(name: string, fallback: boolean): boolean {
    return this.choice(name, [...TRUE, ...FALSE], 'true or false', (text) => TRUE.includes(text)) ?? fallback;
  }

  /** An address to listen on. A host name is refused, because it could resolve to another address later. */
  address(name: string, fallback: string): string {
    const found = this.#find(name);
    if (found === null) return fallback;
    return tryParseAddress(found.value) !== null ? found.value : refuse(found, 'an IP address');
  }

  port(name: string, fallback: number): number {
    return this.whole(name, fallback, 1, 65_535);
  }

  whole(name: string, fallback: number, lowest: number, highest: number): number {
    const found = this.#find(name);
    if (found === null) return fallback;
    const value = /^\d{1,10}$/.test(found.value) ? Number(found.value) : Number.NaN;
    return value >= lowest && value <= highest ? value : refuse(found, `a whole number from ${lowest} to ${highest}`);
  }

  /** Undefined if it is not set. `allowed` is the text for the error. */
  choice<T>(name: string, choices: readonly string[], allowed: string, toValue: (text: string) => T): T | undefined {
    const found = this.#find(name);
    if (found === null) return undefined;
    return choices.includes(found.value) ? toValue(found.value) : refuse(found, allowed);
  }

  /** The names that were read so far, without prefix. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** The variables with our prefixes that are set and were not read, with their values. */
  unread(): (readonly [name: string, value: string])[] {
    return Object.entries(this.#env).flatMap(([name, value = '']) =>
      value !== '' && !this.#read.has(name) && PREFIXES.some((prefix) => name.startsWith(prefix))
        ? [[name, value] as const]
        : [],
    );
  }

  /** Marks names as read that another part of the program reads. */
  skip(name: string): void {
    for (const prefix of PREFIXES) this.#read.add(prefix + name);
  }

  /** The value of the spelling that is set, with its full name. Spiderpool's `MULTUS_` names have no prefix. */
  #find(name: string): { readonly name: string; readonly value: string } | null {
    this.skip(name);
    this.#names.add(name);
    for (const full of [...PREFIXES.map((prefix) => prefix + name), ...(name.startsWith('MULTUS_') ? [name] : [])]) {
      const value = this.#env[full]?.trim() ?? '';
      if (value.length > LONGEST) throw new IpamError('bad-config', `${full} is longer than ${LONGEST} characters`);
      if (value !== '') return { name: full, value };
    }
    return null;
  }
}

function refuse({ name, value }: { readonly name: string; readonly value: string }, allowed: string): never {
  throw new IpamError('bad-config', `${name}: expected ${allowed}, found ${quote(value)}`);
}
