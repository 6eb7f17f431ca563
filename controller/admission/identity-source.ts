import type { Identity } from './certificate.ts';

/** Where the webhook's certificate comes from, and keeps coming from. */
export interface IdentitySource extends AsyncDisposable {
  current(): Identity;
  onChange(listener: (identity: Identity) => void): Disposable;
}
