import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DEFAULT_SOCKET } from '#pkg/agentapi/paths.ts';
import { run } from '#plugin/run.ts';
import { builtPlugins } from '#test/support/built.ts';
import { startFakeAgent } from '#test/support/fake-agent.ts';
import { runProgram } from '#test/support/run-program.ts';
import { readRootFile } from './source-files.ts';

const ATTACHMENT = {
  CNI_CONTAINERID: 'c1',
  CNI_IFNAME: 'eth0',
  CNI_NETNS: '/var/run/netns/a',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=prod;K8S_POD_NAME=web-0;K8S_POD_UID=4f0c',
};
/** All variables that the plugin may read; docs/security.md has the same list. */
const VARIABLES = ['CNI_COMMAND', ...Object.keys(ATTACHMENT), 'IPLEDGER_SOCKET', 'IPLEDGER_SPOOL'];
const CONF = JSON.stringify({ cniVersion: '1.0.0', name: 'net', ipam: { type: 'ipledger' } });

const [PT_LOAD, PT_INTERP] = [1, 3];

interface Call {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly usesSocket?: true;
  readonly usesSpool?: true;
}

/** Variables that loaders, runtimes, shells and other plugins obey, and many without a meaning. */
const HOSTILE = {
  ...Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`NOISE_${at}`, 'x'.repeat(50)])),
  LD_PRELOAD: '/tmp/evil.so',
  LD_LIBRARY_PATH: '/tmp',
  LD_DEBUG: 'all',
  GCONV_PATH: '/tmp',
  MALLOC_TRACE: '/tmp/trace',
  NODE_OPTIONS: '--require /tmp/evil.js --inspect',
  NODE_PATH: '/tmp',
  QUICKJS_MODULE_PATH: '/tmp',
  QJS_DUMP_FLAGS: '0xffff',
  BUN_OPTIONS: '--preload /tmp/evil.js',
  BUN_BE_BUN: '1',
  AWS_LAMBDA_RUNTIME_API: '127.0.0.1:1',
  _HANDLER: 'evil.handler',
  LAMBDA_TASK_ROOT: '/tmp',
  RUST_BACKTRACE: 'full',
  RUST_LOG: 'trace',
  RUST_MIN_STACK: '1',
  HOME: '/nonexistent',
  PATH: '/nonexistent',
  PWD: '/nonexistent',
  TMPDIR: '/nonexistent',
  LANG: 'tr_TR.UTF-8',
  LC_ALL: 'tr_TR.UTF-8',
  TZ: ':/etc/passwd',
  http_proxy: 'http://127.0.0.1:1',
  HTTP_PROXY: 'http://127.0.0.1:1',
  KUBECONFIG: '/tmp/evil.yml',
  KUBERNETES_SERVICE_HOST: '127.0.0.1',
  CNI_PATH: '/tmp',
  CNI_NETNS_OVERRIDE: '1',
  cni_command: 'DEL',
  SPIDERPOOL_SOCKET: '/tmp/evil.sock',
  IPLEDGER_PLUGIN: '/tmp/evil',
  IPLEDGER_PLUGIN_BUNDLE: '/tmp/evil.js',
  IPLEDGER_DEBUG: '1',
  IPLEDGER_LOG_LEVEL: 'debug',
};

const CALLS: readonly Call[] = [
  { name: 'VERSION', env: { CNI_COMMAND: 'VERSION' } },
  { name: 'ADD', env: { CNI_COMMAND: 'ADD', ...ATTACHMENT }, usesSocket: true },
  { name: 'ADD without attachment', env: { CNI_COMMAND: 'ADD' }, usesSocket: true },
  { name: 'a DEL that is spooled', env: { CNI_COMMAND: 'DEL', ...ATTACHMENT }, usesSocket: true, usesSpool: true },
  { name: 'STATUS', env: { CNI_COMMAND: 'STATUS' }, usesSocket: true },
  { name: 'no verb', env: {} },
];

const executable = (await builtPlugins()).find((path) => path.endsWith('/native/ipledger')) ?? '';
const canTrace = (await runProgram('strace', ['-qq', '-o', '/dev/null', 'true']).catch(() => null))?.code === 0;
if (!canTrace) process.stderr.write('No strace that works here (Debian: strace): opened files are not tested.\n');

const root = mkdtempSync(join(tmpdir(), 'ipledger-environment-'));
afterAll(() => rmSync(root, { recursive: true }));

/** All visible effects of one call: output, requests to the agent, spooled files. */
async function observe(
  call: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
  tracer: string[],
) {
  const spool = join(mkdtempSync(join(root, 'run-')), 'spool');
  await using agent = await startFakeAgent(({ method }) =>
    method === 'DELETE'
      ? 'cut'
      : { body: { ips: [{ version: 4, address: '10.0.0.2/24', nic: 'eth0', ipPool: 'a', gateway: '10.0.0.1' }] } },
  );
  const env = { ...more, ...call, IPLEDGER_SOCKET: agent.socketPath, IPLEDGER_SPOOL: spool };
  const [program = executable, ...words] = [...tracer, executable];
  const { code, stdout, stderr } = await runProgram(program, words, { env, stdin: CONF });
  const asked = agent.seen.map(({ method, path, body }) => ({
    method,
    path,
    body: withoutTimes(JSON.stringify(body ?? null)),
  }));
  const spooled = readdirOrNone(spool).map((name) => [name, withoutTimes(readFileSync(join(spool, name), 'utf8'))]);
  return { socket: agent.socketPath, spool, seen: { code, stdout, stderr, asked, spooled } };
}

/** Times differ from run to run: their names end in Ms. */
function withoutTimes(json: string): string {
  return json.replace(/"\w+Ms":[\d.]+/g, '"ms":0');
}

function readdirOrNone(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

describe.runIf(executable !== '')('the native plugin', () => {
  test.each(CALLS)('does the same in a hostile environment: $name', async ({ env }) => {
    const bare = await observe(env, {}, []);
    const hostile = await observe(env, HOSTILE, []);
    expect(hostile.seen).toEqual(bare.seen);
    expect(bare.seen.stderr).toBe('');
  });

  test.runIf(canTrace).each(CALLS)(
    'opens nothing but its socket and its spool: $name',
    async ({ env, usesSocket, usesSpool }) => {
      const trace = join(mkdtempSync(join(root, 'trace-')), 'strace');
      const { socket, spool } = await observe(env, HOSTILE, [
        '/usr/bin/strace',
        '-f',
        '-qq',
        '-e',
        'trace=%file,socket,connect,bind,listen',
        '-s',
        '4096',
        '-o',
        trace,
      ]);
      const [start = '', ...touched] = readFileSync(trace, 'utf8').trim().split('\n');
      expect(start).toContain('execve(');
      const named = touched.flatMap((line) => [...line.matchAll(/"(\/[^"]*)"/g)].map(([, path]) => path ?? ''));
      const isParent = (path: string) => spool.startsWith(`${path}/`);
      expect(named.filter((path) => path !== socket && path !== spool && !isParent(path))).toEqual([]);
      expect([named.includes(socket), named.includes(spool)]).toEqual([usesSocket ?? false, usesSpool ?? false]);
      expect(touched.filter((line) => /execve|AF_INET|AF_NETLINK|bind\(|listen\(/.test(line))).toEqual([]);
    },
  );

  test('is static: no loader looks at LD_PRELOAD', () => {
    const elf = readFileSync(executable);
    expect(elf.toString('latin1', 1, 4)).toBe('ELF');
    const [at, size, count] = [Number(elf.readBigUInt64LE(32)), elf.readUInt16LE(54), elf.readUInt16LE(56)];
    const segments = Array.from({ length: count }, (_, index) => elf.readUInt32LE(at + index * size));
    expect(segments).toContain(PT_LOAD);
    expect(segments).not.toContain(PT_INTERP);
  });

  test('connects early to the same socket path that the TypeScript code uses', () => {
    const ahead = /DEFAULT_SOCKET: &str = "(.*)";/.exec(readRootFile('plugin/host/src/ahead.rs'))?.[1];
    expect(ahead).toBe(DEFAULT_SOCKET);
  });

  test('has the version of the package', async () => {
    const { version } = JSON.parse(readRootFile('package.json')) as { version: string };
    expect((await runProgram(executable, ['--version'], { env: {} })).stdout).toBe(`ipledger ${version}\n`);
  });
});

test('the plugin reads no other variable', async () => {
  const asked = new Set<string>();
  for (const verb of ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION', 'none']) {
    const env: Record<string, string> = { CNI_COMMAND: verb, ...ATTACHMENT };
    await run({
      env: (name) => {
        asked.add(name);
        return env[name];
      },
      nowMs: () => 0,
      sleep: async () => {},
      encodeUtf8: (text) => new TextEncoder().encode(text),
      decodeUtf8: (bytes) => new TextDecoder().decode(bytes),
      readStdin: async () => ({ kind: 'text', text: CONF }),
      exchange: async () => ({ kind: 'dropped' }),
      spool: async () => ({ kind: 'written' }),
      writeStdout: () => true,
    });
  }
  expect([...asked].sort()).toEqual(VARIABLES.toSorted());
  expect(VARIABLES.filter((name) => !readRootFile('docs/security.md').includes(`\`${name}\``))).toEqual([]);
});
