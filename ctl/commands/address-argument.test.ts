import { expect, test } from 'vitest';
import { parseAddressArgument } from './address-argument.ts';

test.each(['10.0.0.5', 'fd00::5', 'FD00:0::5'])('%s is an address', (text) => {
  expect(parseAddressArgument(text)).toBe(text);
});

test.each([
  { text: '10.0.0', message: '"10.0.0" is not an IP address' },
  { text: '10.0.0.5/24', message: '"10.0.0.5/24" is not an IP address; leave the prefix length away: 10.0.0.5' },
  { text: 'web-0', message: '"web-0" is not an IP address' },
  { text: '', message: '"" is not an IP address' },
])('"$text" is refused', ({ text, message }) => {
  expect(() => parseAddressArgument(text)).toThrow(message);
});
