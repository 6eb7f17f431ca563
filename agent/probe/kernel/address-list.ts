import { closeSync, readSync } from 'node:fs';
import type { Address } from '#pkg/ip/address.ts';

const TENTATIVE = 0x40;
const FLAGS_AT = 4;
const CHUNK = 16_384;

/** The IPv6 addresses of a namespace, from its /proc/net/if_inet6. The open file stays bound to that namespace. */
export class AddressList implements Disposable {
  readonly #fd: number | null;

  /** Null where there is no IPv6. */
  constructor(fd: number | null) {
    this.#fd = fd;
  }

  /** The kernel still runs duplicate address detection for it (RFC 4862), or found a duplicate. */
  isTentative({ value }: Address): boolean {
    const digits = value.toString(16).padStart(32, '0');
    const line = this.#read()
      .split('\n')
      .find((it) => it.startsWith(digits));
    const flags = line?.split(/\s+/)[FLAGS_AT] ?? '0';
    return (Number.parseInt(flags, 16) & TENTATIVE) !== 0;
  }

  [Symbol.dispose](): void {
    if (this.#fd !== null) closeSync(this.#fd);
  }

  /** Synchronous: the content is in the kernel's memory. */
  #read(): string {
    if (this.#fd === null) return '';
    const bytes = Buffer.alloc(CHUNK);
    let length = 0;
    for (;;) {
      const more = readSync(this.#fd, bytes, length, CHUNK - length, length);
      length += more;
      if (more === 0) return bytes.toString('latin1', 0, length);
    }
  }
}
