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

test('a stdin that cannot be read is an error of its own', async () => {
  const { io, printed } = ioWith({ readStdin: async () => ({ kind: 'failed', why: 'EIO' }) });
  expect(await run(io)).toBe(1);
  expect(printed).toEqual(['{"cniVersion":"1.1.0","code":5,"msg":"stdin cannot be read","details":"EIO"}\n']);
});
