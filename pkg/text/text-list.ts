const LONGEST_ITEM = 80;

/** A list as it may stand in a message: however long it is, the reader gets its beginning and how much is missing. */
export function listSome(items: readonly string[], most: number): string {
  const shown = items.slice(0, most).map(shorten).join(', ');
  return items.length > most ? `${shown} … and ${items.length - most} more` : shown;
}

function shorten(text: string): string {
  return text.length <= LONGEST_ITEM ? text : `${text.slice(0, LONGEST_ITEM - 1)}…`;
}
