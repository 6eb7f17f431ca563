import { expect, test } from 'vitest';
import { chooseSource, type Need, type SourceFlags, type Surroundings } from './source.ts';

const DEFAULT = { from: 'socket', path: '/var/run/spidernet/spiderpool.sock' };
const FILE = { from: 'kubeconfig', file: '/k' };

test.each<{ name: string; need?: Need; flags?: SourceFlags; around?: Surroundings; source: object }>([
  { name: 'nothing given', source: DEFAULT },
  { name: '--socket', flags: { socket: '/s' }, around: { kubeconfig: '/k' }, source: { from: 'socket', path: '/s' } },
  { name: '--kubeconfig', flags: { kubeconfig: '/k' }, around: { socket: '/s' }, source: FILE },
  { name: 'IPLEDGER_SOCKET', around: { socket: '/s', kubeconfig: '/k' }, source: { from: 'socket', path: '/s' } },
  { name: 'KUBECONFIG', around: { kubeconfig: '/k' }, source: FILE },
  { name: 'several files', around: { kubeconfig: '/a::/b' }, source: { from: 'kubeconfig', file: ['/a', '/b'] } },
  {
    name: '--context',
    flags: { context: 'x' },
    around: { kubeconfig: '/k', socket: '/s' },
    source: { ...FILE, context: 'x' },
  },
  { name: '--context of a file', flags: { context: 'x', kubeconfig: '/k' }, source: { ...FILE, context: 'x' } },
  { name: 'a pod without an agent', around: { isInCluster: true }, source: { from: 'cluster' } },
  { name: "an agent's pod", around: { isInCluster: true, hasDefaultSocket: true }, source: DEFAULT },
  { name: 'an agent is needed', need: 'agent', around: { kubeconfig: '/k', isInCluster: true }, source: DEFAULT },
  { name: 'the cluster is needed', need: 'cluster', around: { socket: '/s', kubeconfig: '/k' }, source: FILE },
])('who is asked: $name', ({ need = 'either', flags = {}, around = {}, source }) => {
  expect(chooseSource(need, flags, around)).toEqual(source);
});

test.each<{ name: string; need: Need; flags?: SourceFlags; around?: Surroundings; says: string }>([
  { name: 'both flags', need: 'either', flags: { socket: '/s', kubeconfig: '/k' }, says: 'not both' },
  { name: 'an agent by kubeconfig', need: 'agent', flags: { kubeconfig: '/k' }, says: 'only the agent of a node' },
  { name: 'the cluster by socket', need: 'cluster', flags: { socket: '/s' }, says: 'only the API server' },
  { name: 'no cluster', need: 'cluster', says: 'only a cluster can answer this, and which cluster?' },
  { name: 'an agent by context', need: 'agent', flags: { context: 'x' }, says: 'without --context' },
  { name: 'a context of a socket', need: 'either', flags: { socket: '/s', context: 'x' }, says: 'leave out --socket' },
  { name: 'a context of nothing', need: 'cluster', flags: { context: 'x' }, says: '--context needs a kubeconfig' },
])('refused: $name', ({ need, flags = {}, around = {}, says }) => {
  expect(() => chooseSource(need, flags, around)).toThrow(says);
});
