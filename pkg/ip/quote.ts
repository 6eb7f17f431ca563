const LIMIT = 80;

/** Text from outside as it may stand in a message or a log: at most 80 characters of it, in quotes, nothing invisible. */
export function quote(text: string): string {
  const shown = text.length <= LIMIT ? text : text.slice(0, LIMIT - 1);
  const quoted = JSON.stringify(shown).replace(/\p{C}/gu, toEscape);
  return shown === text ? quoted : `${quoted}…`;
}

function toEscape(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
