import { randomBytes } from 'node:crypto';
import { arpDialect } from './arp-dialect.ts';
import type { Dialect, Questions } from './dialect.ts';
import { ndpDialect } from './ndp-dialect.ts';

const NONCE_LENGTH = 6;

export function chooseDialect(questions: Questions): Dialect {
  return questions.address.family === 4 ? arpDialect(questions) : ndpDialect(questions, randomBytes(NONCE_LENGTH));
}
