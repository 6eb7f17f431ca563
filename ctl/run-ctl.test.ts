import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WhoAnswer } from '#pkg/agentapi/admin.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { type FakeAgent, type Reply, type SeenRequest, startFakeAgent } from '#test/support/fake-agent.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { runCtl } from './run-ctl.ts';

const held: WhoAnswer = {
  address: '10.0.0.5',
  records: [buildRecord({ resourceVersion: '7' })],
  pools: ['v4'],
  reservedBy: [],
  asOfMs: 1000,
};
const free: WhoAnswer = { ...held, records: [] };

/** `answers` by path; the terminal's user types `replies`. */
async function run(args: string[], answers: Record<string, Reply>, replies?: string[]) {
  const answer = ({ path }: SeenRequest) => answers[path.replace('/v1/ledger/', '')] ?? { status: 500, body: {} };
  await using agent: FakeAgent = await startFakeAgent(answer);
  const terminal = openMemoryTerminal({ nowMs: Date.parse('2026-11-16T10:05:00Z'), ...(replies ? { replies } : {}) });
  const code = await runCtl(args, { socket: agent.socketPath }, terminal);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr, seen: agent.seen };
}

test('list reads page after page into one table', async () => {
  const pages = [
    { records: [buildRecord({ address: '10.0.0.5' })], next: '10.0.0.5' },
    { records: [buildRecord({ address: '10.0.0.6' })] },
  ];
  await using agent = await startFakeAgent(() => ({ body: pages.shift() }));
  const terminal = openMemoryTerminal();
  expect(await runCtl(['list', '--pool', 'v4', '--node', 'n1'], { socket: agent.socketPath }, terminal)).toBe(0);
  expect(terminal.stdout.match(/^10\.0\.0\.\d/gm)).toEqual(['10.0.0.5', '10.0.0.6']);
  expect(agent.seen.map(({ query }) => query)).toEqual([
    { pool: 'v4', node: 'n1', limit: '500' },
    { pool: 'v4', node: 'n1', limit: '500', after: '10.0.0.5' },
  ]);
});

test('conflicts lists the quarantined addresses only', async () => {
  const record = buildRecord({ address: '10.0.0.6' });
  const quarantined = { ...record, spec: { ...record.spec, state: 'Quarantined', until: '2026-11-16T10:15:00Z' } };
  const records = [buildRecord({ address: '10.0.0.5' }), quarantined];
  const { code, stdout } = await run(['conflicts'], { records: { body: { records } } });
  expect(code).toBe(1);
  expect(stdout.match(/^10\.0\.0\.\d/gm)).toEqual(['10.0.0.6']);
});

test('in-use says no while anybody may be behind an address', async () => {
  const inState = (state: string) => {
    const record = buildRecord({ address: '10.0.0.6' });
    return { ...record, spec: { ...record.spec, state } };
  };
  const codeOf = async (state: string) =>
    (await run(['in-use'], { records: { body: { records: [inState(state)] } } })).code;
  expect([await codeOf('Allocated'), await codeOf('Suspect'), await codeOf('Retained')]).toEqual([1, 1, 0]);
});

test('a list that turns in circles is given up', async () => {
  const { code, stderr } = await run(['list'], { records: { body: { records: [], next: 'x' } } });
  expect(code).toBe(2);
  expect(stderr).toBe("ipledgerctl: the agent's list does not get past x (internal)\n");
});

test.each([
  { name: 'held', answer: held, code: 0, start: '10.0.0.5/24 is Allocated' },
  { name: 'free', answer: free, code: 1, start: 'Nobody holds 10.0.0.5: it is free in pool v4.' },
])('who of an address that is $name', async ({ answer, code, start }) => {
  const result = await run(['who', '10.0.0.5'], { records: { body: answer } });
  expect(result.code).toBe(code);
  expect(result.stdout.split('\n')[0]).toBe(start);
});

test('a typing mistake never reaches the agent', async () => {
  const { code, stderr, seen } = await run(['who', '10.0.0.555'], {});
  expect(code).toBe(2);
  expect(stderr).toBe('ipledgerctl: "10.0.0.555" is not an IP address (bad-input)\n');
  expect(seen).toEqual([]);
});

test('explain pod is the short form; what it cannot be is refused', async () => {
  const answer = { source: 'default pools', pools: [], refusal: { reason: 'no-eligible-pool', message: 'none' } };
  const { code, seen } = await run(['explain', 'pod', 'prod/web-0'], { explain: { body: answer } });
  expect([code, seen[0]?.body]).toEqual([1, expect.objectContaining({ podNamespace: 'prod', podName: 'web-0' })]);
  for (const args of [['pod', 'web-0'], ['pod'], ['node', 'a/b'], ['pod', 'a/b/c']]) {
    expect(await run(['explain', ...args], {})).toMatchObject({ code: 2, seen: [] });
  }
});

test('explain sends what an ADD would', async () => {
  const args = [
    'explain',
    '--ipv4-pool',
    'a',
    '--ipv4-pool',
    'b',
    '--pod',
    'web',
    '--namespace',
    'prod',
    '--address',
    '10.0.0.5',
  ];
  const { code, seen } = await run(args, { explain: { body: { source: 'CNI configuration', pools: [] } } });
  expect(code).toBe(1);
  expect(seen[0]?.body).toEqual({
    containerID: 'ipledgerctl-explain',
    ifName: 'eth0',
    netNamespace: '',
    podNamespace: 'prod',
    podName: 'web',
    podUID: '',
    defaultIPv4IPPool: ['a', 'b'],
    requestedIPs: ['10.0.0.5'],
  });
});

test.each([
  { name: 'nothing', findings: [], code: 0 },
  { name: 'something', findings: [{ kind: 'outside-pool', subject: '10.0.0.5', message: 'no' }], code: 1 },
])('check that finds $name', async ({ findings, code }) => {
  expect((await run(['check'], { check: { body: { recordsChecked: 1, findings } } })).code).toBe(code);
});

test.each([
  { args: ['gc', '--dry-run'], method: 'GET' },
  { args: ['gc'], method: 'POST' },
])('$args collects by $method', async ({ args, method }) => {
  const { code, seen } = await run(args, { collect: { body: { dryRun: method === 'GET', freed: [], kept: [] } } });
  expect(code).toBe(0);
  expect(seen[0]?.method).toBe(method);
});

describe('release', () => {
  const released = { records: { body: held }, release: { body: { released: true } } };
  const question = 'Release 10.0.0.5, held by default/web? [y/N] ';

  test.each(['y', 'Yes '])('after the answer "%s" the record is given back as it was seen', async (reply) => {
    const { code, stdout, stderr, seen } = await run(['release', '10.0.0.5'], released, [reply]);
    expect(stderr).toContain('  netns      /var/run/netns/web');
    expect(stderr.endsWith(question)).toBe(true);
    expect(seen.at(-1)?.body).toEqual({ name: '10.0.0.5', uid: 'uid-of-10.0.0.5', resourceVersion: '7', asOfMs: 1000 });
    expect(stdout).toBe('Released 10.0.0.5, held by default/web.\n');
    expect(code).toBe(0);
  });

  test.each(['', 'n', 'yo'])('the answer "%s" is a no', async (reply) => {
    const { code, stderr, seen } = await run(['release', '10.0.0.5'], released, [reply]);
    expect(code).toBe(1);
    expect(stderr.endsWith(`${question}Nothing was released.\n`)).toBe(true);
    expect(seen).toHaveLength(1);
  });

  test('with --yes nobody is asked', async () => {
    const { code, stderr } = await run(['release', '10.0.0.5', '--yes'], released);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('only --although-in-doubt asks for a release without proof, and its help says what it may cost', async () => {
    const plain = await run(['release', '10.0.0.5', '--yes'], released);
    const doubtful = await run(['release', '10.0.0.5', '--yes', '--although-in-doubt'], released);
    expect(plain.seen.at(-1)?.body).not.toHaveProperty('althoughInDoubt');
    expect(doubtful.seen.at(-1)?.body).toMatchObject({ name: '10.0.0.5', althoughInDoubt: true });
    const { stdout } = await run(['release', '--help'], {});
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('two MACs on one address');
  });

  test('without a terminal and without --yes it is refused', async () => {
    const { code, stderr, seen } = await run(['release', '10.0.0.5'], released);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'ipledgerctl: the release cannot be confirmed: stdin is not a terminal (bad-input)\nIn a script say --yes.\n',
    );
    expect(seen).toHaveLength(1);
  });

  test.each([
    { because: 'gone', text: 'Not released: 10.0.0.5 was already given back.\n' },
    {
      because: 'changed',
      text: 'Not released: the record of 10.0.0.5 changed meanwhile. Look again: ipledgerctl who 10.0.0.5\n',
    },
  ])('a record that is $because meanwhile stays as it is', async ({ because, text }) => {
    const answers = { records: { body: held }, release: { body: { released: false, because } } };
    const { code, stdout } = await run(['release', '10.0.0.5', '--yes'], answers);
    expect({ code, stdout }).toEqual({ code: 1, stdout: text });
  });

  test('an address that nobody holds', async () => {
    const { code, stderr } = await run(['release', '10.0.0.5', '--yes'], { records: { body: free } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Nobody holds 10.0.0.5: it is free in pool v4.\n' });
  });

  test('an address held in two domains asks for the domain', async () => {
    const records = [buildRecord(), buildRecord({ domain: 'blue' })];
    const { code, stderr } = await run(['release', '10.0.0.5', '--yes'], { records: { body: { ...held, records } } });
    expect(code).toBe(2);
    expect(stderr).toContain('held in several domains (default, blue): choose one with --domain');
  });
});

test.each([
  { args: ['pools', '-o', 'json'], path: 'pools', body: { pools: [], problems: [] } },
  { args: ['-o', 'json', 'list'], path: 'records', body: { records: [buildRecord()] } },
  { args: ['who', '10.0.0.5', '-o', 'json'], path: 'records', body: held },
  { args: ['explain', '-o', 'json'], path: 'explain', body: { source: 's', pools: [] } },
  { args: ['check', '-o', 'json'], path: 'check', body: { recordsChecked: 0, findings: [] } },
  { args: ['gc', '-o', 'json'], path: 'collect', body: { dryRun: false, freed: [], kept: [] } },
])('$args prints the answer as it came', async ({ args, path, body }) => {
  const { stdout } = await run(args, { [path]: { body } });
  expect(JSON.parse(stdout)).toEqual(body);
});

test('a holder cannot drive the terminal by its name', async () => {
  const records = [buildRecord({ holder: { name: `web${String.fromCharCode(27)}[2J` } })];
  const { stdout } = await run(['list'], { records: { body: { records } } });
  expect(stdout).toContain('default/web?[2J');
});

test('an error of the agent is its message, its reason and its details', async () => {
  const body = { reason: 'unknown-pool', message: 'There is no pool x.', details: 'Pools: v4, v6' };
  const { code, stdout, stderr } = await run(['list', '--pool', 'x'], { records: { status: 400, body } });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toBe('ipledgerctl: There is no pool x. (unknown-pool)\nPools: v4, v6\n');
});

describe('usage', () => {
  test.each([
    { name: 'no command', args: [], says: 'Usage: ipledgerctl' },
    { name: 'an unknown command', args: ['pool'], says: "unknown command 'pool'" },
    { name: 'an unknown option', args: ['list', '--pools'], says: "unknown option '--pools'" },
    { name: 'a missing address', args: ['who'], says: "missing required argument 'address'" },
    { name: 'an unknown format', args: ['pools', '-o', 'yaml'], says: 'Allowed choices are text, json' },
  ])('$name is exit code 2', async ({ args, says }) => {
    const { code, stdout, stderr } = await run(args, {});
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('the help of a command shows its own and the common options', async () => {
    const { code, stdout } = await run(['list', '--help'], {});
    expect(code).toBe(0);
    for (const option of ['--pool <name>', '--node <name>', '--socket <path>', '--output <format>']) {
      expect(stdout).toContain(option);
    }
  });

  test('the help of import says what becomes of the state of Spiderpool, and what refuses it', async () => {
    const { code, stdout } = await run(['import', '--help'], {});
    expect(code).toBe(0);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain('every address that Spiderpool gave out gets its record, then agents may begin');
    expect(text).toContain('exit code 1 while Spiderpool may still give out addresses or its objects cannot be read');
  });

  test('--socket wins over the environment', async () => {
    const terminal = openMemoryTerminal();
    expect(await runCtl(['pools', '--socket', '/nowhere/agent.sock'], { socket: '/elsewhere.sock' }, terminal)).toBe(2);
    expect(terminal.stderr).toContain('there is no socket /nowhere/agent.sock');
  });

  test('without --socket and environment it is the default socket', async () => {
    const terminal = openMemoryTerminal();
    await runCtl(['--help'], {}, terminal);
    expect(terminal.stdout).toContain('/var/run/spidernet/spiderpool.sock');
  });
});

describe('from the check to the release', () => {
  const record = held.records[0] as (typeof held.records)[number];
  const finding = { kind: 'in-doubt', subject: '10.0.0.5', message: 'it is Suspect', records: [record.name] };
  const other = { ...record, name: '10.0.0.6', uid: 'other-uid' };
  const answers = {
    check: { body: { recordsChecked: 2, findings: [finding, { ...finding, records: [other.name] }] } },
    records: { body: { records: [record, other] } },
  };
  /** The report as the operator saved it after `edit`. */
  async function saved(edit: (text: string) => string): Promise<string> {
    const { code, stdout } = await run(['check', '-o', 'report'], answers);
    expect(code).toBe(1);
    const file = join(mkdtempSync(join(tmpdir(), 'ipledger-report-')), 'report');
    writeFileSync(file, edit(stdout));
    onTestFinished(() => rmSync(dirname(file), { recursive: true }));
    return file;
  }
  const markOne = (text: string) => text.replace(/^keep( +10\.0\.0\.5)/m, 'release$1');
  const markAll = (text: string) => text.replaceAll(/^keep/gm, 'release');

  test('only what is marked is released, in the version that the check has seen', async () => {
    const file = await saved(markOne);
    const { code, stdout, seen } = await run(['release', '--from-report', file, '--yes'], {
      release: { body: { released: true } },
    });
    expect([code, stdout]).toEqual([0, 'Released 10.0.0.5.\n1 of 1 released.\n']);
    expect(seen.map(({ body }) => body)).toEqual([
      { name: '10.0.0.5', uid: record.uid, resourceVersion: '7', asOfMs: Date.parse('2026-11-16T10:05:00Z') },
    ]);
  });

  test('what is marked as release-in-doubt is asked for without proof, and shown so before', async () => {
    const file = await saved((text) => text.replace(/^keep( +10\.0\.0\.5)/m, 'release-in-doubt$1'));
    const { code, stderr, seen } = await run(
      ['release', '--from-report', file],
      { release: { body: { released: true } } },
      ['y'],
    );
    expect([code, stderr]).toEqual([0, '  10.0.0.5 although in doubt\nRelease these 1? [y/N] ']);
    expect(seen).toMatchObject([{ body: { name: '10.0.0.5', althoughInDoubt: true } }]);
  });

  test('a refusal is shown with what the operator can do', async () => {
    const file = await saved(markOne);
    const body = { reason: 'bad-input', message: 'not proven gone', details: 'Look there.\nOr say more.' };
    const { stdout } = await run(['release', '--from-report', file, '--yes'], { release: { status: 400, body } });
    expect(stdout).toContain('Not released: 10.0.0.5: not proven gone. Look there. Or say more.\n');
  });

  test('the doubt is accepted line by line, not for a whole report', async () => {
    const file = await saved(markAll);
    const { code, stderr, seen } = await run(['release', '--from-report', file, '--although-in-doubt', '--yes'], {});
    expect([code, seen]).toEqual([2, []]);
    expect(stderr).toContain('each line says it: release-in-doubt');
  });

  test.each([
    {
      name: 'changed',
      reply: { body: { released: false, because: 'changed' } },
      says: 'it has changed since the report',
    },
    { name: 'gone', reply: { body: { released: false, because: 'gone' } }, says: 'it is gone already' },
    {
      name: 'in use',
      reply: { status: 400, body: { reason: 'bad-input', message: 'its pod is alive' } },
      says: 'its pod is alive',
    },
  ])('a record that is $name stays, and the others are tried all the same', async ({ reply, says }) => {
    const file = await saved(markAll);
    const { code, stdout, seen } = await run(['release', '--from-report', file, '--yes'], { release: reply });
    expect([code, seen.length]).toEqual([1, 2]);
    expect(stdout).toContain(says);
    expect(stdout).toContain('0 of 2 released.');
  });

  test('the operator is asked once, and may decline', async () => {
    const file = await saved(markAll);
    const { code, stderr, seen } = await run(['release', '--from-report', file], {}, ['n']);
    expect([code, seen]).toEqual([1, []]);
    expect(stderr).toContain('Release these 2? [y/N]');
  });

  test.each([
    { name: 'nothing is marked', edit: (text: string) => text, args: [], code: 1, says: 'No line of ' },
    { name: 'it is a different file', edit: () => 'x', args: [], code: 2, says: 'this is no report' },
    { name: 'an address is given too', edit: markAll, args: ['10.0.0.5'], code: 2, says: 'or --from-report FILE' },
  ])('nothing is released where $name', async ({ edit, args, code, says }) => {
    const file = await saved(edit);
    const result = await run(['release', ...args, '--from-report', file, '--yes'], {});
    expect([result.code, result.seen]).toEqual([code, []]);
    expect(result.stderr).toContain(says);
  });

  test.each([
    { args: ['pools', '-o', 'report'], says: '-o report goes with check' },
    { args: ['release'], says: 'give an address' },
    { args: ['release', '--from-report', '/nowhere/report', '--yes'], says: 'cannot be read' },
  ])('$args is refused', async ({ args, says }) => {
    const { code, stderr, seen } = await run(args, {});
    expect([code, seen]).toEqual([2, []]);
    expect(stderr).toContain(says);
  });
});
