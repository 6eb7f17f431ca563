import { expect } from 'vitest';

/** The answer to an object that its kind refuses. `…` in the message stands for anything. */
export function refusal(message: string): object {
  const parts = message.split('…').map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return { status: 422, body: { message: expect.stringMatching(new RegExp(parts.join('.*'), 's')) } };
}
