const CONTROL = /\p{Cc}/gu;
const CONTROL_BUT_LINE_END = /[^\P{Cc}\n]/gu;
const CONTROL_LEFT_BY_JSON = /[\u{7f}-\u{9f}]/gu;

/** Names are chosen by tenants, so control characters in them must not reach the operator's terminal. */
export function toPrintable<T>(value: T): T {
  if (typeof value === 'string') return value.replace(CONTROL, '?') as T;
  if (Array.isArray(value)) return value.map(toPrintable) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPrintable(item)])) as T;
}

export function toPrintableLines(text: string): string {
  return text.replace(CONTROL_BUT_LINE_END, '?');
}

export function toPrintableJson(value: unknown): string {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(CONTROL_LEFT_BY_JSON, toEscape);
}
