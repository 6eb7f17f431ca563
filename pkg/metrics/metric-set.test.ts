import { expect, test } from 'vitest';
import { MetricSet } from './metric-set.ts';

test('counters count, by label where they have one', async () => {
  const set = new MetricSet();
  const probes = set.counter('probes_total', 'Probes', ['verdict']);
  probes.add({ verdict: 'free' });
  probes.add({ verdict: 'free' });
  probes.add({ verdict: 'conflict' });
  set.counter('calls_total', 'Calls').add();
  const text = await set.text();
  expect(text).toContain('# TYPE probes_total counter');
  expect(text).toContain('probes_total{verdict="free"} 2');
  expect(text).toContain('probes_total{verdict="conflict"} 1');
  expect(text).toContain('calls_total 1');
});

test('a gauge is read at every scrape, and one that throws costs nobody else anything', async () => {
  const set = new MetricSet();
  let waiting = 3;
  set.gauge('waiting', 'Waiting', () => waiting);
  set.gauge('broken', 'Broken', () => {
    throw new Error('no');
  });
  expect(await set.text()).toContain('\nwaiting 3\n');
  waiting = 4;
  const text = await set.text();
  expect(text).toContain('\nwaiting 4\n');
  expect(text.toLowerCase()).toContain('\nbroken nan\n');
});

test('a histogram has the buckets, and a level keeps what was set last', async () => {
  const set = new MetricSet();
  const took = set.histogram('took_seconds', 'Calls');
  for (const seconds of [0.2, 4, 0.6]) took.observe(seconds);
  const level = set.level('took_max_seconds', 'Longest call');
  for (const seconds of [0.2, 4]) level.set(seconds);
  const text = await set.text();
  expect([...text.matchAll(/took_seconds_bucket\{le="([^"]+)"\} (\d+)/g)].map(([, le, n]) => `${le}=${n}`)).toEqual([
    '0.1=0',
    '0.3=1',
    '0.5=1',
    '1=2',
    '3=2',
    '5=3',
    '7=3',
    '10=3',
    '15=3',
    '+Inf=3',
  ]);
  expect(text).toContain('# TYPE took_max_seconds gauge\ntook_max_seconds 4\n');
});
