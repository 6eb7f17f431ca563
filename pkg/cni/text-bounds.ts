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
