import { getSystemErrorMessage, getSystemErrorName } from 'node:util';

export class SystemCallError extends Error {
  override readonly name = 'SystemCallError';
  readonly code: string;

  constructor(call: string, errno: number) {
    super(`${call}: ${getSystemErrorMessage(-errno)}`);
    this.code = getSystemErrorName(-errno);
  }
}
