import type { Identity } from './certificate.ts';

/** Gives the webhook's certificate, and each one that replaces it. */
export interface IdentitySource extends AsyncDisposable {
  current(): Identity;
  onChange(listener: (identity: Identity) => void): Disposable;
}
