const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
const NOT_IN_INTERFACE_NAMES = /[/:\s]/;
const MAX_CONTAINER_ID = 128;
const MAX_NETWORK_NAME = 253;
const MAX_INTERFACE_NAME_BYTES = 15;
const MAX_POD_NAME = 253;

/** Short enough, and nothing in it that could forge a line of a log or end a C string. */
export function isPlainText(text: string, maxLength: number): boolean {
  if (text.length > maxLength) return false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) return false;
  }
  return true;
}

/** At most `maxLength` code units, never half of a surrogate pair. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const kept = text.slice(0, maxLength - 1);
  return `${endsInHighSurrogate(kept) ? kept.slice(0, -1) : kept}…`;
}

/** Foreign text inside our own sentence: short, quoted, control characters escaped. */
export function quote(text: string): string {
  return JSON.stringify(clip(text, 80));
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

export function isContainerId(text: string): boolean {
  return text.length <= MAX_CONTAINER_ID && NAME.test(text);
}

export function isNetworkName(text: string): boolean {
  return text.length <= MAX_NETWORK_NAME && NAME.test(text);
}

/** Of a pod or its namespace; empty where the runtime knows none. A slash would make two names look like one. */
export function isPodName(text: string): boolean {
  return isPlainText(text, MAX_POD_NAME) && !text.includes('/') && !LONE_SURROGATE.test(text);
}

/** What Linux takes as the name of a link (IFNAMSIZ counts bytes and the closing NUL). */
export function isInterfaceName(text: string): boolean {
  return (
    text !== '' &&
    text !== '.' &&
    text !== '..' &&
    isPlainInterfaceText(text) &&
    !NOT_IN_INTERFACE_NAMES.test(text) &&
    !LONE_SURROGATE.test(text)
  );
}

function isPlainInterfaceText(text: string): boolean {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x20 || point === 0x7f) return false;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > MAX_INTERFACE_NAME_BYTES) return false;
  }
  return true;
}
