import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Netns } from '#test/support/netns.ts';
import { mustRun } from '#test/support/run-program.ts';

/** One frame as tshark decodes it: its bytes, and its fields by full name. */
interface Decoded {
  readonly hex: string;
  readonly fields: ReadonlyMap<string, string>;
}

export interface Capture extends AsyncDisposable {
  /** Ends the capture. */
  frames(): Promise<Decoded[]>;
}

/** Captures ARP and ICMPv6 on a link. `makeTraffic` is called until tshark shows that it sees something. */
export async function startCapture(netns: Netns, link: string, makeTraffic: () => void): Promise<Capture> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-capture-'));
  const file = join(directory, 'wire.pcapng');
  const args = [`--net=${netns.path}`, 'tshark', '-i', link, '-f', 'arp or icmp6', '-w', file, '-P', '-l'];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'nsenter', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { text: '', errors: '' };
  child.stdout.on('data', (chunk) => {
    output.text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.errors += chunk;
  });
  const end = () => endCapture(child);
  while (output.text === '') {
    if (child.exitCode !== null) throw new Error(`tshark (Debian package tshark) does not run: ${output.errors}`);
    makeTraffic();
    await sleep(100);
  }
  return {
    async frames() {
      await sleep(500);
      await end();
      return decode(await mustRun('tshark', '-r', file, '-T', 'json', '-x', '--no-duplicate-keys'));
    },
    async [Symbol.asyncDispose]() {
      await end();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function endCapture(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}

function decode(json: string): Decoded[] {
  const packets: { _source: { layers: Record<string, unknown> } }[] = JSON.parse(json);
  return packets.map(({ _source: { layers } }) => {
    const fields = new Map<string, string>();
    flatten(layers, fields);
    const [hex] = layers['frame_raw'] as [string];
    return { hex, fields };
  });
}

function flatten(tree: object, fields: Map<string, string>): void {
  for (const [name, value] of Object.entries(tree)) {
    if (typeof value === 'string') fields.set(name, value);
    else if (typeof value === 'object' && value !== null && !name.endsWith('_raw')) flatten(value, fields);
  }
}
