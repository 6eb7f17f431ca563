import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transcript } from './transcript.ts';

const FULL = 10_000;

/** The paths of one call, all under one temporary directory. */
export interface Stage extends AsyncDisposable {
  readonly socket: string;
  readonly spool: string;
  /** Named by hostile configurations; contains only `evil.sock`, which counts its connections. */
  readonly poison: string;
  touchesOfPoison(): readonly string[];
  spooled(): Readonly<Record<string, unknown>>;
}

export async function setStage(transcript: Transcript): Promise<Stage> {
  const root = mkdtempSync(join(tmpdir(), 'ipledger-golden-'));
  const [spool, poison] = [join(root, 'var', 'spool'), join(root, 'poison')];
  mkdirSync(poison);
  prepareSpool(spool, transcript);
  let visitors = 0;
  const evil = createServer((socket) => {
    visitors++;
    socket.destroy();
  });
  await new Promise<void>((listening) => evil.listen(join(poison, 'evil.sock'), listening));
  return {
    socket: join(root, 'agent.sock'),
    spool,
    poison,
    touchesOfPoison: () => [
      ...readdirSync(poison).filter((name) => name !== 'evil.sock'),
      ...new Array<string>(visitors).fill('a connection'),
    ],
    spooled: () => (transcript.spoolIs === 'full' ? {} : readSpool(spool)),
    [Symbol.asyncDispose]: async () => {
      await new Promise((closed) => evil.close(closed));
      rmSync(root, { recursive: true });
    },
  };
}

function prepareSpool(spool: string, { spoolIs }: Transcript): void {
  if (spoolIs === undefined) return;
  mkdirSync(join(spool, '..'));
  if (spoolIs === 'a-symlink') {
    mkdirSync(`${spool}-elsewhere`, { mode: 0o700 });
    symlinkSync(`${spool}-elsewhere`, spool);
    return;
  }
  mkdirSync(spool, { mode: 0o700 });
  if (spoolIs === 'world-writable') chmodSync(spool, 0o777);
  if (spoolIs === 'full') {
    writeFileSync(join(spool, '0.json'), '');
    for (let file = 1; file < FULL; file++) linkSync(join(spool, '0.json'), join(spool, `${file}.json`));
  }
}

function readSpool(spool: string): Record<string, unknown> {
  if (!existsSync(spool)) return {};
  return Object.fromEntries(
    readdirSync(spool).map((name) => [name, JSON.parse(readFileSync(join(spool, name), 'utf8'))]),
  );
}
