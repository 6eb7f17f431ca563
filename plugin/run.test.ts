import { expect, test } from 'vitest';
import type { PluginIo } from './plugin-io.ts';
import { run } from './run.ts';

const unexpected = () => {
  throw new TypeError('x is not a function');
};

function ioWith(parts: Partial<PluginIo> & { readonly variables?: Record<string, string> }) {
  const printed: string[] = [];
  const io: PluginIo = {
    env: (name) => (parts.variables ?? { CNI_COMMAND: 'VERSION' })[name],
    nowMs: () => 0,
    sleep: unexpected,
    encodeUtf8: unexpected,
    decodeUtf8: unexpected,
    readStdin: async () => ({ kind: 'text', text: '{"cniVersion":"0.4.0"}' }),
    exchange: unexpected,
    spool: unexpected,
    writeStdout: (text) => {
      printed.push(text);
      return true;
    },
    ...parts,
  };
  return { io, printed };
}

test('one document and a line break', async () => {
  const { io, printed } = ioWith({});
  expect(await run(io)).toBe(0);
  expect(printed).toEqual(['{"cniVersion":"0.4.0","supportedVersions":["0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}\n']);
});

test('an answer that nobody took is not a success', async () => {
  expect(await run(ioWith({ writeStdout: () => false }).io)).toBe(1);
});

test('a bug becomes one error document', async () => {
  const { io, printed } = ioWith({ readStdin: unexpected });
  expect(await run(io)).toBe(1);
  expect(printed).toEqual(['{"cniVersion":"1.1.0","code":999,"msg":"x is not a function"}\n']);
});

test('without a command stdin is left alone', async () => {
  const { io, printed } = ioWith({ variables: {}, readStdin: unexpected });
  expect(await run(io)).toBe(1);
  expect(printed[0]).toContain('CNI_COMMAND is not set');
});

test.each([
  { command: 'ADD', name: 'CNI_ARGS', document: { code: 4, msg: 'CNI_ARGS is not UTF-8' } },
  { command: 'ADD', name: 'CNI_IFNAME', document: { code: 4, msg: 'CNI_IFNAME is not UTF-8' } },
  { command: 'ADD', name: 'IPLEDGER_SOCKET', document: { code: 4, msg: 'IPLEDGER_SOCKET is not UTF-8' } },
  { command: 'DEL', name: 'IPLEDGER_SPOOL', document: { code: 4, msg: 'IPLEDGER_SPOOL is not UTF-8' } },
])('bytes that are no text in $name are refused, not replaced', async ({ command, name, document }) => {
  const variables: Record<string, string> = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: 'c',
    CNI_NETNS: '/n',
    CNI_IFNAME: 'eth0',
  };
  const stdin = '{"cniVersion":"1.0.0","name":"net","ipam":{"type":"ipledger"}}';
  const { io, printed } = ioWith({
    env: (asked) => (asked === name ? null : variables[asked]),
    readStdin: async () => ({ kind: 'text', text: stdin }),
  });
  expect(await run(io)).toBe(1);
  expect(JSON.parse(printed[0] ?? '')).toMatchObject(document);
});

test('a command that is no text is refused', async () => {
  const { io, printed } = ioWith({ env: () => null, readStdin: unexpected });
  expect(await run(io)).toBe(1);
  expect(JSON.parse(printed[0] ?? '')).toMatchObject({ code: 4, msg: 'CNI_COMMAND is not UTF-8' });
});

test.each([
  { command: 'ADD', tookMs: 12_000, leftMs: 18_000 },
  { command: 'DEL', tookMs: 4_000, leftMs: 6_000 },
  { command: 'VERSION', tookMs: 60_000, leftMs: 0 },
])('$command may print for as long as its budget lasts', async ({ command, tookMs, leftMs }) => {
  let nowMs = 0;
  const given: number[] = [];
  const { io } = ioWith({
    variables: { CNI_COMMAND: command },
    nowMs: () => nowMs,
    readStdin: async () => {
      nowMs = tookMs;
      return { kind: 'text', text: '' };
    },
    writeStdout: (_text, timeoutMs) => {
      given.push(timeoutMs);
      return true;
    },
  });
  await run(io);
  expect(given).toEqual([leftMs]);
});

test('a stdin that cannot be read is an error of its own', async () => {
  const { io, printed } = ioWith({ readStdin: async () => ({ kind: 'failed', why: 'EIO' }) });
  expect(await run(io)).toBe(1);
  expect(printed).toEqual(['{"cniVersion":"1.1.0","code":5,"msg":"stdin cannot be read","details":"EIO"}\n']);
});
