import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exchangeOverSocket as exchangeBy, readNodeStdin } from './node-io.ts';
import { spool } from './node-spool.ts';

const REQUEST = Buffer.from('hello');
const exchangeOverSocket = (path: string, request: Uint8Array, limitBytes: number, timeoutMs: number) =>
  exchangeBy(path, request, limitBytes, timeoutMs, () => null);
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ipledger-node-io-'));
});
afterEach(() => rmSync(root, { recursive: true }));

async function listening(onConnection: (socket: Socket) => void): Promise<AsyncDisposable & { readonly path: string }> {
  const path = join(root, 'agent.sock');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  await new Promise<void>((ready) => server.listen(path, ready));
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

describe('exchange', () => {
  test('writes the request and reads to the end', async () => {
    await using agent = await listening((socket) => socket.on('data', (data) => socket.end(`you said ${data}`)));
    expect(await exchangeOverSocket(agent.path, REQUEST, 100, 5000)).toEqual({
      kind: 'answer',
      bytes: Buffer.from('you said hello'),
    });
  });

  test('keeps its writing side open until the answer is there', async () => {
    await using agent = await listening((socket) => {
      let ended = false;
      socket.on('end', () => {
        ended = true;
      });
      socket.on('data', () => setTimeout(() => socket.end(ended ? 'half-closed' : 'open'), 50));
    });
    expect(await exchangeOverSocket(agent.path, REQUEST, 100, 5000)).toEqual({
      kind: 'answer',
      bytes: Buffer.from('open'),
    });
  });

  test('an answer to a request that was not read is an answer', async () => {
    await using agent = await listening((socket) => {
      socket.pause();
      socket.end('too large', () => socket.destroy());
    });
    const huge = new Uint8Array(4 * 1024 * 1024);
    expect(await exchangeOverSocket(agent.path, huge, 100, 5000)).toEqual({
      kind: 'answer',
      bytes: Buffer.from('too large'),
    });
  });

  test('an answer that says its length is not waited for beyond it', async () => {
    await using agent = await listening((socket) => {
      socket.write('9:answer');
      setTimeout(() => socket.write('ing'), 50);
    });
    const asked: string[] = [];
    const lengthOf = (bytes: Uint8Array) => {
      asked.push(Buffer.from(bytes).toString());
      return 11;
    };
    expect(await exchangeBy(agent.path, REQUEST, 100, 5000, lengthOf)).toEqual({
      kind: 'answer',
      bytes: Buffer.from('9:answering'),
    });
    expect(asked).toEqual(['9:answer']);
  });

  test('a line without one byte is dropped', async () => {
    await using agent = await listening((socket) => socket.on('data', () => socket.destroy()));
    expect(await exchangeOverSocket(agent.path, REQUEST, 100, 5000)).toEqual({ kind: 'dropped' });
  });

  test('silence is a timeout, half an answer too', async () => {
    await using agent = await listening((socket) => socket.write('half'));
    expect(await exchangeOverSocket(agent.path, REQUEST, 100, 50)).toEqual({ kind: 'timeout' });
  });

  test('more than the limit is oversized, exactly the limit is not', async () => {
    await using agent = await listening((socket) => socket.end('x'.repeat(100)));
    expect(await exchangeOverSocket(agent.path, REQUEST, 99, 5000)).toEqual({ kind: 'oversized' });
    expect(await exchangeOverSocket(agent.path, REQUEST, 100, 5000)).toMatchObject({ kind: 'answer' });
  });

  test('no socket is missing, a file behind which nobody listens refuses', async () => {
    expect(await exchangeOverSocket(join(root, 'none'), REQUEST, 100, 5000)).toEqual({
      kind: 'absent',
      why: 'missing',
    });
    writeFileSync(join(root, 'file'), '');
    expect(await exchangeOverSocket(join(root, 'file'), REQUEST, 100, 5000)).toEqual({
      kind: 'absent',
      why: 'refused',
    });
  });

  test('anything else is told in the words of the system', async () => {
    writeFileSync(join(root, 'file'), '');
    expect(await exchangeOverSocket(join(root, 'file', 'sock'), REQUEST, 100, 5000)).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('ENOTDIR'),
    });
  });
});

describe('readStdin', () => {
  const streamOf = (...chunks: Uint8Array[]) => {
    const stream = new PassThrough();
    for (const chunk of chunks) stream.write(chunk);
    return stream;
  };

  test.each([
    { name: 'letters cut between two reads', chunks: [[0xc3], [0xa9]], outcome: { kind: 'text', text: 'é' } },
    { name: 'nothing', chunks: [], outcome: { kind: 'text', text: '' } },
    { name: 'half a letter', chunks: [[0xc3]], outcome: { kind: 'not-utf8' } },
    { name: 'a byte order mark', chunks: [[0xef, 0xbb, 0xbf, 0x7b]], outcome: { kind: 'text', text: '\ufeff{' } },
    {
      name: 'the limit',
      chunks: [
        [0x61, 0x61],
        [0x61, 0x61],
      ],
      outcome: { kind: 'text', text: 'aaaa' },
    },
    {
      name: 'one byte more',
      chunks: [
        [0x61, 0x61],
        [0x61, 0x61, 0x61],
      ],
      outcome: { kind: 'oversized' },
    },
  ])('$name', async ({ chunks, outcome }) => {
    const stream = streamOf(...chunks.map((chunk) => new Uint8Array(chunk)));
    stream.end();
    expect(await readNodeStdin(stream, 4, 5000)).toEqual(outcome);
  });

  test('a stream that never ends is a timeout', async () => {
    expect(await readNodeStdin(streamOf(REQUEST), 100, 50)).toEqual({ kind: 'timeout' });
  });

  test('a stream that breaks says why', async () => {
    const stream = streamOf();
    setImmediate(() => stream.destroy(new Error('EIO')));
    expect(await readNodeStdin(stream, 100, 5000)).toEqual({ kind: 'failed', why: 'EIO' });
  });
});

describe('spool', () => {
  const directory = () => join(root, 'a', 'b', 'spool');
  const mode = (path: string) => statSync(path).mode & 0o777;

  test('creates what is missing for root alone and leaves nothing but the file', () => {
    expect(spool(directory(), 'c@eth0.json', '{}\n', 10)).toEqual({ kind: 'written' });
    expect([join(root, 'a'), join(root, 'a', 'b'), directory()].map(mode)).toEqual([0o700, 0o700, 0o700]);
    expect(readdirSync(directory())).toEqual(['c@eth0.json']);
    expect(mode(join(directory(), 'c@eth0.json'))).toBe(0o600);
    expect(readFileSync(join(directory(), 'c@eth0.json'), 'utf8')).toBe('{}\n');
  });

  test('the same call again renews the time of its file', () => {
    spool(directory(), 'a.json', 'same', 10);
    const path = join(directory(), 'a.json');
    utimesSync(path, 1000, 1000);
    const before = statSync(path);
    expect(spool(directory(), 'a.json', 'same', 10)).toEqual({ kind: 'exists' });
    expect(statSync(path).ino).toBe(before.ino);
    expect(statSync(path).mtimeMs).toBeGreaterThan(before.mtimeMs);
  });

  test.each([
    { name: 'is empty', spoil: (path: string) => writeFileSync(path, '') },
    { name: 'is torn', spoil: (path: string) => writeFileSync(path, 'te') },
    { name: 'says something else', spoil: (path: string) => writeFileSync(path, 'tixt') },
    { name: 'may be written by others', spoil: (path: string) => chmodSync(path, 0o622) },
    { name: 'belongs to somebody else', spoil: (path: string) => chownSync(path, 65534, 65534) },
  ])('a file that $name is replaced', ({ spoil }) => {
    const path = join(directory(), 'a.json');
    spool(directory(), 'a.json', 'text', 10);
    spoil(path);
    expect(spool(directory(), 'a.json', 'text', 1)).toEqual({ kind: 'written' });
    expect([readFileSync(path, 'utf8'), mode(path), statSync(path).uid]).toEqual(['text', 0o600, process.geteuid?.()]);
    expect(readdirSync(directory())).toEqual(['a.json']);
  });

  test('is full at its limit, but knows what it has', () => {
    spool(directory(), 'a.json', '', 10);
    spool(directory(), 'b.json', '', 10);
    expect(spool(directory(), 'c.json', '', 2)).toEqual({ kind: 'full', files: 2 });
    expect(spool(directory(), 'a.json', '', 2)).toEqual({ kind: 'exists' });
  });

  test.each([0o777, 0o770, 0o702])('refuses a directory of mode %o', (bits) => {
    mkdirSync(directory(), { recursive: true });
    chmodSync(directory(), bits);
    expect(spool(directory(), 'a.json', '', 10)).toEqual({
      kind: 'failed',
      why: `${directory()} may be written by others`,
    });
    expect(readdirSync(directory())).toEqual([]);
  });

  test('refuses a symbolic link and a file', () => {
    mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(root, 'elsewhere'), join(root, 'link'));
    for (const end of ['', '/', '//', '/.', '/./']) {
      expect(spool(`${join(root, 'link')}${end}`, 'a.json', '', 10)).toEqual({
        kind: 'failed',
        why: `${join(root, 'link')} is a symbolic link`,
      });
    }
    expect(readdirSync(join(root, 'elsewhere'))).toEqual([]);
    writeFileSync(join(root, 'file'), '');
    expect(spool(join(root, 'file'), 'a.json', '', 10)).toMatchObject({ kind: 'failed' });
  });

  test("refuses somebody else's directory", () => {
    mkdirSync(directory(), { recursive: true, mode: 0o700 });
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chownSync(directory(), 65534, 65534);
    const foreign = isRoot ? directory() : '/usr';
    const why = `${foreign} belongs to user ${isRoot ? 65534 : 0}`;
    expect(spool(foreign, 'a.json', '', 10)).toEqual({ kind: 'failed', why });
  });

  test('a leftover of a killed call does not stand in the way', () => {
    spool(directory(), 'a.json', 'x', 10);
    linkSync(join(directory(), 'a.json'), join(directory(), `.b.json.${process.pid}`));
    expect(spool(directory(), 'b.json', 'y', 10)).toEqual({ kind: 'written' });
    expect(readFileSync(join(directory(), 'a.json'), 'utf8')).toBe('x');
    expect(existsSync(join(directory(), `.b.json.${process.pid}`))).toBe(false);
  });
});
