import { expect, test } from 'vitest';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { ToldApplications } from './told-applications.ts';

const eventOf = (uid: string, note: string): EmittedEvent => ({
  regarding: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'prod', name: uid, uid },
  type: 'Warning',
  reason: 'SubnetInsufficient',
  note,
});

function start() {
  const emitted: string[] = [];
  const told = new ToldApplications({ emit: ({ regarding, note }) => void emitted.push(`${regarding.uid} ${note}`) });
  const newsOf = (
    events: readonly EmittedEvent[],
    nowMs: number,
    uids = events.map(({ regarding }) => regarding.uid),
  ) => {
    emitted.length = 0;
    const againInMs = told.tell('office', events, new Set(uids), nowMs);
    return { news: [...emitted], againInMs };
  };
  return { newsOf };
}

test('thousands of short applications are told once each, some at a time, however often the subnet is looked at', () => {
  const { newsOf } = start();
  const events = Array.from({ length: 3_000 }, (_, at) => eventOf(`u-${at}`, 'left 2'));
  const all = [];
  for (let pass = 0; pass < 15; pass += 1) {
    const { news, againInMs } = newsOf(events, pass * 100);
    expect(news).toHaveLength(200);
    expect(againInMs).toBe(pass === 14 ? null : 10_000);
    all.push(...news);
  }
  expect(new Set(all).size).toBe(3_000);
  for (let pass = 0; pass < 5; pass += 1) expect(newsOf(events, 2_000 + pass)).toEqual({ news: [], againInMs: null });
});

test('another reason is told, one that came back is not, and after half an hour all of it is told again', () => {
  const { newsOf } = start();
  const [short, ending] = [eventOf('u', 'left 2'), eventOf('u', 'the subnet is being deleted')];
  expect(newsOf([short], 0).news).toHaveLength(1);
  expect(newsOf([ending], 1).news).toEqual(['u the subnet is being deleted']);
  expect(newsOf([], 2, ['u']).news).toEqual([]);
  expect(newsOf([short], 3).news).toEqual([]);
  expect(newsOf([short], 30 * 60_000).news).toHaveLength(1);
});

test('an application that asks no more is forgotten', () => {
  const { newsOf } = start();
  newsOf([eventOf('u', 'left 2')], 0);
  newsOf([], 1, []);
  expect(newsOf([eventOf('u', 'left 2')], 2).news).toHaveLength(1);
});
