import { quote } from '#pkg/ip/quote.ts';
import { asString, refuse } from './untrusted.ts';

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const LONGEST_LABEL = 63;
const LONGEST_SUBDOMAIN = 253;

export function isDnsLabel(text: string): boolean {
  return LABEL.test(text);
}

export function asDnsLabel(value: unknown, path: string): string {
  const text = asString(value, path, LONGEST_LABEL);
  if (!isDnsLabel(text)) {
    refuse(
      path,
      `${quote(text)} is not a DNS label: lower case letters, digits and inner hyphens, at most 63 characters`,
    );
  }
  return text;
}

/** DNS-1123 subdomain as Kubernetes has it: the dots divide, a part may be longer than a label. */
export function asDnsSubdomain(value: unknown, path: string): string {
  const text = asString(value, path, LONGEST_SUBDOMAIN);
  if (!text.split('.').every((part) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(part))) {
    refuse(path, `${quote(text)} is not a DNS name: lower case letters, digits, inner hyphens and dots`);
  }
  return text;
}
