import { expect, test } from 'vitest';
import { type Daemon, heapSizeMb, newSpaceMb } from './heap-size.ts';

const MIB = 1 << 20;

test.each<{ name: string; daemon: Daemon; limit: number | null; heapMb: number }>([
  { name: 'the shipped limit of the agent', daemon: 'agent', limit: 400 * MIB, heapMb: 260 },
  { name: 'the shipped limit of the controller', daemon: 'controller', limit: 512 * MIB, heapMb: 332 },
  { name: 'a gigabyte', daemon: 'controller', limit: 1_024 * MIB, heapMb: 665 },
  { name: 'hardly any memory', daemon: 'agent', limit: 16 * MIB, heapMb: 48 },
  { name: 'a large host', daemon: 'agent', limit: 65_536 * MIB, heapMb: 4_096 },
  { name: 'an agent without a limit', daemon: 'agent', limit: null, heapMb: 256 },
  { name: 'a controller without a limit', daemon: 'controller', limit: null, heapMb: 1_024 },
])('$name: $heapMb MiB', ({ daemon, limit, heapMb }) => expect(heapSizeMb(daemon, limit)).toBe(heapMb));

test.each<{ name: string; daemon: Daemon; heapMb: number; newMb: number }>([
  { name: 'any agent', daemon: 'agent', heapMb: 4_096, newMb: 2 },
  { name: 'a small controller', daemon: 'controller', heapMb: 48, newMb: 2 },
  { name: 'the shipped limit of the controller', daemon: 'controller', heapMb: 332, newMb: 13 },
  { name: 'a large controller', daemon: 'controller', heapMb: 4_096, newMb: 16 },
])('new objects of $name: $newMb MiB', ({ daemon, heapMb, newMb }) => expect(newSpaceMb(daemon, heapMb)).toBe(newMb));
