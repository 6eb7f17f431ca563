import { isPlainText } from './text-bounds.ts';

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
const NOT_IN_INTERFACE_NAMES = /[/:\s]/;
const MAX_CONTAINER_ID = 128;
const MAX_NETWORK_NAME = 253;
const MAX_INTERFACE_NAME_BYTES = 15;
const MAX_POD_NAME = 253;

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
